/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores that this process may use: the affinity mask says where it may run, cgroups how long. A
 * container often limits the second alone, and a thread a core of the machine is then far too many.
 */
#define _GNU_SOURCE 1
#include "base/cores.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "axle/device.h"
#include "base/text.h"
#include "base/threads.h"

static const char system_root[] = "/sys/fs/cgroup";

/* The kernel rejects masks shorter than its own, so grow until it fits. */
int axle__affinity_cores(void)
{
    for (int bits = 1024; bits <= 1 << 20; bits *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)bits);
        if (!set)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)bits);
        int failed = sched_getaffinity(0, size, set), count = failed ? 0 : CPU_COUNT_S(size, set);
        int code = errno;
        CPU_FREE(set);
        if (!failed && count > 0)
            return count;
        if (failed && code != EINVAL)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

/* Read the first line of a file; false where there is none. */
static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(line, size, file) != NULL;
    fclose(file);
    if (read)
        line[strcspn(line, "\n")] = '\0';
    return read;
}

/* quota / period rounded up; 0 for no limit. */
static int whole_cores(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long cores = (quota - 1) / period + 1;
    return cores < INT_MAX ? (int)cores : INT_MAX;
}

/* Version 2: one file, "quota period" or "max period". */
static int limit_v2(const char *folder)
{
    char path[PATH_MAX], line[128];
    long long quota, period;
    if (snprintf(path, sizeof(path), "%s/cpu.max", folder) >= (int)sizeof(path) ||
        !read_line(path, line, sizeof(line)))
        return 0;
    return sscanf(line, "%lld %lld", &quota, &period) == 2 ? whole_cores(quota, period) : 0;
}

/* Version 1: two files; a quota of -1 is no limit. */
static int limit_v1(const char *folder)
{
    static const char *const names[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    int64_t value[2];
    for (int k = 0; k < 2; k++) {
        char path[PATH_MAX], line[64];
        if (snprintf(path, sizeof(path), "%s/%s", folder, names[k]) >= (int)sizeof(path) ||
            !read_line(path, line, sizeof(line)) || !axle__parse_integer(line, &value[k]))
            return 0;
    }
    return whole_cores(value[0], value[1]);
}

static int tighter(int a, int b)
{
    return a == 0 ? b : b == 0 ? a : a < b ? a : b;
}

/* The tightest limit from `path` below `mount` up to the mount itself. Inside a container the path
 * may be the host's and not exist here; the mount then is the container's own group. */
static int limit_upward(const char *mount, const char *path, int (*limit)(const char *folder))
{
    char folder[PATH_MAX];
    int cores = 0;
    size_t root = strlen(mount);
    if (snprintf(folder, sizeof(folder), "%s%s", mount, path) >= (int)sizeof(folder))
        return limit(mount);
    for (size_t length = strlen(folder); length > root; length = strlen(folder)) {
        cores = tighter(cores, limit(folder));
        *strrchr(folder, '/') = '\0';
        if (strlen(folder) < root)
            break;
    }
    return tighter(cores, limit(mount));
}

/* Whether "cpu" is among the controllers, which commas separate. */
static bool has_cpu(const char *controllers)
{
    for (const char *name = controllers; *name;) {
        size_t length = strcspn(name, ",");
        if (length == 3 && strncmp(name, "cpu", 3) == 0)
            return true;
        name += length + (name[length] == ',');
    }
    return false;
}

/* One line "number:controllers:path"; version 2 has number 0 and no controllers. */
static int limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
        return 0;
    *controllers++ = '\0';
    *path++ = '\0';
    if (*controllers == '\0')
        return limit_upward(root, path, limit_v2);
    if (!has_cpu(controllers))
        return 0;
    char mount[PATH_MAX];
    int cores = 0;
    const char *const folders[] = {controllers, "cpu"};
    for (int k = 0; k < 2 && cores == 0; k++)
        if (snprintf(mount, sizeof(mount), "%s/%s", root, folders[k]) < (int)sizeof(mount))
            cores = limit_upward(mount, path, limit_v1);
    return cores;
}

int axle__cgroup_cores(const char *root, const char *membership)
{
    int cores = 0;
    while (*membership) {
        char line[PATH_MAX];
        size_t length = strcspn(membership, "\n");
        if (length < sizeof(line)) {
            memcpy(line, membership, length);
            line[length] = '\0';
            cores = tighter(cores, limit_of_line(root, line));
        }
        membership += length + (membership[length] == '\n');
    }
    return cores;
}

int axle__usable_cores(const char *root)
{
    char membership[8192];
    size_t length = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file) {
        length = fread(membership, 1, sizeof(membership) - 1, file);
        fclose(file);
    }
    membership[length] = '\0';
    return tighter(axle__affinity_cores(),
                   axle__cgroup_cores(root ? root : system_root, length ? membership : "0::/\n"));
}

int axle_usable_cores(void)
{
    return axle__usable_cores(NULL);
}
