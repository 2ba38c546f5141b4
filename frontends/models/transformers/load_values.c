/* SPDX-License-Identifier: Apache-2.0 */
/* From matched names to values of parameters. */
#include <string.h>

#include "load.h"

static bool is_read(const axle__target *target)
{
    return target->stored && !target->mismatched;
}

/* Those that have no value in the files. */
static bool is_without(const char *path, void *user)
{
    const axle__loading *loading = user;
    for (size_t k = 0; k < loading->count; k++)
        if (strcmp(loading->target[k].name, path) == 0)
            return !is_read(&loading->target[loading->target[k].first]);
    return true;
}

int axle__load_values(axle__loading *loading)
{
    int status = AXLE_OK;
    for (size_t k = 0; k < loading->count && !status; k++)
        if (loading->target[k].first == k && is_read(&loading->target[k]))
            status = axle_tensor_file_read(loading->target[k].stored, loading->target[k].tensor);
    return status ? status : axle__initialise(loading->network, is_without, loading);
}
