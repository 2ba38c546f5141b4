/* SPDX-License-Identifier: Apache-2.0 */
/* Walking strided operands, see map.h. */
#include "map.h"

#include <string.h>

void ref_map_init(ref_map *map, const axle_view *shape)
{
    memset(map, 0, sizeof(*map));
    map->rank = shape->rank;
    map->count = ref_count(shape);
    memcpy(map->dim, shape->dim, shape->rank * sizeof(map->dim[0]));
}

void ref_map_add(ref_map *map, const axle_view *view)
{
    const uint32_t k = map->operands++;
    if (!view)
        return;
    const int64_t size = ref_dtype_size(view->dtype);
    for (uint32_t d = 0; d < map->rank; d++)
        map->step[k][d] = view->stride[d] * size;
}

/* Whether dim `inner` continues where a step of dim `outer` ends, for every operand. */
static int mergeable(const ref_map *map, uint32_t outer, uint32_t inner)
{
    for (uint32_t k = 0; k < map->operands; k++)
        if (map->step[k][outer] != map->step[k][inner] * map->dim[inner])
            return 0;
    return 1;
}

static void move_dim(ref_map *map, uint32_t to, uint32_t from)
{
    map->dim[to] = map->dim[from];
    for (uint32_t k = 0; k < map->operands; k++)
        map->step[k][to] = map->step[k][from];
}

void ref_map_merge(ref_map *map)
{
    uint32_t rank = 0;
    for (uint32_t d = 0; d < map->rank; d++) {
        if (map->dim[d] == 1)
            continue;
        if (rank > 0 && mergeable(map, rank - 1, d)) {
            const int64_t outer = map->dim[rank - 1];
            move_dim(map, rank - 1, d);
            map->dim[rank - 1] *= outer;
        } else {
            move_dim(map, rank++, d);
        }
    }
    if (rank == 0) { /* A single element; any step will do. */
        map->dim[0] = 1;
        for (uint32_t k = 0; k < map->operands; k++)
            map->step[k][0] = 0;
        rank = 1;
    }
    map->rank = rank;
}

int64_t ref_map_at(const ref_map *map, uint32_t operand, int64_t index)
{
    int64_t at = 0;
    for (uint32_t d = map->rank; d-- > 0;) {
        at += index % map->dim[d] * map->step[operand][d];
        index /= map->dim[d];
    }
    return at;
}

/* Where a walk is: the start of the current row (a run along the innermost dim) and its place. */
typedef struct position {
    unsigned char *row[REF_MAP_OPERANDS];
    int64_t at[AXLE_MAX_RANK];
} position;

static void move(const ref_map *map, position *here, uint32_t dim, int64_t by)
{
    for (uint32_t k = 0; k < map->operands; k++)
        if (here->row[k])
            here->row[k] += by * map->step[k][dim];
}

/* Go to the row of element `index`; return the element's place in the row. */
static int64_t seek(const ref_map *map, const ref_span *start, int64_t index, position *here)
{
    const int64_t length = map->dim[map->rank - 1];
    const int64_t column = index % length;
    index /= length;
    memcpy(here->row, start->p, sizeof(here->row));
    for (uint32_t d = map->rank - 1; d-- > 0;) {
        here->at[d] = index % map->dim[d];
        index /= map->dim[d];
        move(map, here, d, here->at[d]);
    }
    return column;
}

static void next_row(const ref_map *map, position *here)
{
    for (uint32_t d = map->rank - 1; d-- > 0;) {
        if (++here->at[d] < map->dim[d]) {
            move(map, here, d, 1);
            return;
        }
        here->at[d] = 0;
        move(map, here, d, 1 - map->dim[d]);
    }
}

void ref_map_walk(const ref_map *map, ref_loop loop, const ref_span *start, int64_t begin,
                  int64_t end)
{
    const uint32_t inner = map->rank - 1;
    ref_span span = *start;
    position here;
    for (uint32_t k = 0; k < map->operands; k++)
        span.step[k] = map->step[k][inner];
    for (int64_t column = seek(map, start, begin, &here); begin < end; column = 0) {
        const int64_t rest = map->dim[inner] - column;
        span.n = rest < end - begin ? rest : end - begin;
        span.first = begin;
        for (uint32_t k = 0; k < map->operands; k++)
            span.p[k] = here.row[k] ? here.row[k] + column * span.step[k] : NULL;
        loop(&span);
        begin += span.n;
        next_row(map, &here);
    }
}

typedef struct map_job {
    const ref_map *map;
    ref_loop loop;
    const ref_span *start;
} map_job;

static void map_body(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const map_job *job = arg;
    (void)worker;
    ref_map_walk(job->map, job->loop, job->start, begin, end);
}

void ref_map_run(const ref_map *map, const axle_host *host, int64_t grain, ref_loop loop,
                 const ref_span *start)
{
    if (map->count == 0)
        return;
    if (grain > 0 && map->count >= 2 * grain && AXLE_HAS(host, axle_host, parallel_for)) {
        map_job job = {map, loop, start};
        host->parallel_for(host->ctx, map->count, grain, map_body, &job);
        return;
    }
    ref_map_walk(map, loop, start, 0, map->count);
}
