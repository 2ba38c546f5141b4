/* SPDX-License-Identifier: Apache-2.0 */
/* Small language models for tests, and files made of their parameters. */
#ifndef AXLE_TESTS_UNIT_TRANSFORMERS_TINY_H
#define AXLE_TESTS_UNIT_TRANSFORMERS_TINY_H

#include "axle/transformers.h"
#include "train/folder.h"

enum { TINY_VOCABULARY = 40, TINY_WIDTH = 8, TINY_POSITIONS = 12, TINY_LAYERS = 2 };

static inline void tiny_ok(int status)
{
    if (status)
        fail_msg("%d: %s", status, axle_error_message());
}

static inline axle_transformer_config *tiny_config(const char *type)
{
    static const struct {
        const char *key;
        int64_t value;
    } sizes[] = {
        {"vocab_size", TINY_VOCABULARY},
        {"hidden_size", TINY_WIDTH},
        {"embedding_size", TINY_WIDTH / 2},
        {"num_hidden_layers", TINY_LAYERS},
        {"num_attention_heads", 2},
        {"intermediate_size", 2 * TINY_WIDTH},
        {"max_position_embeddings", TINY_POSITIONS},
    };
    axle_transformer_config *config;
    tiny_ok(axle_transformer_config_create(type, &config));
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        if (strcmp(sizes[k].key, "embedding_size") != 0 || strcmp(type, "electra") == 0)
            tiny_ok(axle_transformer_config_set_int(config, sizes[k].key, sizes[k].value));
    return config;
}

/* From a configuration, which is released. */
static inline axle_model *tiny_of(axle_transformer_config *config, const char *task)
{
    axle_model *model;
    tiny_ok(axle_transformer_create(config, task, &model));
    axle_transformer_config_release(config);
    return model;
}

/* A task that models of this type have: `task`, or the one that those which tell the next token
 * have. */
static inline const char *tiny_task(const char *type, const char *task)
{
    return strcmp(type, "gpt2") == 0 ? "causal-lm" : task;
}

static inline axle_model *tiny_model(const char *type, const char *task)
{
    return tiny_of(tiny_config(type), task);
}

static inline axle_tensor *tiny_parameter(const axle_model *model, const char *path)
{
    axle_tensor *tensor = axle_module_parameter(axle_model_module(model), path);
    if (!tensor)
        fail_msg("there is no parameter '%s'", path);
    return tensor;
}

/* ------------------------------------------------------------------ batches */

static inline void tiny_set(axle_batch *batch, const char *name, axle_tensor *tensor)
{
    if (!tensor)
        fail_msg("%s", axle_error_message());
    tiny_ok(axle_batch_set(batch, name, tensor));
}

/* rows x length of tokens 3, 4, ... */
static inline axle_batch *tiny_batch(int64_t rows, int64_t length)
{
    axle_batch *batch;
    int64_t ids[64];
    assert_true(rows * length <= 64);
    for (int64_t k = 0; k < rows * length; k++)
        ids[k] = 3 + k % (TINY_VOCABULARY - 3);
    tiny_ok(axle_batch_create(&batch));
    tiny_set(batch, "input_ids", axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(rows, length), ids));
    return batch;
}

#define TINY_INTEGERS(...)                                                                         \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static inline axle_tensor *tiny_logits(axle_model *model, axle_batch *batch)
{
    axle_output out = axle_model_forward(model, batch);
    if (!out.logits)
        fail_msg("%s", axle_error_message());
    return out.logits;
}

/* ------------------------------------------------------------------ files */

/* A name in the file for one of the model; NULL: it is left out. */
typedef const char *(*tiny_rename_fn)(const char *name, char out[256]);

typedef struct tiny_content {
    tiny_rename_fn rename;
    char name[256][256];
    axle_tensor *tensor[256];
    int n;
} tiny_content;

static inline int tiny_add(const char *path, axle_tensor *tensor, void *user)
{
    tiny_content *content = user;
    char scratch[256];
    const char *name = content->rename ? content->rename(path, scratch) : path;
    if (!name)
        return 0;
    assert_true(content->n < 256);
    snprintf(content->name[content->n], sizeof(content->name[0]), "%s", name);
    content->tensor[content->n++] = tensor;
    return 0;
}

static inline tiny_content *tiny_collect(const axle_model *model, tiny_rename_fn rename)
{
    tiny_content *content = calloc(1, sizeof(*content));
    assert_non_null(content);
    content->rename = rename;
    axle_module_each_parameter(axle_model_module(model), tiny_add, content);
    return content;
}

/* Write model.safetensors, under such names, and config.json into the folder; `content` is freed.
 */
static inline void tiny_write(tiny_content *content, const axle_transformer_config *config,
                              const axle_tensor_file_options *options)
{
    const char *names[256];
    for (int k = 0; k < content->n; k++)
        names[k] = content->name[k];
    tiny_ok(axle_tensor_file_write(folder, names, content->tensor, content->n, options));
    tiny_ok(axle_transformer_config_write(config, folder));
    free(content);
}

static inline void tiny_write_model(const axle_model *model, tiny_rename_fn rename)
{
    tiny_write(tiny_collect(model, rename), axle_transformer_config_of(model), NULL);
}

static inline int tiny_same(const char *path, axle_tensor *tensor, void *user)
{
    const axle_model *other = user;
    axle_tensor *theirs = axle_module_parameter(axle_model_module(other), path);
    if (!theirs)
        return 0;
    size_t size = (size_t)axle_tensor_count(tensor) * axle_dtype_size(axle_tensor_dtype(tensor));
    void *a = malloc(size + 1), *b = malloc(size + 1);
    tiny_ok(axle_tensor_read(tensor, a, size));
    tiny_ok(axle_tensor_read(theirs, b, size));
    if (memcmp(a, b, size) != 0)
        fail_msg("'%s' differs", path);
    free(a);
    free(b);
    return 0;
}

/* Parameters that both have are equal, bit by bit. */
static inline void tiny_expect_same(const axle_model *a, axle_model *b)
{
    axle_module_each_parameter(axle_model_module(a), tiny_same, b);
}

/* A list holds exactly these names, in any order. */
static inline void tiny_expect_names(const char *const *list, int n, const char *const *names)
{
    int count = 0;
    for (; list[count]; count++) {
        int k = 0;
        while (k < n && strcmp(names[k], list[count]) != 0)
            k++;
        if (k == n)
            fail_msg("'%s' is in the list", list[count]);
    }
    assert_int_equal(count, n);
}
#define TINY_NAMES(...)                                                                            \
    (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *const[])           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define TINY_NONE 0, NULL

#define TINY(sentence, function)                                                                   \
    {                                                                                              \
        sentence, function, open_folder, close_folder, NULL                                        \
    }

#endif
