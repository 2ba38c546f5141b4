/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "axle/status.h"

typedef struct dtype_row {
    const char *name;
    size_t size;
} dtype_row;

static const dtype_row table[] = {
#define AXLE_DTYPE_ROW(name, number, bytes, text) [number] = {text, bytes},
    AXLE_DTYPE_LIST(AXLE_DTYPE_ROW)
#undef AXLE_DTYPE_ROW
};
enum { TABLE_LENGTH = sizeof(table) / sizeof(table[0]) };

const char *axle_dtype_name(int dtype)
{
    return dtype > 0 && dtype < TABLE_LENGTH ? table[dtype].name : NULL;
}

int axle_dtype_from_name(const char *name)
{
    if (!name)
        return 0;
    for (int dtype = 1; dtype < TABLE_LENGTH; dtype++)
        if (table[dtype].name && strcmp(table[dtype].name, name) == 0)
            return dtype;
    return 0;
}

size_t axle_dtype_size(int dtype)
{
    return dtype > 0 && dtype < TABLE_LENGTH ? table[dtype].size : 0;
}

int axle_dtype_is_float(int dtype)
{
    static const uint64_t floats = AXLE_DTYPE_BIT(AXLE_DTYPE_F32) | AXLE_DTYPE_BIT(AXLE_DTYPE_F16) |
                                   AXLE_DTYPE_BIT(AXLE_DTYPE_BF16) | AXLE_DTYPE_BIT(AXLE_DTYPE_F64);
    return dtype > 0 && dtype < TABLE_LENGTH && (floats >> dtype & 1) != 0;
}
