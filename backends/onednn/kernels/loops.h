/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops, as tables of functions. Each instruction set has one set of tables; a prepared
 * operator takes the functions it needs and never looks again.
 *
 * Element types compute in one of three domains: floats of 32 and 16 bits in f32, f64 in f64,
 * integers and booleans in i64, whose low bits are right for every narrower integer. Loops see
 * dense arrays of the domain type; elem.c, reduce.c and rows.c bring other layouts and types there
 * in blocks that stay in the first-level cache.
 */
#ifndef AXLE_ONEDNN_LOOPS_H
#define AXLE_ONEDNN_LOOPS_H

#include "axle/backend_ops.h"

enum { DOMAIN_F32, DOMAIN_F64, DOMAIN_I64, DOMAIN_COUNT };
enum { DTYPE_LIMIT = 11 };

/* ------------------------------------------------------------------ elementwise */

/* Attributes of an elementwise operator, in every form that a loop may want. */
typedef struct elem_params {
    double alpha, beta;
    int64_t ialpha, ibeta;
} elem_params;

/* Dense operands; `out` may be one of `in`. */
typedef void (*elem_loop)(const void *const *in, void *out, int64_t n, const elem_params *params);

/* (rows, cols), rows `ld` apart, to (cols, rows). */
typedef void (*transpose_loop)(const void *x, int64_t ld, int64_t rows, int64_t cols, void *y,
                               int64_t y_ld);

/* From elements `stride` apart to dense ones, and back. */
typedef void (*load_loop)(const void *x, int64_t stride, void *y, int64_t n);
typedef void (*store_loop)(const void *x, void *y, int64_t stride, int64_t n);

struct convert_loops {
    load_loop load[DTYPE_LIMIT];   /* a type to its domain */
    store_loop store[DTYPE_LIMIT]; /* a domain to its type */
    load_loop load_raw[4];         /* by log2 of the size in bytes, unchanged */
    store_loop store_raw[4];
    elem_loop cast[DTYPE_LIMIT][DTYPE_LIMIT]; /* [from][to] */
    elem_loop copy[4];                        /* by log2 of the size */
    transpose_loop transpose[4];              /* the same */
    elem_loop where[4];                       /* the same: condition, a, b */
};

struct unary_loops {
    elem_loop forward[DOMAIN_COUNT][AXLE_UNARY_LIMIT];
};

struct backward_loops {
    elem_loop unary[2][AXLE_UNARY_LIMIT]; /* dy, saved */
};

struct binary_loops {
    elem_loop forward[DOMAIN_COUNT][AXLE_BINARY_LIMIT];
};

/* ------------------------------------------------------------------ reductions */

/* Fold n dense elements into *acc, or `rows` rows of `cols` elements, `ld` apart, into acc[cols].
 * acc is f64, or i64 in the domain of integers. `mean` (one, or cols) is used by moments alone. */
typedef void (*reduce_row)(const void *x, int64_t n, const void *mean, void *acc);
typedef void (*reduce_cols)(const void *x, int64_t ld, int64_t rows, int64_t cols, const void *mean,
                            void *acc);
/* Of n dense elements, the first extreme one; `best` is updated if it holds a lesser one. */
typedef void (*arg_row)(const void *x, int64_t n, int64_t first, void *best, int64_t *index);
typedef void (*arg_cols)(const void *x, int64_t n, int64_t number, void *best, int64_t *index);

/* REDUCE_SPREAD is the sum of squares about the mean. */
enum { REDUCE_SPREAD = AXLE_REDUCE_LIMIT, REDUCE_LOOPS };

struct reduce_loops {
    reduce_row row[DOMAIN_COUNT][REDUCE_LOOPS];
    reduce_cols cols[DOMAIN_COUNT][REDUCE_LOOPS];
    arg_row arg_row[DOMAIN_COUNT][2]; /* max, min */
    arg_cols arg_cols[DOMAIN_COUNT][2];
    /* Sums of dy and of dy * (x - mean): acc[0], acc[1], or acc[cols] and acc[cols..2*cols). */
    void (*pair_row)(const float *x, const float *dy, int64_t n, double mean, double *acc);
    void (*pair_cols)(const float *x, int64_t ldx, const float *dy, int64_t ldy, int64_t rows,
                      int64_t cols, const double *mean, double *acc);
};

/* ------------------------------------------------------------------ rows */

struct softmax_loops {
    /* In place on v: scale, add `mask` (or keep where `keep` is not 0), keep the first `limit`. */
    void (*prepare)(const float *x, const float *mask, const uint8_t *keep, float scale,
                    int64_t limit, float *v, int64_t n);
    float (*max)(const float *x, int64_t n);
    double (*sum_exp)(const float *x, float max, int64_t n);
    double (*exp)(const float *x, float max, float *y, int64_t n); /* returns the sum */
    void (*scale)(const float *x, float factor, float *y, int64_t n);
    void (*log)(const float *x, float max, float log_sum, float *y, int64_t n);
    double (*dot)(const float *x, const float *y, int64_t n);
    void (*backward)(const float *dy, const float *y, float dot, float scale, float *dx, int64_t n);
    void (*log_backward)(const float *dy, const float *y, float sum, float scale, float *dx,
                         int64_t n);
    double (*sum_kept)(const float *dy, const float *y, int64_t n);
    /* dx = factor * dx - smooth * (weight or 1) */
    void (*cross_backward)(float factor, float smooth, const float *weight, float *dx, int64_t n);
};

struct norm_loops {
    void (*moments)(const float *x, int64_t n, double *mean, double *spread);
    double (*sum_squares)(const float *x, int64_t n);
    void (*apply)(const float *x, double mean, float rstd, const float *gamma, const float *beta,
                  float *y, int64_t n);
    /* Sums over the row of dy*gamma and of dy*gamma*(x - mean)*rstd. */
    void (*backward_sums)(const float *dy, const float *x, const float *gamma, float mean,
                          float rstd, int64_t n, double *sums);
    void (*backward_dx)(const float *dy, const float *x, const float *gamma, float mean, float rstd,
                        float s1, float s2, float *dx, int64_t n);
    /* dgamma += dy*(x - mean)*rstd, dbeta += dy */
    void (*backward_params)(const float *dy, const float *x, float mean, float rstd, float *dgamma,
                            float *dbeta, int64_t n);
    void (*flush)(float *from, double *to, int64_t n); /* to += from, from = 0 */
    elem_loop channel;          /* (x - mean) * factor + shift: x, mean, factor, shift */
    elem_loop channel_backward; /* a*dy + b*(x - mean) + c: dy, x, mean, a, b, c */
};

/* ------------------------------------------------------------------ random numbers */

struct random_loops {
    void (*words)(uint64_t seed, uint64_t first, int64_t n, uint32_t *out);
    void (*uniform)(const uint32_t *words, float low, float high, float *y, int64_t n);
    void (*uniform64)(const uint32_t *words, double low, double high, double *y, int64_t n);
    /* x / (1 - p) where word >> 8 >= threshold, else 0. */
    void (*dropout)(const uint32_t *words, uint32_t threshold, float keep, const float *x, float *y,
                    int64_t n);
    void (*dropout64)(const uint32_t *words, uint32_t threshold, double keep, const double *x,
                      double *y, int64_t n);
};

/* ------------------------------------------------------------------ optimizers */

enum { OPTIMIZER_F32, OPTIMIZER_F64, OPTIMIZER_TYPES };

/* Storage of one step: grad, param and up to three moments, NULL where absent. */
typedef struct optimizer_arrays {
    const void *grad;
    void *param, *first, *second, *third;
} optimizer_arrays;

typedef void (*optimizer_loop)(const optimizer_arrays *arrays, int64_t begin, int64_t end,
                               const void *attrs, const void *scalars);

struct optimizer_loops {
    optimizer_loop sgd[OPTIMIZER_TYPES], adam[OPTIMIZER_TYPES], rmsprop[OPTIMIZER_TYPES];
};

/* ------------------------------------------------------------------ products and attention */

/* C (m, n) = or += A (m, k) . B (k, n). Element (i, p) of A is at a[i * a_row + p * a_col]; rows of
 * B and C are dense and n is a multiple of GEMM_WIDTH. With skip_zeros, products with a zero of A
 * are left out whatever B holds. */
enum { GEMM_WIDTH = 16 };
typedef struct gemm_call {
    int64_t m, n, k;
    const float *a;
    int64_t a_row, a_col;
    const float *b;
    int64_t ldb;
    float *c;
    int64_t ldc;
    int accumulate, skip_zeros;
} gemm_call;

struct gemm_loops {
    void (*run)(const gemm_call *call);
};

/* Tiles of scores are stored transposed: tile[c * ld + r] is column c of score row r, so that rows
 * are lanes. */
struct attention_loops {
    /* max[r] becomes the largest of itself and row r. */
    void (*max)(const float *tile, int64_t ld, int64_t cols, int64_t rows, float *max);
    /* tile = exp(tile - shift[r]), 0 where the shift is -inf; sum[r] is the sum over the columns.
     */
    void (*exp)(float *tile, int64_t ld, int64_t cols, int64_t rows, const float *shift,
                float *sum);
    /* ds = scale * p * (dp - delta[r]), 0 where p is 0 */
    void (*backward)(const float *p, const float *dp, int64_t ld, int64_t cols, int64_t rows,
                     const float *delta, float scale, float *ds);
    /* One score row: multiply by `factor` where word >> 8 >= threshold, else by 0. */
    void (*drop)(float *row, int64_t ld, int64_t cols, const uint32_t *words, uint32_t threshold,
                 float factor);
    /* Set to -inf what a row of the mask removes, add the rest of a float mask. */
    void (*mask_column)(float *column, int64_t rows, const float *mask);
    int (*finite)(const float *x, int64_t ld, int64_t rows, int64_t cols);
    /* to (n, ld) = factor * from (m, n) transposed, 0 in columns m to ld. */
    void (*transpose)(const float *from, int64_t from_ld, int64_t m, int64_t n, float factor,
                      float *to, int64_t ld);
};

/* ------------------------------------------------------------------ pooling and indices */

/*
 * A run of output pixels whose windows have equal shapes, channels last. Steps count elements of x,
 * or places in the input plane. What lies behind the channels of a pixel may be read as long as it
 * is within x_room elements of x, and written as long as it is within y_room of y: the pixels are
 * worked on in order, so the next one overwrites it.
 */
typedef struct pool_window {
    const float *x;       /* first tap of the first window */
    int64_t taps[3];      /* of a window, by dim */
    int64_t tap_step[3];  /* between neighbouring taps */
    int64_t tap_place[3]; /* the same in places */
    int64_t pixels, pixel_step, pixel_place;
    int64_t place; /* of the first tap of the first window */
    int64_t channels, x_room;
    float *y;
    int32_t *index; /* like y; may be absent */
    int64_t y_step, y_room;
    float divisor; /* means */
} pool_window;

/* The other way round: every tap of every window gets dy or 0. Windows do not overlap. */
typedef struct unpool_window {
    const float *dy;
    const int32_t *index;
    int64_t dy_step, dy_room;
    float *dx; /* first tap of the first window */
    int64_t taps[3], tap_step[3], tap_place[3];
    int64_t pixels, pixel_step, pixel_place, place;
    int64_t channels, row_room; /* elements from a row's first tap to the end of the row */
} unpool_window;

struct pool_loops {
    void (*max_pixels)(const pool_window *window);
    void (*mean_pixels)(const pool_window *window);
    void (*unpool_pixels)(const unpool_window *window);
    /* One tap of a row of windows, `step` elements of x apart: better ones replace what is held;
     * index is negative where nothing is. */
    void (*max_tap)(const float *x, int64_t step, int32_t place, int32_t place_step, float *best,
                    int32_t *index, int64_t n);
    void (*sum_tap)(const float *x, int64_t step, double *sum, int64_t n);
    void (*add_scaled)(const float *x, float factor, float *y, int64_t n); /* y += x * factor */
};

/* y[i * y_step] += x[i * x_step], in the order of i, by type; NULL for halves and booleans. */
struct index_loops {
    void (*add[DTYPE_LIMIT])(const void *x, int64_t x_step, void *y, int64_t y_step, int64_t n);
};

/* ------------------------------------------------------------------ narrow convolutions */

/* Numbers behind a frame that may be read, and the most channels that a vector may hold. */
enum { CONV_OVERREAD = 16, CONV_WIDEST = 8 };

/*
 * One row of output pixels. Tap t of pixel i meets frame[offset[t] + i], whatever the stride. The
 * weights are packed, the bias has zeros up to the next multiple of CONV_WIDEST.
 */
typedef struct conv_row {
    const double *frame, *weights, *bias;
    const int64_t *offset;
    int64_t taps, pixels, channels; /* channels: of the output */
    float *y;
    int64_t y_pixel, y_channel; /* strides */
    int relu;
} conv_row;

struct conv_loops {
    void (*run)(const conv_row *row);
    /* Tap t of output channel o is at w[o * output_step + tap[t]]; `packed` has room for a
     * multiple of CONV_WIDEST of output channels. */
    void (*pack)(const float *w, int64_t outputs, int64_t output_step, int64_t taps,
                 const int64_t *tap, double *packed);
    void (*widen)(const float *x, int64_t step, double *y, int64_t n);
};

/* ------------------------------------------------------------------ the table */

#define LOOP_GROUPS(X)                                                                             \
    X(convert)                                                                                     \
    X(unary)                                                                                       \
    X(backward)                                                                                    \
    X(binary)                                                                                      \
    X(reduce)                                                                                      \
    X(softmax)                                                                                     \
    X(norm)                                                                                        \
    X(random)                                                                                      \
    X(optimizer)                                                                                   \
    X(gemm)                                                                                        \
    X(attention)                                                                                   \
    X(conv)                                                                                        \
    X(pool)                                                                                        \
    X(index)

typedef struct cpu_loops {
    const char *isa;
#define LOOP_FIELD(group) const struct group##_loops *group;
    LOOP_GROUPS(LOOP_FIELD)
#undef LOOP_FIELD
} cpu_loops;

#define LOOP_DECLARE(isa, group) extern const struct group##_loops cpu_##group##_loops_##isa;
#define LOOP_DECLARE_ALL(group)                                                                    \
    LOOP_DECLARE(generic, group) LOOP_DECLARE(avx2, group) LOOP_DECLARE(avx512, group)
LOOP_GROUPS(LOOP_DECLARE_ALL)
#undef LOOP_DECLARE_ALL
#undef LOOP_DECLARE

extern const cpu_loops cpu_loops_generic, cpu_loops_avx2, cpu_loops_avx512;

#endif
