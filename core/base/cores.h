/* SPDX-License-Identifier: Apache-2.0 */
/* Counting cores; axle__usable_cores() of base/threads.h is what others want. */
#ifndef AXLE_BASE_CORES_H
#define AXLE_BASE_CORES_H

/* Cores that the affinity mask of this thread allows, at least 1. */
int axle__affinity_cores(void);
/* Cores' worth of time that cgroups allow, rounded up; 0 where there is no limit. `root` is the
 * cgroup mount, `membership` the content of /proc/self/cgroup. */
int axle__cgroup_cores(const char *root, const char *membership);

#endif
