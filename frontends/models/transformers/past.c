/* SPDX-License-Identifier: Apache-2.0 */
#include "past.h"

#include <stdlib.h>

int axle__past_create(int64_t layers, axle__past *out)
{
    axle__past past = {.layers = layers};
    past.key = calloc((size_t)layers + 1, sizeof(*past.key));
    past.value = calloc((size_t)layers + 1, sizeof(*past.value));
    *out = past;
    return past.key && past.value ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

void axle__past_release(axle__past *past)
{
    for (int64_t k = 0; k < past->layers && past->key && past->value; k++) {
        axle_tensor_release(past->key[k]);
        axle_tensor_release(past->value[k]);
    }
    free(past->key);
    free(past->value);
}

static int extend(axle_tensor **kept, axle_tensor **more)
{
    enum { TOKENS = 2 }; /* the dim that counts them */
    axle_tensor *all =
        *kept ? axle_concat((axle_tensor *[]){*kept, *more}, 2, TOKENS) : axle_contiguous(*more);
    if (!all)
        return axle_error_code();
    axle_tensor_release(*kept);
    *kept = axle_tensor_retain(all);
    *more = all;
    return AXLE_OK;
}

int axle__past_extend(axle__past *past, int64_t layer, axle_tensor **key, axle_tensor **value)
{
    int status = extend(&past->key[layer], key);
    return status ? status : extend(&past->value[layer], value);
}
