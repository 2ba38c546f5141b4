/* SPDX-License-Identifier: Apache-2.0 */
#include "map.h"

#include <string.h>

void ocl_map_dim(ocl_map *map, int64_t dim, const int64_t *strides, int operands)
{
    if (map->rank == OCL_MAP_DIMS)
        return;
    map->operands = operands;
    map->dim[map->rank] = dim;
    for (int k = 0; k < operands; k++)
        map->stride[k][map->rank] = strides[k];
    map->rank++;
}

void ocl_map_views(ocl_map *map, const axle_view *const *views, int operands, uint32_t first,
                   uint32_t last)
{
    map->operands = operands;
    for (uint32_t d = first; d < last; d++) {
        int64_t dim = 1, strides[OCL_MAP_OPERANDS] = {0};
        for (int k = 0; k < operands; k++)
            if (views[k]) {
                dim = views[k]->dim[d];
                strides[k] = views[k]->stride[d];
            }
        ocl_map_dim(map, dim, strides, operands);
    }
}

/* Whether dim `d` continues the dim before it for every operand. */
static int continues(const ocl_map *map, int before, int d)
{
    for (int k = 0; k < map->operands; k++)
        if (map->stride[k][before] != map->stride[k][d] * map->dim[d])
            return 0;
    return 1;
}

static void set_dim(ocl_map *map, int to, int from)
{
    map->dim[to] = map->dim[from];
    for (int k = 0; k < map->operands; k++)
        map->stride[k][to] = map->stride[k][from];
}

void ocl_map_merge(ocl_map *map)
{
    int kept = 0;
    for (int d = 0; d < map->rank; d++) {
        if (map->dim[d] == 1)
            continue;
        if (kept > 0 && continues(map, kept - 1, d)) {
            const int64_t before = map->dim[kept - 1];
            set_dim(map, kept - 1, d);
            map->dim[kept - 1] *= before;
        } else {
            set_dim(map, kept++, d);
        }
    }
    map->rank = kept;
}

int64_t ocl_map_count(const ocl_map *map)
{
    int64_t count = 1;
    for (int d = 0; d < map->rank; d++)
        count *= map->dim[d];
    return count;
}

int ocl_map_is_dense(const ocl_map *map, int operand)
{
    int64_t stride = 1;
    for (int d = map->rank; d-- > 0;) {
        if (map->dim[d] != 1 && map->stride[operand][d] != stride)
            return 0;
        stride *= map->dim[d];
    }
    return 1;
}

int ocl_map_write(const ocl_map *map, int64_t *out)
{
    int64_t *to = out;
    *to++ = map->rank;
    memcpy(to, map->dim, sizeof(map->dim));
    to += OCL_MAP_DIMS;
    for (int k = 0; k < map->operands; k++, to += OCL_MAP_DIMS)
        memcpy(to, map->stride[k], sizeof(map->stride[k]));
    return (int)(to - out);
}
