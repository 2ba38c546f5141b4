/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of attention scores. */
#include "../isa.h"
#if LOOP_ENABLED
#include "../loops.h"
#include "../rowsum.h"
#include "../vecmath.h"

static void tile_max(const float *tile, int64_t ld, int64_t cols, int64_t rows, float *max)
{
    for (int64_t c = 0; c < cols; c++) {
        const float *s = tile + c * ld;
        SIMD for (int64_t r = 0; r < rows; r++) max[r] = s[r] > max[r] ? s[r] : max[r];
    }
}

/* What is removed is -inf and gives 0 whatever is subtracted, unless that is -inf, too. */
static void tile_exp(float *tile, int64_t ld, int64_t cols, int64_t rows, const float *shift,
                     float *sum)
{
    SIMD for (int64_t r = 0; r < rows; r++) sum[r] = 0.0f;
    for (int64_t c = 0; c < cols; c++) {
        float *s = tile + c * ld;
        SIMD for (int64_t r = 0; r < rows; r++)
        {
            const float e = s[r] == -INFINITY ? 0.0f : vm_exp(s[r] - shift[r]);
            s[r] = e;
            sum[r] += e;
        }
    }
}

static void tile_backward(const float *p, const float *dp, int64_t ld, int64_t cols, int64_t rows,
                          const float *delta, float scale, float *ds)
{
    for (int64_t c = 0; c < cols; c++) {
        const float *pc = p + c * ld, *dpc = dp + c * ld;
        float *dsc = ds + c * ld;
        SIMD for (int64_t r = 0; r < rows; r++) dsc[r] =
            pc[r] != 0.0f ? scale * pc[r] * (dpc[r] - delta[r]) : 0.0f;
    }
}

static void drop(float *row, int64_t ld, int64_t cols, const uint32_t *words, uint32_t threshold,
                 float factor)
{
    for (int64_t c = 0; c < cols; c++)
        row[c * ld] = words[c] >> 8 >= threshold ? row[c * ld] * factor : 0.0f;
}

static void mask_column(float *column, int64_t rows, const float *mask)
{
    SIMD for (int64_t r = 0; r < rows; r++) column[r] =
        mask[r] == -INFINITY ? -INFINITY : column[r] + mask[r];
}

/* Zero times a number that is not finite is NaN, which stays in the sum. */
static int all_finite(const float *x, int64_t ld, int64_t rows, int64_t cols)
{
    row_vector sum = {0};
    float rest = 0;
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * ld;
        int64_t j = 0;
        for (; j + ROW_LANES <= cols; j += ROW_LANES)
            sum += row_load(row + j) * 0.0f;
        for (; j < cols; j++)
            rest += row[j] * 0.0f;
    }
    return row_total(sum) + (double)rest == 0;
}

static void transpose(const float *from, int64_t from_ld, int64_t m, int64_t n, float factor,
                      float *to, int64_t ld)
{
    for (int64_t j = 0; j < n; j++) {
        float *row = to + j * ld;
        SIMD for (int64_t i = 0; i < m; i++) row[i] = factor * from[i * from_ld + j];
        for (int64_t i = m; i < ld; i++)
            row[i] = 0.0f;
    }
}

const struct attention_loops LOOP(cpu_attention_loops) = {
    .max = tile_max,
    .exp = tile_exp,
    .backward = tile_backward,
    .drop = drop,
    .mask_column = mask_column,
    .finite = all_finite,
    .transpose = transpose,
};
#endif
LOOP_END;
