/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written, and files that are not to be believed. */
#include "tiny.h"

#include <sys/stat.h>

static axle_model *load(const char *task)
{
    axle_model *model;
    tiny_ok(axle_transformer_from_pretrained(folder, task, NULL, &model));
    return model;
}

static void save(const axle_model *model, int dtype, uint64_t shard_size)
{
    axle_save_pretrained_options options = AXLE_SAVE_PRETRAINED_OPTIONS_INIT;
    options.dtype = dtype;
    options.shard_size = shard_size;
    tiny_ok(axle_transformer_save_pretrained(model, folder, &options));
}

static void expect_refused(int code, const char *part)
{
    axle_model *model = NULL;
    assert_int_equal(axle_transformer_from_pretrained(folder, NULL, NULL, &model), code);
    assert_null(model);
    unit_expect_error(code, part);
}

/* ------------------------------------------------------------------ writing */

static void what_is_saved_comes_back(void **state)
{
    (void)state;
    for (const char *const *type = axle_transformer_model_types(); *type; type++) {
        const char *task = tiny_task(*type, "masked-lm");
        axle_model *model = tiny_model(*type, task);
        save(model, 0, 0);
        axle_model *again = load(NULL); /* the task is that of `architectures` */
        assert_string_equal(axle_transformer_task_of(again), task);
        tiny_expect_same(model, again);
        axle_model_release(again);
        axle_model_release(model);
    }
}

static void files_say_what_transformers_asks_for(void **state)
{
    (void)state;
    axle_model *model = tiny_model("bert", "masked-lm");
    axle_tensor_file *file;
    axle_transformer_config *config;
    save(model, AXLE_DTYPE_BF16, 0);
    tiny_ok(axle_tensor_file_open(folder, NULL, &file));
    assert_string_equal(axle_tensor_file_metadata(file, "format"), "pt");
    assert_null(axle_tensor_file_metadata(file, "cls.predictions.decoder.weight"));
    assert_null(axle_tensor_file_find(file, "cls.predictions.decoder.weight"));
    assert_null(axle_tensor_file_find(file, "cls.predictions.decoder.bias"));
    assert_non_null(axle_tensor_file_find(file, "cls.predictions.bias"));
    axle_tensor_file_close(file);
    tiny_ok(axle_transformer_config_read(folder, &config));
    assert_string_equal(axle_transformer_config_get_string(config, "torch_dtype"), "bfloat16");
    axle_transformer_config_release(config);
    axle_model_release(model);
}

static void checkpoints_have_the_same_names(void **state)
{
    (void)state;
    axle_model *model = tiny_model("distilbert", "sequence-classification");
    tiny_ok(axle_transformer_config_write(axle_transformer_config_of(model), folder));
    tiny_ok(axle_save_model(NULL, model, folder, NULL));
    axle_model *again = load("sequence-classification");
    tiny_expect_same(model, again);
    axle_tensor_file *file;
    tiny_ok(axle_tensor_file_open(folder, NULL, &file));
    assert_string_equal(axle_tensor_file_metadata(file, "format"), "pt");
    assert_non_null(
        axle_tensor_file_find(file, "distilbert.transformer.layer.1.attention.q_lin.weight"));
    axle_tensor_file_close(file);
    save(again, 0, 0);
    tiny_ok(axle_load_model(NULL, model, folder));
    axle_model_release(again);
    axle_model_release(model);
}

static void large_models_are_several_files(void **state)
{
    (void)state;
    axle_model *model = tiny_model("roberta", "token-classification");
    save(model, 0, 2000);
    assert_false(exists("model.safetensors"));
    assert_true(exists("model.safetensors.index.json"));
    assert_true(entries(folder) > 4);
    axle_model *again = load(NULL);
    tiny_expect_same(model, again);
    axle_model_release(again);
    axle_model_release(model);
}

/* ------------------------------------------------------------------ halves */

/* Bits of halves: the least, the largest, infinity and a NaN among them. */
static const uint16_t bits_of_f16[TINY_WIDTH] = {0x0001, 0x7BFF, 0x7C00, 0x7E01,
                                                 0x8000, 0xFBFF, 0x3C01, 0x0400};
static const uint16_t bits_of_bf16[TINY_WIDTH] = {0x3F81, 0x0001, 0x7F7F, 0x7F80,
                                                  0x7FC1, 0x8000, 0xBF80, 0x0080};

static void check_half(int dtype, const uint16_t bits[TINY_WIDTH])
{
    static const char name[] = "bert.embeddings.LayerNorm.bias";
    axle_model *model = tiny_model("bert", "sequence-classification");
    axle_tensor_file_options options = AXLE_TENSOR_FILE_OPTIONS_INIT;
    tiny_content *content = tiny_collect(model, NULL);
    options.dtype = dtype;
    for (int k = 0; k < content->n; k++)
        if (strcmp(content->name[k], name) == 0)
            content->tensor[k] = axle_from_data(dtype, AXLE_DIMS(TINY_WIDTH), bits);
    tiny_write(content, axle_transformer_config_of(model), &options);
    axle_model_release(model);
    model = load("sequence-classification");
    axle_tensor *bias = tiny_parameter(model, name);
    assert_int_equal(axle_tensor_dtype(bias), AXLE_DTYPE_F32);
    double *value = tensors_read(bias);
    if (dtype == AXLE_DTYPE_F16)
        assert_true(value[0] == 5.9604644775390625e-8 && value[1] == 65504.0);
    else
        assert_true(value[0] == 1.0078125);
    free(value);
    save(model, dtype, 0);
    axle_tensor_file *file;
    tiny_ok(axle_tensor_file_open(folder, NULL, &file));
    const axle_stored_tensor *stored = axle_tensor_file_find(file, name);
    assert_int_equal(stored->dtype, dtype);
    assert_memory_equal(stored->data, bits, TINY_WIDTH * sizeof(*bits));
    axle_tensor_file_close(file);
    axle_model_release(model);
}

static void halves_become_floats_and_back(void **state)
{
    (void)state;
    check_half(AXLE_DTYPE_F16, bits_of_f16);
    check_half(AXLE_DTYPE_BF16, bits_of_bf16);
}

static void models_of_halves_train_in_fp16(void **state)
{
    (void)state;
    axle_model *model = tiny_model("distilbert", "sequence-classification");
    save(model, AXLE_DTYPE_F16, 0);
    axle_model_release(model);
    model = load(NULL);
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *accelerator;
    axle_optimizer *optimizer;
    wanted.precision = "fp16";
    wanted.quiet = 1;
    wanted.backend = "reference";
    tiny_ok(axle_accelerator_create(&wanted, &accelerator));
    tiny_ok(axle_adamw_create(axle_model_module(model), NULL, &optimizer));
    tiny_ok(axle_prepare(accelerator, model, optimizer));
    axle_batch *batch = tiny_batch(2, 4);
    tiny_set(batch, "labels", axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), TINY_INTEGERS(0, 1)));
    double *before = tensors_read(tiny_parameter(model, "classifier.bias"));
    axle_output out = axle_model_forward(model, batch);
    tiny_ok(axle_backward(accelerator, out.loss));
    tiny_ok(axle_optimizer_step(optimizer));
    assert_false(axle_optimizer_step_was_skipped(optimizer));
    double *after = tensors_read(tiny_parameter(model, "classifier.bias"));
    assert_true(before[0] != after[0]);
    assert_int_equal(axle_tensor_dtype(tiny_parameter(model, "classifier.bias")), AXLE_DTYPE_F32);
    free(before);
    free(after);
    axle_batch_release(batch);
    axle_optimizer_release(optimizer);
    axle_model_release(model);
    axle_accelerator_release(accelerator);
}

/* ------------------------------------------------------------------ files not to be believed */

static void write_index(const char *format, const char *value)
{
    FILE *file = fopen(in("model.safetensors.index.json"), "wb");
    assert_non_null(file);
    fprintf(file, "{\"weight_map\": {\"");
    fprintf(file, format, value);
    fprintf(file, "}}");
    assert_int_equal(fclose(file), 0);
}

static void indexes_do_not_lead_out(void **state)
{
    (void)state;
    static const char map[] = "distilbert.embeddings.LayerNorm.weight\": \"%s\"";
    static const struct {
        const char *value;
        int code;
    } bad[] = {{"../x.safetensors", AXLE_ERR_FORMAT},
               {"/etc/hostname", AXLE_ERR_FORMAT},
               {"a/../../b", AXLE_ERR_FORMAT},
               {"out.safetensors", AXLE_ERR_FORMAT},
               {"missing.safetensors", AXLE_ERR_NOT_FOUND}};
    axle_model *model = tiny_model("distilbert", "base");
    save(model, 0, 0);
    assert_int_equal(rename(in("model.safetensors"), in("whole.safetensors")), 0);
    assert_int_equal(symlink("/etc/hostname", in("out.safetensors")), 0);
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        write_index(map, bad[k].value);
        expect_refused(bad[k].code, bad[k].value);
    }
    write_index("no.such.tensor\": \"%s\"", "whole.safetensors");
    expect_refused(AXLE_ERR_FORMAT, "no.such.tensor");
    axle_model_release(model);
}

static void torn_files_are_refused(void **state)
{
    (void)state;
    axle_model *model = tiny_model("bert", "base");
    save(model, 0, 0);
    assert_int_equal(truncate(in("model.safetensors"), 3000), 0);
    expect_refused(AXLE_ERR_FORMAT, "model.safetensors");
    assert_int_equal(unlink(in("model.safetensors")), 0);
    expect_refused(AXLE_ERR_NOT_FOUND, folder);
    axle_model_release(model);
}

static void pickles_are_refused_with_advice(void **state)
{
    (void)state;
    axle_model *model = tiny_model("bert", "token-classification");
    save(model, 0, 0);
    assert_int_equal(rename(in("model.safetensors"), in("pytorch_model.bin")), 0);
    expect_refused(AXLE_ERR_UNSUPPORTED, "t.BertForTokenClassification.from_pretrained(");
    assert_int_equal(rename(in("pytorch_model.bin"), in("pytorch_model.bin.index.json")), 0);
    expect_refused(AXLE_ERR_UNSUPPORTED, "safe_serialization=True");
    axle_model_release(model);
}

static void other_models_are_not_saved(void **state)
{
    (void)state;
    axle_module *layer;
    axle_model *model;
    tiny_ok(axle_linear_create(2, 2, 1, &layer));
    tiny_ok(axle_classifier_create(layer, &model));
    assert_null(axle_transformer_config_of(model));
    assert_null(axle_transformer_task_of(model));
    assert_int_equal(axle_transformer_save_pretrained(model, folder, NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no transformer");
    axle_model_release(model);
}

static const struct CMUnitTest tests[] = {
    TINY("what is saved comes back", what_is_saved_comes_back),
    TINY("files say what transformers asks for", files_say_what_transformers_asks_for),
    TINY("checkpoints have the same names", checkpoints_have_the_same_names),
    TINY("large models are several files", large_models_are_several_files),
    TINY("halves become floats and back, bit by bit", halves_become_floats_and_back),
    TINY("models of halves train in fp16", models_of_halves_train_in_fp16),
    TINY("indexes do not lead out of the folder", indexes_do_not_lead_out),
    TINY("torn files are refused", torn_files_are_refused),
    TINY("pickles are refused, with advice", pickles_are_refused_with_advice),
    TINY("other models are not saved", other_models_are_not_saved),
};
UNIT_MAIN(tests)
