/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels in config.json: id2label {"0": "negative", "1": "positive"} and label2id, its inverse.
 * Without names num_labels tells how many there are.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"

enum { MOST_LABELS = 1 << 24 };

static const json_t *names_of(const axle_transformer_config *config)
{
    const json_t *names = json_object_get(config->root, "id2label");
    return json_is_object(names) && json_object_size(names) > 0 ? names : NULL;
}

int64_t axle_transformer_config_label_count(const axle_transformer_config *config)
{
    const json_t *names = names_of(config);
    json_int_t n = json_integer_value(json_object_get(config->root, "num_labels"));
    if (names)
        return (int64_t)json_object_size(names);
    return n > 0 && n <= MOST_LABELS ? n : 2;
}

const char *axle_transformer_config_label(const axle_transformer_config *config, int64_t k)
{
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)k);
    return json_string_value(json_object_get(names_of(config), number));
}

int64_t axle_transformer_config_label_id(const axle_transformer_config *config, const char *name)
{
    int64_t n = axle_transformer_config_label_count(config);
    for (int64_t k = 0; k < n; k++) {
        const char *label = axle_transformer_config_label(config, k);
        if (label && strcmp(label, name) == 0)
            return k;
    }
    return -1;
}

/* ------------------------------------------------------------------ setting */

static int put_label(json_t *names, json_t *numbers, const char *name, int64_t k)
{
    char number[24], usual[32];
    snprintf(number, sizeof(number), "%lld", (long long)k);
    snprintf(usual, sizeof(usual), "LABEL_%lld", (long long)k);
    const char *label = name ? name : usual;
    if (json_object_get(numbers, label))
        return axle_error_set(AXLE_ERR_INVALID, "two labels are called '%s'", label);
    if (json_object_set_new(names, number, json_string(label)) ||
        json_object_set_new(numbers, label, json_integer((json_int_t)k)))
        return axle_error_set(AXLE_ERR_INVALID, "the name of label %lld is not UTF-8",
                              (long long)k);
    return AXLE_OK;
}

int axle_transformer_config_set_labels(axle_transformer_config *config, const char *const *names,
                                       int64_t n)
{
    json_t *labels = json_object(), *numbers = json_object();
    int status = AXLE_OK;
    if (n < 1 || n > MOST_LABELS)
        status = axle_error_set(AXLE_ERR_INVALID, "there cannot be %lld labels", (long long)n);
    for (int64_t k = 0; k < n && !status; k++)
        status = put_label(labels, numbers, names ? names[k] : NULL, k);
    if (!status)
        status = axle__config_put(config, "id2label", json_incref(labels));
    if (!status)
        status = axle__config_put(config, "label2id", json_incref(numbers));
    if (!status)
        json_object_del(config->root, "num_labels"); /* transformers counts the names */
    json_decref(labels);
    json_decref(numbers);
    return status;
}

int axle__config_name_labels(axle_transformer_config *config)
{
    if (names_of(config))
        return AXLE_OK;
    return axle_transformer_config_set_labels(config, NULL,
                                              axle_transformer_config_label_count(config));
}
