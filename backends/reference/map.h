/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking operands element by element. A ref_map holds the dims that all operands share and each
 * operand's steps in bytes; a ref_loop does a run of elements along the innermost dim. Dims merge
 * where the steps of every operand allow it, so the dense case is one run.
 */
#ifndef AXLE_REFERENCE_MAP_H
#define AXLE_REFERENCE_MAP_H

#include "reference.h"

enum { REF_MAP_OPERANDS = 6 };

typedef struct ref_map {
    uint32_t rank, operands;
    int64_t count;
    int64_t dim[AXLE_MAX_RANK];
    int64_t step[REF_MAP_OPERANDS][AXLE_MAX_RANK]; /* bytes; 0 repeats */
} ref_map;

/* A run of n elements. Element i of operand k lies at p[k] + i * step[k]. */
typedef struct ref_span {
    int64_t n;
    int64_t first; /* number of the run's first element, counted in row-major order */
    unsigned char *p[REF_MAP_OPERANDS];
    int64_t step[REF_MAP_OPERANDS];
    const void *attrs;
    const axle_op_args *args;
} ref_span;

typedef void (*ref_loop)(const ref_span *span);

/*
 * An elementwise operator chooses its loop when it is prepared; NULL declines. In the loop's spans
 * the outputs come first, then the inputs; absent operands keep their places.
 */
typedef struct ref_elementwise {
    uint32_t op;
    ref_loop (*choose)(const axle_op_desc *desc);
} ref_elementwise;

/* Elements that are worth a piece of their own on another thread. */
enum { REF_GRAIN = 8192 };

/* Begin with the dims of a view and no operand. */
void ref_map_init(ref_map *map, const axle_view *shape);
/* Add an operand, NULL for an absent one. Its dims are the map's. */
void ref_map_add(ref_map *map, const axle_view *view);
/* Merge dims; the order of elements stays. Nothing can be added afterwards. */
void ref_map_merge(ref_map *map);
/* Bytes from an operand's first element to element `index`, counted in row-major order. */
int64_t ref_map_at(const ref_map *map, uint32_t operand, int64_t index);
/* Run the loop over elements [begin, end), from start's pointers on. */
void ref_map_walk(const ref_map *map, ref_loop loop, const ref_span *start, int64_t begin,
                  int64_t end);
/* Run the loop over all elements, from start's pointers on. grain <= 0: on the calling thread. */
void ref_map_run(const ref_map *map, const axle_host *host, int64_t grain, ref_loop loop,
                 const ref_span *start);

#endif
