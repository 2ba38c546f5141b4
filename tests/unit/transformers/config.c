/* SPDX-License-Identifier: Apache-2.0 */
#include "tiny.h"

static void write_text(const char *text)
{
    FILE *file = fopen(in("config.json"), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static axle_transformer_config *read_text(const char *text)
{
    axle_transformer_config *config;
    write_text(text);
    tiny_ok(axle_transformer_config_read(folder, &config));
    return config;
}

static int64_t get_int(const axle_transformer_config *config, const char *key)
{
    int64_t value = -1;
    tiny_ok(axle_transformer_config_get_int(config, key, &value));
    return value;
}

static void defaults_are_those_of_the_original(void **state)
{
    (void)state;
    axle_transformer_config *config = read_text("{\"model_type\": \"distilbert\", \"dim\": 8}");
    double value;
    assert_int_equal(get_int(config, "hidden_size"), 8);
    assert_int_equal(get_int(config, "dim"), 8);
    assert_int_equal(get_int(config, "n_layers"), 6);
    assert_int_equal(get_int(config, "vocab_size"), 30522);
    tiny_ok(axle_transformer_config_get_double(config, "seq_classif_dropout", &value));
    assert_true(value == 0.2);
    assert_string_equal(axle_transformer_config_get_string(config, "hidden_act"), "gelu");
    assert_null(axle_transformer_config_get_string(config, "problem_type"));
    assert_int_equal(axle_transformer_config_get_int(config, "unheard_of", &(int64_t){0}),
                     AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "unheard_of");
    axle_transformer_config_release(config);
}

static void unknown_keys_are_kept(void **state)
{
    (void)state;
    axle_transformer_config *config = read_text(
        "{\"model_type\": \"bert\", \"own\": {\"a\": [1, null, 0.1]}, \"hidden_size\": 12}");
    tiny_ok(axle_transformer_config_set_double(config, "hidden_dropout_prob", 0.3));
    tiny_ok(axle_transformer_config_write(config, folder));
    axle_transformer_config_release(config);
    char text[1024] = "";
    FILE *file = fopen(in("config.json"), "rb");
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "\"own\": {"));
    assert_non_null(strstr(text, "0.1\n"));
    assert_non_null(strstr(text, "\"hidden_dropout_prob\": 0.3"));
    assert_non_null(strstr(text, "\"hidden_size\": 12"));
}

static void labels_have_names(void **state)
{
    (void)state;
    axle_transformer_config *config = read_text(
        "{\"model_type\": \"roberta\", \"id2label\": {\"0\": \"bad\", \"1\": \"fair\", \"2\": "
        "\"good\"}}");
    assert_int_equal(axle_transformer_config_label_count(config), 3);
    assert_string_equal(axle_transformer_config_label(config, 2), "good");
    assert_null(axle_transformer_config_label(config, 3));
    assert_int_equal(axle_transformer_config_label_id(config, "fair"), 1);
    assert_int_equal(axle_transformer_config_label_id(config, "odd"), -1);
    tiny_ok(axle_transformer_config_set_labels(config, NULL, 2));
    assert_int_equal(axle_transformer_config_label_count(config), 2);
    assert_string_equal(axle_transformer_config_label(config, 1), "LABEL_1");
    const char *const twice[] = {"a", "a"};
    assert_int_equal(axle_transformer_config_set_labels(config, twice, 2), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'a'");
    assert_int_equal(axle_transformer_config_label_count(config), 2);
    axle_transformer_config_release(config);
    config = read_text("{\"model_type\": \"bert\", \"num_labels\": 7}");
    assert_int_equal(axle_transformer_config_label_count(config), 7);
    axle_transformer_config_release(config);
}

static void what_is_no_configuration_is_refused(void **state)
{
    static const struct {
        const char *text;
        int code;
        const char *part;
    } bad[] = {
        {"", AXLE_ERR_FORMAT, "config.json"},
        {"[1]", AXLE_ERR_FORMAT, "object"},
        {"{\"model_type\": \"bert\"", AXLE_ERR_FORMAT, "line"},
        {"{\"model_type\": \"bert\", \"model_type\": \"roberta\"}", AXLE_ERR_FORMAT, "duplicate"},
        {"{\"hidden_size\": 8}", AXLE_ERR_FORMAT, "model_type"},
        {"{\"model_type\": 3}", AXLE_ERR_FORMAT, "model_type"},
        {"{\"model_type\": \"t5\"}", AXLE_ERR_NOT_FOUND, "distilbert"},
    };
    axle_transformer_config *config;
    (void)state;
    assert_int_equal(axle_transformer_config_read(folder, &config), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "config.json");
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        write_text(bad[k].text);
        assert_int_equal(axle_transformer_config_read(folder, &config), bad[k].code);
        unit_expect_error(bad[k].code, bad[k].part);
    }
}

static void what_no_model_can_be_is_refused(void **state)
{
    static const struct {
        const char *sizes, *rest;
        int code;
    } bad[] = {
        {"\"hidden_size\": 0", "", AXLE_ERR_INVALID},
        {"\"hidden_size\": \"8\"", "", AXLE_ERR_DTYPE},
        {"\"hidden_size\": 9", "", AXLE_ERR_INVALID}, /* of two heads */
        {"\"hidden_size\": 9223372036854775807", "", AXLE_ERR_INVALID},
        {"\"hidden_size\": 8.5", "", AXLE_ERR_DTYPE},
        {"\"hidden_size\": 8", ", \"num_hidden_layers\": -1", AXLE_ERR_INVALID},
        {"\"hidden_size\": 8", ", \"vocab_size\": 1e300", AXLE_ERR_DTYPE},
        {"\"hidden_size\": 8", ", \"pad_token_id\": 99999", AXLE_ERR_INVALID},
        {"\"hidden_size\": 8", ", \"hidden_dropout_prob\": 1.5", AXLE_ERR_INVALID},
        {"\"hidden_size\": 8", ", \"layer_norm_eps\": -1e-5", AXLE_ERR_INVALID},
        {"\"hidden_size\": 8", ", \"hidden_act\": \"my_own\"", AXLE_ERR_UNSUPPORTED},
        {"\"hidden_size\": 8", ", \"hidden_act\": null", AXLE_ERR_UNSUPPORTED},
        {"\"hidden_size\": 8", ", \"position_embedding_type\": \"relative_key\"",
         AXLE_ERR_UNSUPPORTED},
        {"\"hidden_size\": 8", ", \"is_decoder\": true", AXLE_ERR_UNSUPPORTED},
        {"\"hidden_size\": 8", ", \"tie_word_embeddings\": 1", AXLE_ERR_FORMAT},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        char text[512];
        axle_model *model;
        snprintf(text, sizeof(text), "{\"model_type\": \"bert\", \"num_attention_heads\": 2, %s%s}",
                 bad[k].sizes, bad[k].rest);
        axle_transformer_config *config = read_text(text);
        assert_int_equal(axle_transformer_create(config, "base", &model), bad[k].code);
        unit_expect_error(bad[k].code, "config.json");
        axle_transformer_config_release(config);
    }
}

static const struct CMUnitTest tests[] = {
    TINY("defaults are those of the original", defaults_are_those_of_the_original),
    TINY("unknown keys are kept", unknown_keys_are_kept),
    TINY("labels have names", labels_have_names),
    TINY("what is no configuration is refused", what_is_no_configuration_is_refused),
    TINY("what no model can be is refused", what_no_model_can_be_is_refused),
};
UNIT_MAIN(tests)
