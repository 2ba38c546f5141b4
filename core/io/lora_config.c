/* SPDX-License-Identifier: Apache-2.0 */
/* adapter_config.json. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"
#include "base/file.h"
#include "base/memory.h"
#include "io/lora_file.h"

/* ------------------------------------------------------------------ writing */

/* Jansson takes NULL for a value as failure, so that one check is enough. */
static json_t *describe(const axle__lora_config *config, json_t *targets)
{
    json_t *object = json_object();
    int wrong = json_object_set_new(object, "peft_type", json_string("LORA"));
    wrong |= json_object_set_new(object, "r", json_integer(config->rank));
    wrong |= json_object_set_new(object, "lora_alpha", json_real(config->alpha));
    wrong |= json_object_set_new(object, "lora_dropout", json_real(config->dropout));
    wrong |= json_object_set_new(object, "target_modules", targets);
    wrong |= json_object_set_new(object, "bias", json_string("none"));
    wrong |= json_object_set_new(object, "fan_in_fan_out", json_false());
    wrong |= json_object_set_new(object, "init_lora_weights", json_true());
    wrong |= json_object_set_new(object, "inference_mode", json_true());
    wrong |= json_object_set_new(object, "modules_to_save", json_null());
    wrong |= json_object_set_new(object, "base_model_name_or_path", json_null());
    wrong |= json_object_set_new(object, "task_type", json_null());
    if (!wrong)
        return object;
    json_decref(object);
    return NULL;
}

int axle__lora_config_write(const char *path, const axle__lora_config *config, json_t *targets)
{
    axle__file_writer *writer;
    json_t *object = describe(config, targets);
    char *text = object
                     ? json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15))
                     : NULL;
    json_decref(object);
    if (!text)
        return axle_error_set(AXLE_ERR_NOMEM, "%s: out of memory", path);
    int status = axle__file_writer_open(path, &writer);
    if (!status) {
        axle__file_writer_write(writer, text, strlen(text));
        axle__file_writer_write(writer, "\n", 1);
        status = axle__file_writer_commit(writer);
    }
    free(text);
    return status;
}

/* ------------------------------------------------------------------ reading */

/* What must be absent, null, false, empty or this text. */
static const struct plain {
    const char *key, *text;
} plain[] = {
    {"bias", "none"},
    {"use_rslora", NULL},
    {"use_dora", NULL},
    {"rank_pattern", NULL},
    {"alpha_pattern", NULL},
    {"modules_to_save", NULL},
    {"lora_bias", NULL},
    {"trainable_token_indices", NULL},
    {"layer_replication", NULL},
};

static int is_plain(const json_t *value, const char *text)
{
    if (!value || json_is_null(value) || json_is_false(value))
        return 1;
    if (json_is_object(value) || json_is_array(value))
        return json_object_size(value) + json_array_size(value) == 0;
    return text && json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static int check_plain(const char *path, const json_t *object)
{
    const char *type = json_string_value(json_object_get(object, "peft_type"));
    if (!type || strcmp(type, "LORA") != 0)
        return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: peft_type is %s, not LORA", path,
                              type ? type : "missing");
    for (size_t k = 0; k < sizeof(plain) / sizeof(plain[0]); k++)
        if (!is_plain(json_object_get(object, plain[k].key), plain[k].text))
            return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: '%s' asks for what is not supported",
                                  path, plain[k].key);
    return AXLE_OK;
}

static int read_numbers(const char *path, const json_t *object, axle__lora_config *out)
{
    const json_t *rank = json_object_get(object, "r");
    const json_t *alpha = json_object_get(object, "lora_alpha");
    const json_t *dropout = json_object_get(object, "lora_dropout");
    axle__lora_config config = {json_integer_value(rank), json_number_value(alpha),
                                json_number_value(dropout)};
    int rank_is_good = json_is_integer(rank) && config.rank >= 1;
    int alpha_is_good = json_is_number(alpha) && isfinite(config.alpha);
    int dropout_is_good = !dropout || (config.dropout >= 0.0 && config.dropout <= 1.0);
    if (!rank_is_good || !alpha_is_good || !dropout_is_good)
        return axle_error_set(AXLE_ERR_FORMAT, "%s: '%s' is missing or out of range", path,
                              !rank_is_good    ? "r"
                              : !alpha_is_good ? "lora_alpha"
                                               : "lora_dropout");
    *out = config;
    return AXLE_OK;
}

int axle__lora_config_read(const char *path, axle__lora_config *out)
{
    char *text;
    size_t size;
    json_error_t wrong;
    int status = axle__file_read(path, &text, &size);
    if (status)
        return status;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong);
    axle__free(text);
    if (!json_is_object(object))
        status = axle_error_set(AXLE_ERR_FORMAT, "%s: no JSON object: %s", path,
                                object ? "something else" : wrong.text);
    if (!status)
        status = check_plain(path, object);
    if (!status)
        status = read_numbers(path, object, out);
    json_decref(object);
    return status;
}
