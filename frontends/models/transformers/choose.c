/* SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"

#include <math.h>
#include <stdlib.h>

#include "axle/status.h"

int axle__chooser_create(const axle_generate_options *options, int64_t vocabulary,
                         axle__chooser *out)
{
    axle__candidate_token *candidates = NULL;
    if (options->sample && !(candidates = calloc((size_t)vocabulary, sizeof(*candidates))))
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory for a vocabulary");
    *out = (axle__chooser){options, candidates, options->seed};
    return AXLE_OK;
}

void axle__chooser_release(axle__chooser *chooser)
{
    free(chooser->candidates);
}

static int64_t likeliest(const float *logits, int64_t n)
{
    int64_t best = 0;
    for (int64_t k = 1; k < n; k++)
        if (logits[k] > logits[best])
            best = k;
    return best;
}

/* In [0, 1): splitmix64 (Steele, Lea and Flood, 2014). */
static double draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The likeliest first; of equal ones the smaller id. */
static int compare(const void *a, const void *b)
{
    const axle__candidate_token *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* How many of the sorted candidates are left, whose weights become unnormalised probabilities, and
 * the sum of those. */
static int64_t narrow(axle__chooser *chooser, int64_t n, double *sum)
{
    const axle_generate_options *o = chooser->options;
    axle__candidate_token *c = chooser->candidates;
    const double largest = c[0].weight;
    int64_t kept = o->top_k && o->top_k < n ? o->top_k : n;
    double all = 0.0, so_far = 0.0;
    for (int64_t k = 0; k < kept; k++)
        all += c[k].weight = exp((c[k].weight - largest) / o->temperature);
    for (int64_t k = 0; k < kept; k++) {
        so_far += c[k].weight;
        if (so_far >= o->top_p * all && o->top_p < 1.0)
            kept = k + 1;
    }
    *sum = so_far;
    return kept;
}

int64_t axle__choose_token(axle__chooser *chooser, const float *logits, int64_t n)
{
    axle__candidate_token *c = chooser->candidates;
    double sum;
    if (!c)
        return likeliest(logits, n);
    for (int64_t k = 0; k < n; k++)
        c[k] = (axle__candidate_token){k, (double)logits[k]};
    qsort(c, (size_t)n, sizeof(*c), compare);
    const int64_t kept = narrow(chooser, n, &sum);
    double rest = draw(&chooser->state) * sum;
    for (int64_t k = 0; k + 1 < kept; k++) {
        rest -= c[k].weight;
        if (rest < 0.0)
            return c[k].id;
    }
    return c[kept - 1].id;
}
