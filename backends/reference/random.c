/* SPDX-License-Identifier: Apache-2.0 */
/* RANDOM: -> y (...), and DROPOUT: x (...) -> y (...). Philox words are numbered by element. */
#include "element.h"
#include "activation.h"

#include <math.h>

/* The words of a draw in turn; a block of four is computed when its first word is asked for. */
typedef struct draw {
    uint64_t seed, next;
    uint32_t block[4];
} draw;

static draw draw_start(const ref_span *span)
{
    draw d = {.seed = span->args->rng_seed, .next = span->args->rng_offset + (uint64_t)span->first};
    ref_philox(d.seed, d.next / 4, d.block);
    return d;
}

/* The next 24 bits u of a uniform number u * 2^-24. */
static uint32_t draw_bits(draw *d)
{
    const uint32_t lane = d->next % 4;
    if (lane == 0)
        ref_philox(d->seed, d->next / 4, d->block);
    d->next++;
    return d->block[lane] >> 8;
}

#define DEFINE_RANDOM(F, f, T, C, ...)                                                             \
    static void random_##f(const ref_span *span)                                                   \
    {                                                                                              \
        const axle_random_attrs *attrs = span->attrs;                                              \
        const C low = (C)attrs->low, width = (C)attrs->high - (C)attrs->low;                       \
        draw d = draw_start(span);                                                                 \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            const C scaled = width * ((C)draw_bits(&d) * (C)0x1p-24);                              \
            *(T *)(span->p[0] + i * span->step[0]) = ref_put_##f(low + scaled);                    \
        }                                                                                          \
    }
REF_FLOATS(DEFINE_RANDOM, )

#define RANDOM_ENTRY(F, f, ...) [AXLE_DTYPE_##F] = random_##f,
static const ref_loop randoms[REF_DTYPE_LIMIT] = {REF_FLOATS(RANDOM_ENTRY, )};

static ref_loop choose_random(const axle_op_desc *desc)
{
    return ref_is(desc->out[0], REF_FLOAT_MASK) ? randoms[desc->out[0]->dtype] : NULL;
}

/* u * 2^-24 >= p exactly where the integer u is at least this. */
static uint32_t dropout_threshold(double p)
{
    return p > 0 ? (uint32_t)ceil((p < 1 ? p : 1) * 0x1p24) : 0;
}

#define DEFINE_DROPOUT(F, f, T, C, ...)                                                            \
    static void dropout_##f(const ref_span *span)                                                  \
    {                                                                                              \
        const double p = ((const axle_dropout_attrs *)span->attrs)->p, kept = 1 - p;               \
        const uint32_t threshold = dropout_threshold(p);                                           \
        draw d = draw_start(span);                                                                 \
        for (int64_t i = 0; i < span->n; i++) {                                                    \
            const T x = *(const T *)(span->p[1] + i * span->step[1]);                              \
            const int keep = draw_bits(&d) >= threshold;                                           \
            *(T *)(span->p[0] + i * span->step[0]) =                                               \
                ref_put_##f(ref_keep_f64(ref_get_##f(x) / kept, keep));                            \
        }                                                                                          \
    }
REF_FLOATS(DEFINE_DROPOUT, )

#define DROPOUT_ENTRY(F, f, ...) [AXLE_DTYPE_##F] = dropout_##f,
static const ref_loop dropouts[REF_DTYPE_LIMIT] = {REF_FLOATS(DROPOUT_ENTRY, )};

static ref_loop choose_dropout(const axle_op_desc *desc)
{
    const axle_view *x = desc->in[0], *y = desc->out[0];
    return ref_is(x, REF_FLOAT_MASK) && ref_same(x, y) ? dropouts[x->dtype] : NULL;
}

const ref_elementwise ref_elementwise_random[] = {
    {AXLE_OP_RANDOM, choose_random},
    {AXLE_OP_DROPOUT, choose_dropout},
    {0, NULL},
};
