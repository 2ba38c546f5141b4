/* SPDX-License-Identifier: Apache-2.0 */
#include "masking.h"

/* Add a float mask and find the largest kept logit: NaN if there is one, -inf if nothing is kept.
 */
static double add_mask(const ref_masking *m, double *row, int64_t n)
{
    double largest = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        if (!ref_masking_keeps(m, j))
            continue;
        if (m->mask && !m->boolean)
            row[j] += m->mask[j];
        if (row[j] > largest || isnan(row[j]))
            largest = row[j];
    }
    return largest;
}

double ref_masked_softmax(const ref_masking *m, double *row, int64_t n)
{
    double largest = add_mask(m, row, n), sum = 0;
    for (int64_t j = 0; j < n; j++) {
        row[j] = ref_masking_keeps(m, j) ? exp(row[j] - largest) : 0;
        sum += row[j];
    }
    for (int64_t j = 0; j < n; j++)
        if (ref_masking_keeps(m, j))
            row[j] /= sum;
    return isinf(largest) ? largest : largest + log(sum);
}

void ref_masked_log_softmax(const ref_masking *m, double *row, int64_t n)
{
    double largest = add_mask(m, row, n), sum = 0;
    for (int64_t j = 0; j < n; j++)
        if (ref_masking_keeps(m, j))
            sum += exp(row[j] - largest);
    for (int64_t j = 0; j < n; j++)
        row[j] = ref_masking_keeps(m, j) ? row[j] - largest - log(sum) : -INFINITY;
}
