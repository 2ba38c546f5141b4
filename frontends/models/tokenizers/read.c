/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <string.h>

const char *axle__section_type(const axle__section *section)
{
    const char *type = axle__section_text(section, "type");
    return type ? type : "";
}

int axle__section_unknown(const axle__section *section)
{
    const char *type = axle__section_type(section);
    if (json_is_null(section->json) || !section->json)
        return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: there is no %s", section->file,
                              section->name);
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "%s: the %s '%s' is not supported", section->file,
                          section->name, type);
}

static bool is_one_of(const char *key, const char *const *known)
{
    for (; *known; known++)
        if (strcmp(key, *known) == 0)
            return true;
    return strcmp(key, "type") == 0;
}

int axle__section_keys(const axle__section *section, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(
        (json_t *)section->json, key,
        value) if (!is_one_of(key, known)) return axle_error_set(AXLE_ERR_UNSUPPORTED,
                                                                 "%s: %s %s: '%s' is not supported",
                                                                 section->file, section->name,
                                                                 axle__section_type(section), key);
    return AXLE_OK;
}

int axle__section_malformed(const axle__section *section, const char *what)
{
    return axle_error_set(AXLE_ERR_FORMAT, "%s: %s %s: '%s' is malformed", section->file,
                          section->name, axle__section_type(section), what);
}

int axle__section_flag(const axle__section *section, const char *key, bool *out)
{
    const json_t *value = json_object_get(section->json, key);
    if (value && !json_is_null(value) && !json_is_boolean(value))
        return axle__section_malformed(section, key);
    if (json_is_boolean(value))
        *out = json_is_true(value);
    return AXLE_OK;
}

const char *axle__section_text(const axle__section *section, const char *key)
{
    return json_string_value(json_object_get(section->json, key));
}

bool axle__section_lacks(const axle__section *section, const char *key)
{
    const json_t *value = json_object_get(section->json, key);
    const char *text = json_string_value(value);
    return !value || json_is_null(value) || json_is_false(value) || (text && !*text) ||
           (json_is_number(value) && json_number_value(value) == 0);
}

const char *axle__token_content(const json_t *token)
{
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}
