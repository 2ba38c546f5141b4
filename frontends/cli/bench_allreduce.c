/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of vectors over all processes, beside a plain Gloo program's ring. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_group.h"

/* 64 KiB, 1 MiB, and a bucket of gradients, in floats. */
static const int64_t usual_counts[] = {16384, 262144, 6553600};
enum { USUAL = sizeof(usual_counts) / sizeof(usual_counts[0]), MANY_BELOW = 100000, MANY = 20 };

static const char limit_name[] = "a ring of plain Gloo";

/* ------------------------------------------------------------------ plain Gloo */

static struct {
    int (*create)(int rank, int size, const char *folder, const char *address, float *data,
                  int64_t count, void **out, char *message, size_t message_size);
    int (*run)(void *workload);
    void (*release)(void *workload);
} module;

static int load_module(void)
{
    void *library = bench_module_open("gloo");
    if (library && bench_module_find(library, "axle_bench_ring_create", &module.create) &&
        bench_module_find(library, "axle_bench_run", &module.run) &&
        bench_module_find(library, "axle_bench_release", &module.release))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_NOT_FOUND, "--direct: Axle was built without Gloo");
}

/* A new folder of rank 0's for the processes to meet in; for free(). */
static int make_folder(axle_group *group, char **out)
{
    const char *parent = getenv("TMPDIR");
    char *own = NULL;
    void *bytes;
    size_t size = 0;
    int is_first = axle_group_rank(group) == 0;
    if (is_first &&
        (asprintf(&own, "%s/axle-bench-XXXXXX", parent ? parent : "/tmp") < 0 || !mkdtemp(own)))
        return axle_error_set(AXLE_ERR_IO, "%s: %s", own ? own : "a folder", strerror(errno));
    bytes = own;
    size = own ? strlen(own) + 1 : 0;
    int code = axle_broadcast_bytes(group, &bytes, &size, 0);
    if (code) {
        free(own);
        return code;
    }
    *out = is_first ? own : strdup(bytes);
    if (!is_first)
        axle_free(bytes);
    return *out ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

static void remove_folder(const char *folder)
{
    char path[4096];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (open)
        closedir(open);
    rmdir(folder);
}

static int open_ring(axle_group *group, float *data, int64_t count, void **out)
{
    char *folder = NULL, message[256] = "";
    int one_host = axle_group_local_size(group) == axle_group_size(group);
    int code = module.create ? AXLE_OK : load_module();
    if (!code)
        code = make_folder(group, &folder);
    if (code)
        return code;
    if (module.create(axle_group_rank(group), axle_group_size(group), folder,
                      one_host ? "127.0.0.1" : "", data, count, out, message, sizeof(message)))
        code = axle_error_set(AXLE_ERR_IO, "--direct: %s", message);
    if (!code)
        code = axle_barrier(group);
    if (axle_group_rank(group) == 0)
        remove_folder(folder);
    free(folder);
    return code;
}

/* ------------------------------------------------------------------ measuring */

typedef struct summer {
    axle_group *group;
    axle_tensor *tensor;
} summer;

static int sum(void *user)
{
    const summer *s = user;
    return axle_all_reduce(s->group, s->tensor, AXLE_REDUCE_SUM);
}

static int report(const bench_settings *settings, axle_group *group, int64_t count,
                  const bench_time *time, int works)
{
    char about[64];
    double bytes = 4.0 * (double)count, taken = time[0].wall, rate = 1e-9 * bytes / taken;
    snprintf(about, sizeof(about), "%lld f32, %d processes", (long long)count,
             axle_group_size(group));
    if (axle_group_rank(group) != 0)
        return AXLE_OK;
    if (settings->json) {
        json_t *more = json_pack("{s:f, s:f, s:f, s:f}", "median_ms", taken * BENCH_MS, "median_us",
                                 taken * BENCH_US, "bytes", bytes, "gb_per_second", rate);
        if (works > 1)
            json_object_update_new(more, json_pack("{s:s, s:f, s:f}", "limit", limit_name,
                                                   "limit_ms", time[1].wall * BENCH_MS,
                                                   "fraction_of_limit", time[1].wall / taken));
        return bench_group_json(settings, group, "allreduce", about, axle_device_host(), more);
    }
    printf("%-10s %-30s %10.3f ms   %.2f GB/s", "allreduce", about, taken * BENCH_MS, rate);
    if (works > 1)
        printf("   %s: %.3f ms, %.2f of it", limit_name, time[1].wall * BENCH_MS,
               time[1].wall / taken);
    putchar('\n');
    fflush(stdout);
    return AXLE_OK;
}

/* Zeros stay zeros, however often they are summed up. */
static int measure(const bench_settings *settings, axle_group *group, int64_t count)
{
    bench_time time[2];
    void *ring = NULL;
    float *data = settings->direct ? calloc((size_t)count, sizeof(*data)) : NULL;
    int works = settings->direct ? 2 : 1;
    summer s = {group, axle_zeros(AXLE_DTYPE_F32, 1, &count)};
    int code = s.tensor ? AXLE_OK : axle_error_code();
    if (!code && settings->direct)
        code = data ? open_ring(group, data, count, &ring)
                    : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    const bench_work work[2] = {{sum, &s, NULL}, {module.run, ring, NULL}};
    if (!code)
        code = bench_group_measure(group, work, works, settings->repeat,
                                   count < MANY_BELOW ? MANY : 1, time);
    if (!code)
        code = report(settings, group, count, time, works);
    if (ring)
        module.release(ring);
    free(data);
    return code;
}

static int measure_in_scope(const bench_settings *settings, axle_group *group, int64_t count)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = axle_device_push(axle_device_host());
    if (!code) {
        code = measure(settings, group, count);
        axle_device_pop();
    }
    axle_scope_pop();
    return code;
}

int bench_allreduce(const bench_settings *settings)
{
    axle_group *group;
    int64_t count;
    int code = bench_group_begin("allreduce", &group);
    if (code)
        return code;
    for (int k = 0; k < USUAL && !code && !settings->shapes.count; k++)
        code = measure_in_scope(settings, group, usual_counts[k]);
    for (int k = 0; k < settings->shapes.count && !code; k++) {
        code = bench_parse_shape(settings->shapes.item[k], 1, 1, "ELEMENTS", &count);
        code = code < 0 ? code : measure_in_scope(settings, group, count);
    }
    int left = axle_group_leave(group);
    return code ? code : left;
}
