/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "base/cores.h"

#include <ftw.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/device.h"
#include "base/threads.h"
#include "unit/unit.h"

static char root[64];

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/axle-cores-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Write a file below the root, making the folders that it needs. */
static void write_file(const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void quota_is_rounded_up(void **state)
{
    (void)state;
    static const struct {
        const char *content;
        int cores;
    } cases[] = {{"150000 100000\n", 2},
                 {"100000 100000\n", 1},
                 {"1000 100000\n", 1},
                 {"200001 100000\n", 3},
                 {"max 100000\n", 0},
                 {"nonsense\n", 0},
                 {"", 0},
                 {"-5 100000\n", 0},
                 {"100000 0\n", 0}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        write_file("cpu.max", cases[k].content);
        assert_int_equal(axle__cgroup_cores(root, "0::/\n"), cases[k].cores);
    }
}

static void tightest_group_counts(void **state)
{
    (void)state;
    write_file("a/cpu.max", "300000 100000\n");
    write_file("a/b/cpu.max", "max 100000\n");
    write_file("a/b/c/cpu.max", "400000 100000\n");
    assert_int_equal(axle__cgroup_cores(root, "0::/a/b/c\n"), 3);
    assert_int_equal(axle__cgroup_cores(root, "0::/a/b/c/gone/deeper\n"), 3);
    assert_int_equal(axle__cgroup_cores(root, "0::/other\n"), 0);
    write_file("cpu.max", "100000 100000\n");
    assert_int_equal(axle__cgroup_cores(root, "0::/a/b/c\n"), 1);
}

static void first_version_is_read(void **state)
{
    (void)state;
    const char *membership = "12:pids:/x\n4:cpu,cpuacct:/docker/1\n0::/\n";
    write_file("cpu,cpuacct/docker/1/cpu.cfs_quota_us", "250000\n");
    write_file("cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n");
    write_file("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write_file("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_int_equal(axle__cgroup_cores(root, membership), 3);
    assert_int_equal(axle__cgroup_cores(root, "4:cpuset:/docker/1\n"), 0);
}

static void container_sees_its_own_group(void **state)
{
    (void)state;
    write_file("cpu/cpu.cfs_quota_us", "150000\n");
    write_file("cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(axle__cgroup_cores(root, "4:cpu,cpuacct:/host/path/unseen\n"), 2);
}

static void damaged_membership_is_no_limit(void **state)
{
    (void)state;
    write_file("cpu.max", "100000 100000\n");
    assert_int_equal(axle__cgroup_cores(root, ""), 0);
    assert_int_equal(axle__cgroup_cores(root, "\n\n:\n0:\n0::relative\n"), 0);
}

static void smaller_of_both_is_usable(void **state)
{
    (void)state;
    int cores = axle__affinity_cores();
    assert_true(cores >= 1);
    write_file("cpu.max", "max 100000\n");
    assert_int_equal(axle__usable_cores(root), cores);
    write_file("cpu.max", "50000 100000\n");
    assert_int_equal(axle__usable_cores(root), 1);
    write_file("cpu.max", "99900000 100000\n");
    assert_int_equal(axle__usable_cores(root), cores < 999 ? cores : 999);
    assert_true(axle_usable_cores() >= 1 && axle_usable_cores() <= cores);
}

static void affinity_counts(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    int k = 0;
    while (!CPU_ISSET(k, &all))
        k++;
    CPU_SET(k, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(axle__affinity_cores(), 1);
    assert_int_equal(axle__usable_cores(root), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

#define CORES(sentence, function)                                                                  \
    {                                                                                              \
        sentence, function, make_root, remove_root, NULL                                           \
    }

static const struct CMUnitTest tests[] = {
    CORES("a quota of part of a core counts as a whole one", quota_is_rounded_up),
    CORES("the tightest quota from the group upward counts", tightest_group_counts),
    CORES("quotas of cgroup version 1 are read", first_version_is_read),
    CORES("a container reads the mount where its path is the host's", container_sees_its_own_group),
    CORES("a damaged membership file is no limit", damaged_membership_is_no_limit),
    CORES("usable cores are the smaller of affinity and quota", smaller_of_both_is_usable),
    CORES("the affinity mask is counted", affinity_counts),
};
UNIT_MAIN(tests)
