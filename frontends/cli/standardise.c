/* SPDX-License-Identifier: Apache-2.0 */
#include "standardise.h"

#include <math.h>
#include <stdlib.h>

#include "axle/status.h"

enum { MEASURED = 1000 };
/* Below it all pixels count as equal. */
static const double small_variance = 1e-9;

typedef struct standardised {
    axle_dataset *source;
    float mean, scale;
} standardised;

static int64_t standardised_length(void *user)
{
    return axle_dataset_length(((standardised *)user)->source);
}

/* The elements of a fetched tensor of f32, which nobody else holds. */
static int elements_of(axle_tensor *input, float **out)
{
    void *data;
    if (!input || !axle_tensor_is_contiguous(input) || axle_tensor_dtype(input) != AXLE_DTYPE_F32)
        return axle_error_set(AXLE_ERR_DTYPE, "the pictures are no plain f32");
    int code = axle_tensor_data(input, &data);
    if (!code)
        *out = data;
    return code;
}

static int scale(const standardised *set, axle_batch *batch)
{
    float *pixel;
    axle_tensor *input = axle_batch_get(batch, "input");
    int code = elements_of(input, &pixel);
    for (int64_t k = 0, n = code ? 0 : axle_tensor_count(input); k < n; k++)
        pixel[k] = (pixel[k] - set->mean) * set->scale;
    return code;
}

static int standardised_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    const standardised *set = user;
    axle_batch *fetched;
    int code = axle_dataset_fetch(set->source, indices, n, &fetched);
    if (code)
        return code;
    code = scale(set, fetched);
    for (int k = 0; k < axle_batch_count(fetched) && !code; k++)
        code = axle_batch_set(batch, axle_batch_name(fetched, k), axle_batch_tensor(fetched, k));
    axle_batch_release(fetched);
    return code;
}

static void standardised_destroy(void *user)
{
    axle_dataset_release(((standardised *)user)->source);
    free(user);
}

int standardise_create(axle_dataset *source, double mean, double deviation, axle_dataset **out)
{
    axle_dataset_class type = AXLE_DATASET_CLASS_INIT;
    type.name = "standardised";
    type.length = standardised_length;
    type.fetch = standardised_fetch;
    type.destroy = standardised_destroy;
    standardised *user = malloc(sizeof(*user));
    if (!user)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    *user = (standardised){axle_dataset_retain(source), (float)mean, (float)(1.0 / deviation)};
    int code = axle_dataset_create(&type, user, out);
    if (code)
        standardised_destroy(user);
    return code;
}

/* ------------------------------------------------------------------ measuring */

static void measure(const float *pixel, int64_t count, double *mean, double *deviation)
{
    double sum = 0.0, squares = 0.0;
    for (int64_t k = 0; k < count; k++) {
        sum += (double)pixel[k];
        squares += (double)pixel[k] * (double)pixel[k];
    }
    double average = sum / (double)count;
    double variance = squares / (double)count - average * average;
    *mean = average;
    *deviation = variance > small_variance ? sqrt(variance) : 1.0;
}

int standardise_measure(axle_dataset *set, double *mean, double *deviation)
{
    int64_t length = axle_dataset_length(set), index[MEASURED];
    int64_t n = length < MEASURED ? length : MEASURED;
    axle_batch *batch;
    float *pixel;
    for (int64_t k = 0; k < n; k++)
        index[k] = k * length / n;
    int code = axle_dataset_fetch(set, index, n, &batch);
    if (code)
        return code;
    axle_tensor *input = axle_batch_get(batch, "input");
    code = elements_of(input, &pixel);
    if (!code)
        measure(pixel, axle_tensor_count(input), mean, deviation);
    axle_batch_release(batch);
    return code;
}
