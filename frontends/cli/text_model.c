/* SPDX-License-Identifier: Apache-2.0 */
#include "text_model.h"

#include "axle/models.h"
#include "axle/ops.h"
#include "axle/transformers.h"
#include "names.h"

/* Their names are those of their types. */
static const char *const text_models[] = {"distilbert", NULL};

enum { MOST_MODELS = 16 };

const char *const *all_model_names(void)
{
    static const char *names[MOST_MODELS + 1];
    int n = 0;
    for (const char *const *name = axle_image_model_names(); *name && n < MOST_MODELS; name++)
        names[n++] = *name;
    for (const char *const *name = text_models; *name && n < MOST_MODELS; name++)
        names[n++] = *name;
    return names;
}

int is_text_model(const char *name)
{
    return names_find(text_models, name) >= 0;
}

int text_model_sizes(const char *name, text_sizes *out)
{
    text_sizes sizes = {0, 0, 0, 0};
    axle_transformer_config *config;
    int code = axle_transformer_config_create(name, &config);
    if (code)
        return code;
    const struct {
        const char *key;
        int64_t *value;
    } wanted[] = {{"dim", &sizes.width},
                  {"hidden_dim", &sizes.hidden},
                  {"n_heads", &sizes.heads},
                  {"n_layers", &sizes.layers}};
    for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]) && !code; k++)
        code = axle_transformer_config_get_int(config, wanted[k].key, wanted[k].value);
    axle_transformer_config_release(config);
    if (!code)
        *out = sizes;
    return code;
}

int text_model_create(const char *name, axle_model **out)
{
    axle_transformer_config *config;
    int code = axle_transformer_config_create(name, &config);
    if (code)
        return code;
    code = axle_transformer_create(config, "sequence-classification", out);
    axle_transformer_config_release(config);
    return code;
}

/* A field of integers: factor * k modulo `most` for element k. */
static int add_field(axle_batch *batch, const char *name, int rank, const int64_t *dims,
                     double factor, double most)
{
    double count = 1.0;
    for (int k = 0; k < rank; k++)
        count *= (double)dims[k];
    axle_tensor *number = axle_arange(AXLE_DTYPE_F64, 0.0, factor * count, factor);
    number = axle_remainder(number, axle_scalar(AXLE_DTYPE_F64, most));
    axle_tensor *field = axle_reshape(axle_cast(number, AXLE_DTYPE_I64), rank, dims);
    return field ? axle_batch_set(batch, name, field) : axle_error_code();
}

int text_batch_create(int64_t rows, int64_t length, axle_batch **out)
{
    axle_batch *batch;
    int code = axle_batch_create(&batch);
    if (code)
        return code;
    axle_tensor *mask = axle_ones(AXLE_DTYPE_I64, AXLE_DIMS(rows, length));
    code = add_field(batch, "input_ids", AXLE_DIMS(rows, length), 97.0, 28996.0);
    if (!code)
        code = mask ? axle_batch_set(batch, "attention_mask", mask) : axle_error_code();
    if (!code)
        code = add_field(batch, "labels", AXLE_DIMS(rows), 1.0, 2.0);
    if (code)
        axle_batch_release(batch);
    else
        *out = batch;
    return code;
}
