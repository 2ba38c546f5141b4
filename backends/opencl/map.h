/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the elements of several operands of one shape lie: their dims, and each operand's stride a
 * dim. Kernels get a map as rows of numbers and turn an element's number into places; see
 * kernels/prelude.cl.
 */
#ifndef AXLE_OPENCL_MAP_H
#define AXLE_OPENCL_MAP_H

#include "opencl.h"

enum { OCL_MAP_DIMS = 10, OCL_MAP_OPERANDS = 7 };

typedef struct ocl_map {
    int rank, operands;
    int64_t dim[OCL_MAP_DIMS];
    int64_t stride[OCL_MAP_OPERANDS][OCL_MAP_DIMS];
} ocl_map;

/* Add a dim with one stride an operand; the first call says how many operands there are. */
void ocl_map_dim(ocl_map *map, int64_t dim, const int64_t *strides, int operands);

/* Dims [first, last) of the views, which have those dims alike; NULL is an operand of stride 0. */
void ocl_map_views(ocl_map *map, const axle_view *const *views, int operands, uint32_t first,
                   uint32_t last);

/* Drop dims of size 1 and merge neighbours where every operand allows it. */
void ocl_map_merge(ocl_map *map);

int64_t ocl_map_count(const ocl_map *map);

/* Whether the operand's elements lie one after the other in the map's order. */
int ocl_map_is_dense(const ocl_map *map, int operand);

/* Numbers that kernels get: rank, dims, strides of the operands in turn. */
enum { OCL_MAP_NUMBERS = 1 + OCL_MAP_DIMS * (1 + OCL_MAP_OPERANDS) };
int ocl_map_write(const ocl_map *map, int64_t *out);

static inline int64_t ocl_count(const axle_view *view)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= view->dim[k];
    return count;
}

#endif
