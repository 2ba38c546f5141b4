/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters find their tensors under all names that files have for them. */
#include "tiny.h"

typedef struct outcome {
    axle_model *model;
    axle_load_report *report;
} outcome;

static outcome load_with(const char *task, axle_pretrained_options options)
{
    outcome out = {NULL, NULL};
    options.report = &out.report;
    tiny_ok(axle_transformer_from_pretrained(folder, task, &options, &out.model));
    return out;
}

static outcome load(const char *task)
{
    axle_pretrained_options options = AXLE_PRETRAINED_OPTIONS_INIT;
    return load_with(task, options);
}

static void release(outcome out)
{
    axle_load_report_release(out.report);
    axle_model_release(out.model);
}

/* Loading fails, with such an error. */
static void expect_refused(const char *task, int code, const char *part)
{
    axle_model *model = NULL;
    assert_int_equal(axle_transformer_from_pretrained(folder, task, NULL, &model), code);
    assert_null(model);
    unit_expect_error(code, part);
}

/* Write a model's parameters under other names, load them for `task`, and compare what came. */
static outcome through(axle_model *model, tiny_rename_fn rename, const char *task)
{
    tiny_write_model(model, rename);
    outcome out = load(task);
    tiny_expect_same(model, out.model);
    return out;
}

/* ------------------------------------------------------------------ prefixes */

static const char *without_prefix(const char *name, char out[256])
{
    (void)out;
    return strncmp(name, "bert.", 5) == 0 ? name + 5 : name;
}

static const char *with_model(const char *name, char out[256])
{
    snprintf(out, 256, "model.%s", name);
    return out;
}

/* A tensor of both models under its name in each. */
static void expect_shared(const outcome *out, const axle_model *model, const char *theirs,
                          const char *ours)
{
    double *a = tensors_read(tiny_parameter(out->model, ours));
    double *b = tensors_read(tiny_parameter(model, theirs));
    assert_true(a[1] == b[1] && a[0] == b[0]);
    free(a);
    free(b);
}

static void a_base_becomes_a_classifier(void **state)
{
    (void)state;
    axle_model *base = tiny_model("bert", "base");
    tiny_write_model(base, NULL);
    outcome out = load("sequence-classification");
    tiny_expect_names(out.report->missing, TINY_NAMES("classifier.weight", "classifier.bias"));
    tiny_expect_names(out.report->unexpected, TINY_NONE);
    expect_shared(&out, base, "encoder.layer.1.attention.self.key.weight",
                  "bert.encoder.layer.1.attention.self.key.weight");
    expect_shared(&out, base, "pooler.dense.weight", "bert.pooler.dense.weight");
    release(out);
    axle_model_release(base);

    base = tiny_model("distilbert", "base");
    tiny_write_model(base, NULL);
    out = load("sequence-classification");
    tiny_expect_names(out.report->missing,
                      TINY_NAMES("classifier.weight", "classifier.bias", "pre_classifier.weight",
                                 "pre_classifier.bias"));
    release(out);
    axle_model_release(base);
}

static void a_classifier_becomes_a_base(void **state)
{
    (void)state;
    axle_model *classifier = tiny_model("bert", "sequence-classification");
    tiny_write_model(classifier, NULL);
    outcome out = load("base");
    tiny_expect_names(out.report->missing, TINY_NONE);
    tiny_expect_names(out.report->unexpected, TINY_NAMES("classifier.weight", "classifier.bias"));
    expect_shared(&out, classifier, "bert.embeddings.LayerNorm.weight",
                  "embeddings.LayerNorm.weight");
    expect_shared(&out, classifier, "bert.pooler.dense.weight", "pooler.dense.weight");
    release(out);
    axle_model_release(classifier);
}

static void a_prefix_may_be_missing(void **state)
{
    (void)state;
    axle_model *classifier = tiny_model("bert", "sequence-classification");
    tiny_write_model(classifier, without_prefix);
    outcome out = load("sequence-classification");
    tiny_expect_names(out.report->missing, TINY_NONE);
    tiny_expect_names(out.report->unexpected, TINY_NONE);
    tiny_expect_same(classifier, out.model);
    release(out);
    axle_model_release(classifier);
}

static void heads_are_exchanged(void **state)
{
    (void)state;
    axle_model *masked = tiny_model("roberta", "masked-lm");
    tiny_write_model(masked, NULL);
    outcome out = load("token-classification");
    tiny_expect_names(out.report->missing, TINY_NAMES("classifier.weight", "classifier.bias"));
    tiny_expect_names(out.report->unexpected,
                      TINY_NAMES("lm_head.bias", "lm_head.dense.weight", "lm_head.dense.bias",
                                 "lm_head.layer_norm.weight", "lm_head.layer_norm.bias"));
    tiny_expect_same(masked, out.model);
    release(out);
    axle_model_release(masked);
}

static const char *head_alone(const char *name, char out[256])
{
    (void)out;
    return strncmp(name, "classifier", 10) == 0 ? name : NULL;
}

static void another_models_files_are_refused(void **state)
{
    (void)state;
    axle_model *classifier = tiny_model("bert", "sequence-classification");
    tiny_write_model(classifier, with_model);
    expect_refused("sequence-classification", AXLE_ERR_NOT_FOUND, "model.bert.");
    expect_refused("base", AXLE_ERR_NOT_FOUND, "no tensor is one of the model's");
    tiny_write_model(classifier, head_alone);
    expect_refused("sequence-classification", AXLE_ERR_NOT_FOUND, "'classifier.");
    axle_model_release(classifier);
}

/* ------------------------------------------------------------------ old names */

static const char *old_norm(const char *name, char out[256])
{
    const char *at = strstr(name, ".LayerNorm.");
    if (!at)
        return name;
    snprintf(out, 256, "%.*s.LayerNorm.%s", (int)(at - name), name,
             strstr(at, "weight") ? "gamma" : "beta");
    return out;
}

static const char *old_norm_without_prefix(const char *name, char out[256])
{
    return without_prefix(old_norm(name, out), out);
}

static void norms_had_other_names(void **state)
{
    (void)state;
    axle_model *classifier = tiny_model("bert", "sequence-classification");
    tiny_ok(
        axle_init_constant(tiny_parameter(classifier, "bert.embeddings.LayerNorm.weight"), 2.0));
    tiny_ok(axle_init_constant(tiny_parameter(classifier, "bert.embeddings.LayerNorm.bias"), 1.0));
    outcome out = through(classifier, old_norm, "sequence-classification");
    tiny_expect_names(out.report->missing, TINY_NONE);
    tiny_expect_names(out.report->unexpected, TINY_NONE);
    release(out);
    out = through(classifier, old_norm_without_prefix, "sequence-classification");
    tiny_expect_names(out.report->missing, TINY_NONE);
    release(out);
    axle_model_release(classifier);
}

/* Add a tensor to what is written. */
static void add(tiny_content *content, const char *name, axle_tensor *tensor)
{
    snprintf(content->name[content->n], sizeof(content->name[0]), "%s", name);
    content->tensor[content->n++] = tensor;
}

static void new_names_win_and_others_stay(void **state)
{
    (void)state;
    axle_model *base = tiny_model("bert", "base");
    tiny_content *content = tiny_collect(base, NULL);
    axle_tensor *nines = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(TINY_WIDTH), 9.0);
    add(content, "embeddings.LayerNorm.gamma", nines);
    add(content, "layer_scale_gamma", nines);
    add(content, "alphabeta.weight", nines);
    tiny_write(content, axle_transformer_config_of(base), NULL);
    outcome out = load("base");
    tiny_expect_same(base, out.model);
    tiny_expect_names(out.report->unexpected, TINY_NAMES("embeddings.LayerNorm.gamma",
                                                         "layer_scale_gamma", "alphabeta.weight"));
    release(out);
    axle_model_release(base);
}

static void positions_of_old_files_do_not_count(void **state)
{
    (void)state;
    axle_model *classifier = tiny_model("bert", "sequence-classification");
    tiny_content *content = tiny_collect(classifier, NULL);
    axle_tensor *positions = axle_arange(AXLE_DTYPE_I64, 0.0, TINY_POSITIONS, 1.0);
    add(content, "bert.embeddings.position_ids",
        axle_reshape(positions, AXLE_DIMS(1, TINY_POSITIONS)));
    tiny_write(content, axle_transformer_config_of(classifier), NULL);
    outcome out = load("sequence-classification");
    tiny_expect_names(out.report->missing, TINY_NONE);
    tiny_expect_names(out.report->unexpected, TINY_NONE);
    release(out);
    axle_model_release(classifier);
}

/* ------------------------------------------------------------------ tied tensors */

static const char *as_decoder(const char *name, char out[256])
{
    (void)out;
    if (strcmp(name, "bert.embeddings.word_embeddings.weight") == 0)
        return "cls.predictions.decoder.weight";
    return strcmp(name, "cls.predictions.bias") == 0 ? "cls.predictions.decoder.bias" : name;
}

static void either_name_of_tied_tensors_will_do(void **state)
{
    (void)state;
    axle_model *masked = tiny_model("bert", "masked-lm");
    outcome out = through(masked, as_decoder, "masked-lm");
    tiny_expect_names(out.report->missing, TINY_NONE);
    tiny_expect_names(out.report->unexpected, TINY_NONE);
    assert_ptr_equal(tiny_parameter(out.model, "bert.embeddings.word_embeddings.weight"),
                     tiny_parameter(out.model, "cls.predictions.decoder.weight"));
    release(out);
    axle_model_release(masked);
}

static void copies_of_tied_tensors_are_equal(void **state)
{
    (void)state;
    axle_model *masked = tiny_model("bert", "masked-lm");
    const axle_transformer_config *config = axle_transformer_config_of(masked);
    axle_tensor *words = tiny_parameter(masked, "bert.embeddings.word_embeddings.weight");
    tiny_content *content = tiny_collect(masked, NULL);
    add(content, "cls.predictions.decoder.weight", words);
    tiny_write(content, config, NULL);
    outcome out = load("masked-lm");
    tiny_expect_names(out.report->unexpected, TINY_NONE);
    release(out);
    content = tiny_collect(masked, NULL);
    add(content, "cls.predictions.decoder.weight",
        axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(TINY_VOCABULARY, TINY_WIDTH)));
    tiny_write(content, config, NULL);
    expect_refused("masked-lm", AXLE_ERR_FORMAT, "decoder.weight");
    axle_model_release(masked);
}

/* ------------------------------------------------------------------ other dims */

static void other_dims_are_refused_unless_ignored(void **state)
{
    (void)state;
    axle_model *classifier = tiny_model("distilbert", "sequence-classification");
    axle_pretrained_options options = AXLE_PRETRAINED_OPTIONS_INIT;
    axle_model *model;
    options.num_labels = 5;
    tiny_write_model(classifier, NULL);
    assert_int_equal(axle_transformer_from_pretrained(folder, NULL, &options, &model),
                     AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "no architecture");
    assert_int_equal(
        axle_transformer_from_pretrained(folder, "sequence-classification", &options, &model),
        AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "classifier.weight");
    options.ignore_mismatched_sizes = 1;
    outcome out = load_with("sequence-classification", options);
    tiny_expect_names(out.report->mismatched, TINY_NAMES("classifier.weight", "classifier.bias"));
    tiny_expect_names(out.report->missing, TINY_NONE);
    assert_int_equal(axle_tensor_dim(tiny_parameter(out.model, "classifier.weight"), 0), 5);
    assert_string_equal(axle_transformer_config_label(axle_transformer_config_of(out.model), 4),
                        "LABEL_4");
    double *weight = tensors_read(tiny_parameter(out.model, "classifier.weight"));
    assert_true(weight[0] != 0.0);
    free(weight);
    release(out);
    axle_model_release(classifier);
}

static void options_change_the_configuration(void **state)
{
    (void)state;
    static const char *const labels[] = {"no", "maybe", "yes"};
    axle_model *base = tiny_model("electra", "base");
    axle_pretrained_options options = AXLE_PRETRAINED_OPTIONS_INIT;
    double dropout = -1.0;
    options.num_labels = 3;
    options.labels = labels;
    options.dropout = 0.0;
    options.problem_type = "multi_label_classification";
    tiny_write_model(base, NULL);
    outcome out = load_with("sequence-classification", options);
    const axle_transformer_config *config = axle_transformer_config_of(out.model);
    assert_int_equal(axle_transformer_config_label_id(config, "yes"), 2);
    tiny_ok(axle_transformer_config_get_double(config, "classifier_dropout", &dropout));
    assert_true(dropout == 0.0);
    assert_string_equal(axle_transformer_config_get_string(config, "problem_type"),
                        "multi_label_classification");
    axle_batch *batch = tiny_batch(1, 4);
    double *a = tensors_read(tiny_logits(out.model, batch));
    double *b = tensors_read(tiny_logits(out.model, batch));
    assert_true(a[0] == b[0]); /* in training */
    free(a);
    free(b);
    axle_batch_release(batch);
    release(out);
    axle_model_release(base);
}

static const struct CMUnitTest tests[] = {
    TINY("a base becomes a classifier", a_base_becomes_a_classifier),
    TINY("a classifier becomes a base", a_classifier_becomes_a_base),
    TINY("a prefix may be missing", a_prefix_may_be_missing),
    TINY("heads are exchanged", heads_are_exchanged),
    TINY("another model's files are refused", another_models_files_are_refused),
    TINY("norms had other names", norms_had_other_names),
    TINY("new names win, and others stay what they are", new_names_win_and_others_stay),
    TINY("positions of old files do not count", positions_of_old_files_do_not_count),
    TINY("either name of tied tensors will do", either_name_of_tied_tensors_will_do),
    TINY("copies of tied tensors are equal", copies_of_tied_tensors_are_equal),
    TINY("other dims are refused unless ignored", other_dims_are_refused_unless_ignored),
    TINY("options change the configuration", options_change_the_configuration),
};
UNIT_MAIN(tests)
