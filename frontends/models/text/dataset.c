/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets of texts: padding and collating what rows, labels and tokens hold. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/options_copy.h"
#include "axle/device.h"
#include "axle/status.h"
#include "labels.h"
#include "rows.h"
#include "tokens.h"

typedef struct text_set {
    text_rows rows;
    text_labels labels;
    text_tokens tokens;
    int64_t pad_id, multiple;
    int64_t *widths; /* (rows) to pad to at least, or NULL */
} text_set;

/* ------------------------------------------------------------------ batches */

static int64_t set_length(void *user)
{
    return ((const text_set *)user)->rows.count;
}

/* A tensor of the batch; *data is its memory. */
static int add(axle_batch *batch, const char *name, int dtype, int rank, const int64_t *dims,
               void **data)
{
    axle_tensor *tensor;
    int code = axle_tensor_create(axle_device_host(), dtype, rank, dims, &tensor);
    if (code)
        return code;
    code = axle_tensor_data(tensor, data);
    if (!code)
        code = axle_batch_set(batch, name, tensor);
    axle_tensor_release(tensor);
    return code;
}

static int64_t row_length(const text_set *set, int64_t row)
{
    return set->tokens.starts[row + 1] - set->tokens.starts[row];
}

/* T of a batch; one where all rows are empty. */
static int64_t padded_length(const text_set *set, const int64_t *rows, int64_t n)
{
    int64_t longest = 1, multiple = set->multiple > 1 ? set->multiple : 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t width = set->widths ? set->widths[rows[k]] : row_length(set, rows[k]);
        longest = width > longest ? width : longest;
    }
    return (longest + multiple - 1) / multiple * multiple;
}

static int fetch_tokens(const text_set *set, const int64_t *rows, int64_t n, axle_batch *batch)
{
    const int64_t dims[] = {n, padded_length(set, rows, n)};
    void *ids, *mask, *types = NULL;
    int code = add(batch, "input_ids", AXLE_DTYPE_I64, 2, dims, &ids);
    if (!code)
        code = add(batch, "attention_mask", AXLE_DTYPE_I64, 2, dims, &mask);
    if (!code && set->tokens.types)
        code = add(batch, "token_type_ids", AXLE_DTYPE_I64, 2, dims, &types);
    if (code)
        return code;
    for (int64_t k = 0; k < n; k++) {
        int64_t start = set->tokens.starts[rows[k]], length = row_length(set, rows[k]);
        for (int64_t t = 0, to = k * dims[1]; t < dims[1]; t++, to++) {
            ((int64_t *)ids)[to] = t < length ? set->tokens.ids[start + t] : set->pad_id;
            ((int64_t *)mask)[to] = t < length;
            if (types)
                ((int64_t *)types)[to] = t < length ? set->tokens.types[start + t] : 0;
        }
    }
    return AXLE_OK;
}

static int fetch_classes(const text_set *set, const int64_t *rows, int64_t n, axle_batch *batch)
{
    void *data;
    int code = add(batch, "labels", AXLE_DTYPE_I64, 1, &n, &data);
    for (int64_t k = 0; k < n && !code; k++)
        ((int64_t *)data)[k] = set->labels.classes[rows[k]];
    return code;
}

/* (N) of numbers, (N, L) of label sets. */
static int fetch_values(const text_set *set, const int64_t *rows, int64_t n, axle_batch *batch)
{
    const text_labels *labels = &set->labels;
    const int64_t dims[] = {n, labels->count};
    size_t width = (size_t)labels->count;
    void *data;
    int code = add(batch, "labels", AXLE_DTYPE_F32, labels->kind == AXLE_TEXT_NUMBERS ? 1 : 2, dims,
                   &data);
    for (int64_t k = 0; k < n && !code; k++)
        memcpy((float *)data + (size_t)k * width, labels->values + (size_t)rows[k] * width,
               width * sizeof(float));
    return code;
}

static int set_fetch(void *user, const int64_t *rows, int64_t n, axle_batch *batch)
{
    const text_set *set = user;
    int code = fetch_tokens(set, rows, n, batch);
    if (!code && set->labels.classes)
        code = fetch_classes(set, rows, n, batch);
    if (!code && set->labels.values)
        code = fetch_values(set, rows, n, batch);
    return code;
}

static void set_destroy(void *user)
{
    text_set *set = user;
    axle__text_rows_clear(&set->rows);
    axle__text_labels_clear(&set->labels);
    axle__text_tokens_clear(&set->tokens);
    free(set->widths);
    free(set);
}

static const axle_dataset_class set_class = {
    .struct_size = sizeof(axle_dataset_class),
    .name = "texts",
    .length = set_length,
    .fetch = set_fetch,
    .destroy = set_destroy,
};

/* ------------------------------------------------------------------ making them */

static int check(const axle_text_options *options, const axle_text_encoder *encoder)
{
    if (!encoder || encoder->struct_size < sizeof(*encoder) || !encoder->encode)
        return axle_error_set(AXLE_ERR_INVALID,
                              "texts: there is no encoder; begin with AXLE_TEXT_ENCODER_INIT");
    if (options->max_length < 0 || options->pad_to_multiple_of < 0)
        return axle_error_set(AXLE_ERR_INVALID,
                              "texts: rows of %" PRId64 " tokens, padded to multiples of %" PRId64,
                              options->max_length, options->pad_to_multiple_of);
    return AXLE_OK;
}

/* Begin a set; *options are complete. */
static int begin(const axle_text_options *given, const axle_text_encoder *encoder,
                 axle_text_options *options, text_set **out)
{
    int code = options_copy("texts", given, options, sizeof(*options));
    if (!code)
        code = check(options, encoder);
    if (code)
        return code;
    text_set *set = calloc(1, sizeof(*set));
    if (!set)
        return axle_error_set(AXLE_ERR_NOMEM, "texts: out of memory");
    set->pad_id = encoder->pad_id;
    set->multiple = options->pad_to_multiple_of;
    *out = set;
    return AXLE_OK;
}

/* The set is taken over. @param code  of what its rows came from. */
static int finish(text_set *set, int code, const axle_text_options *options,
                  const axle_text_encoder *encoder, axle_dataset **out)
{
    if (!code)
        code = axle__text_labels_read(&set->rows, options, &set->labels);
    if (!code)
        code = axle__text_tokens_make(&set->rows, options, encoder, &set->tokens);
    if (!code)
        code = axle_dataset_create(&set_class, set, out);
    if (code)
        set_destroy(set);
    return code;
}

int axle_text_dataset_open(const char *path, const axle_text_options *given,
                           const axle_text_encoder *encoder, axle_dataset **out)
{
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    text_set *set;
    int code = begin(given, encoder, &options, &set);
    if (code)
        return code;
    return finish(set, axle__text_rows_read(path, &options, &set->rows), &options, encoder, out);
}

int axle_text_dataset_create(int64_t n, const char *const *texts, const char *const *pairs,
                             const char *const *labels, const axle_text_options *given,
                             const axle_text_encoder *encoder, axle_dataset **out)
{
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    text_set *set;
    int code = begin(given, encoder, &options, &set);
    if (code)
        return code;
    return finish(set, axle__text_rows_copy(n, texts, pairs, labels, &set->rows), &options, encoder,
                  out);
}

/* ------------------------------------------------------------------ what they hold */

static text_set *set_of(const axle_dataset *dataset)
{
    text_set *set = axle_dataset_user(dataset, &set_class);
    if (!set)
        axle_error_set(AXLE_ERR_INVALID, "texts: this data set is none of texts");
    return set;
}

int64_t axle_text_label_count(const axle_dataset *dataset)
{
    const text_set *set = set_of(dataset);
    return set ? set->labels.count : AXLE_ERR_INVALID;
}

const char *const *axle_text_label_names(const axle_dataset *dataset)
{
    const text_set *set = set_of(dataset);
    return set ? (const char *const *)set->labels.names : NULL;
}

const char *axle_text_of(const axle_dataset *dataset, int64_t row, const char **pair)
{
    const text_set *set = set_of(dataset);
    if (!set)
        return NULL;
    if (row < 0 || row >= set->rows.count) {
        axle_error_set(AXLE_ERR_INDEX, "texts: row %" PRId64 " of %" PRId64, row, set->rows.count);
        return NULL;
    }
    if (pair)
        *pair = set->rows.pairs ? set->rows.pairs[row] : NULL;
    return set->rows.texts[row];
}

int axle_text_lengths(const axle_dataset *dataset, int64_t *out)
{
    const text_set *set = set_of(dataset);
    for (int64_t k = 0; set && k < set->rows.count; k++)
        out[k] = row_length(set, k);
    return set ? AXLE_OK : AXLE_ERR_INVALID;
}

int axle_text_pad_batches(axle_dataset *dataset, const int64_t *order, const int64_t *ends,
                          int64_t count)
{
    text_set *set = set_of(dataset);
    if (!set)
        return AXLE_ERR_INVALID;
    if (!set->widths)
        set->widths = malloc((size_t)set->rows.count * sizeof(*set->widths));
    if (!set->widths)
        return axle_error_set(AXLE_ERR_NOMEM, "texts: out of memory");
    axle_text_lengths(dataset, set->widths);
    for (int64_t batch = 0, first = 0; batch < count; first = ends[batch++]) {
        int64_t longest = 0;
        for (int64_t k = first; k < ends[batch]; k++)
            longest = row_length(set, order[k]) > longest ? row_length(set, order[k]) : longest;
        for (int64_t k = first; k < ends[batch]; k++)
            set->widths[order[k]] = longest;
    }
    return AXLE_OK;
}
