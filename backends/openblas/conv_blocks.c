/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_blocks.h"

/* Bytes of a block, most rows, fewest and most columns: products of few columns spend their time on
 * bringing in weights. */
enum { BYTES = 1 << 18, MOST_TERMS = 512, LEAST = 128, MOST = 4096 };

conv_blocks conv_blocks_choose(const conv_shape *s, int64_t times, int32_t workers)
{
    conv_blocks b = {.terms = blas_least(s->terms, MOST_TERMS), .all = s->samples * s->positions};
    const int64_t fit =
        BYTES / (int64_t)blas_size(s->work) / blas_most(blas_most(b.terms, s->outputs), 1);
    const int64_t fair = blas_ceil_div(b.all * blas_most(times, 1), 2 * (int64_t)workers);
    b.positions = blas_most(blas_least(blas_least(fit, MOST), fair), LEAST);
    b.positions = blas_least(b.positions, blas_most(b.all, 1));
    b.count = blas_ceil_div(b.all, b.positions);
    return b;
}
