/* SPDX-License-Identifier: Apache-2.0 */
/* State of the program's own in checkpoints. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "train/checkpoint.h"

enum { MOST_NAME = 100 };

/* ------------------------------------------------------------------ registering */

static bool is_name(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return name && *name && strlen(name) <= MOST_NAME && name[strspn(name, plain)] == '\0';
}

static bool is_known(const axle__checkpoints *checkpoints, const char *name)
{
    for (int k = 0; k < checkpoints->custom_count; k++)
        if (strcmp(checkpoints->custom[k].name, name) == 0)
            return true;
    return false;
}

int axle_register_state(axle_accelerator *accelerator, const char *name,
                        const axle_state_callbacks *callbacks, void *user)
{
    axle__checkpoints *checkpoints;
    if (!is_name(name))
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_register_state: '%s' is no name of letters, digits, dots, - "
                              "and _",
                              name ? name : "");
    if (!callbacks || !callbacks->save || !callbacks->load)
        return axle_error_set(AXLE_ERR_INVALID, "axle_register_state: '%s' comes without %s", name,
                              callbacks && callbacks->save ? "load" : "save");
    int status = axle__checkpoints_of(accelerator, &checkpoints);
    if (!status && is_known(checkpoints, name))
        status = axle_error_set(AXLE_ERR_INVALID, "axle_register_state: '%s' is registered already",
                                name);
    if (status)
        return status;
    axle__custom_state *custom =
        axle__resize(checkpoints->custom, (size_t)checkpoints->custom_count + 1, sizeof(*custom));
    if (!custom)
        return AXLE_ERR_NOMEM;
    checkpoints->custom = custom;
    char *copy = axle__strdup(name);
    if (!copy)
        return AXLE_ERR_NOMEM;
    custom[checkpoints->custom_count++] = (axle__custom_state){copy, *callbacks, user};
    return AXLE_OK;
}

/* ------------------------------------------------------------------ saving */

int axle_state_write(axle_state_writer *writer, const void *bytes, size_t size)
{
    size_t wanted;
    if (writer->code)
        return writer->code;
    if (!axle__size_add(writer->size, size, &wanted))
        return writer->code = axle_error_set(AXLE_ERR_NOMEM, "axle_state_write: too many bytes");
    if (wanted > writer->room) {
        unsigned char *data = axle__resize(writer->data, wanted, 2);
        if (!data)
            return writer->code = AXLE_ERR_NOMEM;
        writer->data = data;
        writer->room = 2 * wanted;
    }
    if (size > 0)
        memcpy(writer->data + writer->size, bytes, size);
    writer->size = wanted;
    return AXLE_OK;
}

/* What a callback returns, with an error recorded. */
static int outcome(const axle__custom_state *custom, const char *what, int code)
{
    return code ? axle_error_set(code, "registered state '%s': its %s returned %d", custom->name,
                                 what, code)
                : AXLE_OK;
}

static int capture_one(axle__capture *capture, const axle__custom_state *custom)
{
    axle_state_writer writer = {0};
    axle__snapshot_file *file;
    int status = outcome(custom, "save", custom->callbacks.save(&writer, custom->user));
    if (!status)
        status = writer.code;
    if (!status)
        status = axle__snapshot_add(&capture->snapshot, axle__format("custom-%s.bin", custom->name),
                                    &file);
    if (!status) {
        file->raw = true;
        status = axle__snapshot_room(&capture->snapshot, file, writer.size);
    }
    if (!status && writer.size > 0)
        memcpy(file->data, writer.data, writer.size);
    axle__free(writer.data);
    return status;
}

int axle__capture_custom(axle__capture *capture, json_t **out)
{
    const axle__checkpoints *checkpoints = capture->accelerator->checkpoints;
    int status = capture->status;
    if (status || !capture->main)
        return status;
    *out = json_array();
    for (int k = 0; k < checkpoints->custom_count && !status; k++) {
        status = capture_one(capture, &checkpoints->custom[k]);
        if (!status && json_array_append_new(*out, json_string(checkpoints->custom[k].name)))
            status = axle__json_failed();
    }
    return status;
}

/* ------------------------------------------------------------------ loading */

static const axle__blob *file_of(const axle__restore *restore, const char *name)
{
    char file[MOST_NAME + 20];
    snprintf(file, sizeof(file), "custom-%s.bin", name);
    return axle__restore_file(restore, file);
}

int axle__check_custom(axle__restore *restore, const json_t *value)
{
    const axle__checkpoints *checkpoints = restore->accelerator->checkpoints;
    for (size_t k = 0; k < json_array_size(value); k++) {
        const char *name = json_string_value(json_array_get(value, k));
        if (!name || !is_known(checkpoints, name))
            return axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                                       "it holds the state of '%s', which is not registered",
                                       name ? name : "");
    }
    for (int k = 0; k < checkpoints->custom_count; k++)
        if (!file_of(restore, checkpoints->custom[k].name))
            return axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                                       "it holds no state of '%s', which is registered",
                                       checkpoints->custom[k].name);
    return AXLE_OK;
}

int axle__apply_custom(axle__restore *restore, const json_t *value)
{
    const axle__checkpoints *checkpoints = restore->accelerator->checkpoints;
    int status = AXLE_OK;
    (void)value;
    for (int k = 0; k < checkpoints->custom_count && !status; k++) {
        const axle__custom_state *custom = &checkpoints->custom[k];
        const axle__blob *blob = file_of(restore, custom->name);
        status =
            outcome(custom, "load", custom->callbacks.load(blob->bytes, blob->size, custom->user));
    }
    return status;
}
