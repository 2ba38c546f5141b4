/* SPDX-License-Identifier: Apache-2.0 */
#include "io/safetensors_dtype.h"

#include <stddef.h>
#include <string.h>

#include "axle/types.h"

/* Names are those of our own enumeration, which happen to be the format's. */
static const struct {
    int dtype;
    const char *name;
} names[] = {
#define DTYPE_NAME(name, number, bytes, text) {number, #name},
    AXLE_DTYPE_LIST(DTYPE_NAME)
#undef DTYPE_NAME
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

int axle__safetensors_dtype(const char *name)
{
    for (size_t k = 0; k < NAME_COUNT; k++)
        if (strcmp(names[k].name, name) == 0)
            return names[k].dtype;
    return 0;
}

const char *axle__safetensors_dtype_name(int dtype)
{
    for (size_t k = 0; k < NAME_COUNT; k++)
        if (names[k].dtype == dtype)
            return names[k].name;
    return NULL;
}
