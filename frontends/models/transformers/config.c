/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations: life time, and values by key. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int axle__config_out_of_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory for a configuration");
}

/* ------------------------------------------------------------------ values */

const axle__key *axle__config_row(const axle__architecture *kind, const char *key)
{
    for (const axle__key *row = kind->keys; row->name; row++)
        if (strcmp(row->name, key) == 0 || strcmp(row->key, key) == 0)
            return row;
    return NULL;
}

static const char *own_name(const axle_transformer_config *config, const char *key)
{
    const axle__key *row = axle__config_row(config->kind, key);
    return row ? row->key : key;
}

const json_t *axle__config_value(const axle_transformer_config *config, const char *key)
{
    const json_t *value = json_object_get(config->root, own_name(config, key));
    return json_is_null(value) ? NULL : value;
}

int axle__config_put(axle_transformer_config *config, const char *key, json_t *value)
{
    if (json_object_set_new(config->root, own_name(config, key), value))
        return axle_error_set(AXLE_ERR_INVALID, "configuration: '%s' has no value that is UTF-8",
                              key);
    return AXLE_OK;
}

int axle__config_flag(const axle_transformer_config *config, const char *key, bool otherwise,
                      bool *out)
{
    const json_t *value = axle__config_value(config, key);
    if (value && !json_is_boolean(value))
        return axle_error_set(AXLE_ERR_FORMAT, "config.json: '%s' is neither true nor false", key);
    *out = value ? json_is_true(value) : otherwise;
    return AXLE_OK;
}

int axle_transformer_config_set_int(axle_transformer_config *config, const char *key, int64_t value)
{
    return axle__config_put(config, key, json_integer((json_int_t)value));
}

int axle_transformer_config_set_double(axle_transformer_config *config, const char *key,
                                       double value)
{
    if (isfinite(value))
        return axle__config_put(config, key, json_real(value));
    return axle_error_set(AXLE_ERR_INVALID, "configuration: '%s' cannot be %g", key, value);
}

int axle_transformer_config_set_bool(axle_transformer_config *config, const char *key, int value)
{
    return axle__config_put(config, key, json_boolean(value));
}

int axle_transformer_config_set_string(axle_transformer_config *config, const char *key,
                                       const char *value)
{
    return axle__config_put(config, key, value ? json_string(value) : json_null());
}

static int not_there(const char *key)
{
    return axle_error_set(AXLE_ERR_NOT_FOUND, "config.json: there is no '%s'", key);
}

static int no_number(const char *key, const char *kind)
{
    return axle_error_set(AXLE_ERR_DTYPE, "config.json: '%s' is no %s", key, kind);
}

int axle_transformer_config_get_double(const axle_transformer_config *config, const char *key,
                                       double *out)
{
    const axle__key *row = axle__config_row(config->kind, key);
    const json_t *value = json_object_get(config->root, row ? row->key : key);
    if (value && !json_is_null(value) && !json_is_number(value))
        return no_number(key, "number");
    if (json_is_number(value))
        *out = json_number_value(value);
    else if (!value && row && row->kind != AXLE__TEXT && !isnan(row->number))
        *out = row->number;
    else
        return not_there(key);
    return AXLE_OK;
}

int axle_transformer_config_get_int(const axle_transformer_config *config, const char *key,
                                    int64_t *out)
{
    const json_t *value = axle__config_value(config, key);
    double number;
    if (value && !json_is_integer(value))
        return no_number(key, "integer");
    if (value) {
        *out = json_integer_value(value);
        return AXLE_OK;
    }
    int status = axle_transformer_config_get_double(config, key, &number);
    if (!status)
        *out = (int64_t)number;
    return status;
}

const char *axle_transformer_config_get_string(const axle_transformer_config *config,
                                               const char *key)
{
    const axle__key *row = axle__config_row(config->kind, key);
    const json_t *value = json_object_get(config->root, row ? row->key : key);
    return !value && row ? row->text : json_string_value(value);
}

const char *axle_transformer_config_model_type(const axle_transformer_config *config)
{
    return config->kind->model_type;
}

/* ------------------------------------------------------------------ life time */

int axle__config_wrap(const axle__architecture *kind, json_t *root, axle_transformer_config **out)
{
    axle_transformer_config *config = root ? malloc(sizeof(*config)) : NULL;
    if (!config) {
        json_decref(root);
        return axle__config_out_of_memory();
    }
    atomic_init(&config->references, 1);
    config->kind = kind;
    config->root = root;
    *out = config;
    return AXLE_OK;
}

int axle__config_copy(const axle_transformer_config *config, axle_transformer_config **out)
{
    return axle__config_wrap(config->kind, json_deep_copy(config->root), out);
}

static json_t *default_of(const axle__key *row)
{
    if (row->kind == AXLE__TEXT)
        return json_string(row->text);
    if (isnan(row->number))
        return json_null();
    if (row->kind == AXLE__FLAG)
        return json_boolean(row->number != 0.0);
    return row->kind == AXLE__INTEGER ? json_integer((json_int_t)row->number)
                                      : json_real(row->number);
}

int axle__config_unknown_type(const char *model_type)
{
    char list[256] = "";
    for (const char *const *name = axle_transformer_model_types(); *name; name++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", *list ? ", " : "",
                 *name);
    return axle_error_set(AXLE_ERR_NOT_FOUND, "there is no model_type '%.80s'; there are %s",
                          model_type, list);
}

int axle_transformer_config_create(const char *model_type, axle_transformer_config **out)
{
    const axle__architecture *kind = model_type ? axle__architecture_find(model_type) : NULL;
    if (!kind)
        return axle__config_unknown_type(model_type ? model_type : "");
    json_t *root = json_object();
    int wrong = json_object_set_new(root, "model_type", json_string(model_type));
    for (const axle__key *row = kind->keys; row->name; row++)
        wrong |= json_object_set_new(root, row->key, default_of(row));
    if (!wrong)
        return axle__config_wrap(kind, root, out);
    json_decref(root);
    return axle__config_out_of_memory();
}

axle_transformer_config *axle_transformer_config_retain(axle_transformer_config *config)
{
    if (config)
        atomic_fetch_add(&config->references, 1);
    return config;
}

void axle_transformer_config_release(axle_transformer_config *config)
{
    if (!config || atomic_fetch_sub(&config->references, 1) != 1)
        return;
    json_decref(config->root);
    free(config);
}
