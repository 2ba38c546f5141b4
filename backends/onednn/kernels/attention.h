/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention head by head, in tiles of ATTENTION_ROWS queries by ATTENTION_COLS keys. No more than a
 * tile or two of the scores exist at a time; sums over tiles are rescaled as larger scores turn up
 * (Dao et al., "FlashAttention", 2022; Rabe and Staats, 2021).
 *
 * Tiles are stored transposed, (keys, queries): a query is a lane, so that the softmax needs
 * nothing across lanes, and the keys and values serve the products as they lie.
 */
#ifndef AXLE_ONEDNN_ATTENTION_H
#define AXLE_ONEDNN_ATTENTION_H

#include "kernel.h"

enum { ATTENTION_ROWS = 64, ATTENTION_COLS = 128 };

/* One operand (B, H, X, Y): strides in elements. */
typedef struct attention_operand {
    int64_t stride[4], size;
    int direct; /* f32 */
    load_loop load;
    store_loop store;
} attention_operand;

typedef struct attention_shape {
    const cpu_loops *loops;
    int causal;
    float scale;
    uint32_t threshold; /* dropout: elements whose 24 random bits are below go */
    float factor;       /* and the others grow by this */
    int64_t batch, heads, queries, keys, depth, width; /* B, H, L, S, D, E */
    int64_t depth_padded, width_padded;                /* whole vectors */
    attention_operand q, k, v, mask;
    int has_mask, boolean_mask;
    int mask_by_key; /* the mask does not depend on the query */
} attention_shape;

/* Rows of one head as f32, `ld` apart. Where something may be removed, `finite` says whether all
 * elements are numbers; else it is 1. */
typedef struct attention_rows {
    const float *data;
    int64_t ld;
    int finite;
} attention_rows;

attention_operand cpu_attention_operand(const cpu_loops *loops, const axle_view *view);

/* Shape from q, k, v and mask, which may be NULL. */
void cpu_attention_shape(attention_shape *shape, const cpu_loops *loops,
                         const axle_attention_attrs *attrs, const axle_view *q, const axle_view *k,
                         const axle_view *v, const axle_view *mask);
int cpu_attention_accepts(const axle_view *q, const axle_view *k, const axle_view *v,
                          const axle_view *mask);

/* Head number `head` of an operand. */
static inline const unsigned char *cpu_attention_head(const attention_operand *operand,
                                                      const void *data, int64_t heads, int64_t head)
{
    return (const unsigned char *)data +
           (head / heads * operand->stride[0] + head % heads * operand->stride[1]) * operand->size;
}

/* Rows [first, first + n) of a head, `columns` wide, as they lie if that will do, else in `stage`
 * (n, padded) with zeros behind each row. */
attention_rows cpu_attention_bring(const attention_shape *shape, const attention_operand *operand,
                                   const unsigned char *head, int64_t first, int64_t n,
                                   int64_t columns, int64_t padded, float *stage);

/* Write rows (n, ld) to an operand of any type. */
void cpu_attention_store(const attention_operand *operand, unsigned char *head, int64_t first,
                         int64_t n, int64_t columns, const float *rows, int64_t ld);

/* A tile of one head: queries [row, row + rows), keys [col, col + cols). */
typedef struct attention_tile {
    int64_t head, row, rows, col, cols;
    int64_t ld; /* rows, rounded up to whole vectors */
} attention_tile;

/* Whether the tile has anything that order keeps. */
static inline int cpu_attention_is_kept(const attention_shape *shape, const attention_tile *tile)
{
    return !shape->causal || tile->col < tile->row + tile->rows;
}

/* Scores become -inf where the mask or order removes them; a float mask is added. */
void cpu_attention_mask(const attention_shape *shape, const attention_tile *tile,
                        const unsigned char *mask_head, float *scores);

/* Dropout of a tile; `words` has room for ATTENTION_COLS. */
void cpu_attention_drop(const attention_shape *shape, const attention_tile *tile, uint64_t seed,
                        uint64_t offset, float *values);

#endif
