/* SPDX-License-Identifier: Apache-2.0 */
#include "dtype.h"

#include <math.h>
#include <string.h>

const uint32_t dtype_all[] = {
#define NUMBER(name, number, bytes, text) number,
    AXLE_DTYPE_LIST(NUMBER)
#undef NUMBER
        0};

static const struct {
    const char *name;
    size_t size;
} types[DTYPE_LIMIT] = {
#define TYPE(name, number, bytes, text) [number] = {text, bytes},
    AXLE_DTYPE_LIST(TYPE)
#undef TYPE
};

const char *dtype_name(uint32_t dtype)
{
    return dtype < DTYPE_LIMIT ? types[dtype].name : NULL;
}

size_t dtype_size(uint32_t dtype)
{
    return dtype < DTYPE_LIMIT ? types[dtype].size : 0;
}

uint32_t dtype_find(const char *name, size_t length)
{
    for (uint32_t k = 0; k < DTYPE_LIMIT; k++)
        if (types[k].name && strlen(types[k].name) == length &&
            memcmp(types[k].name, name, length) == 0)
            return k;
    return 0;
}

int dtype_is_float(uint32_t dtype)
{
    return dtype == AXLE_DTYPE_F32 || dtype == AXLE_DTYPE_F16 || dtype == AXLE_DTYPE_BF16 ||
           dtype == AXLE_DTYPE_F64;
}

/* ------------------------------------------------------------------ half types */

/* Exponents of the smallest and largest normal numbers, and bits behind the binary point. */
typedef struct half_format {
    int lowest, highest, fraction;
} half_format;

static const half_format f16_format = {-14, 15, 10}, bf16_format = {-126, 127, 7};

static double half_get(half_format f, uint16_t bits)
{
    const double sign = bits >> 15 ? -1.0 : 1.0;
    const int exponent = (bits & 0x7fff) >> f.fraction, top = f.highest - f.lowest + 2;
    const int fraction = bits & ((1 << f.fraction) - 1);
    if (exponent == top)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, f.lowest - f.fraction);
    return sign * ldexp(fraction + (1 << f.fraction), exponent - 1 + f.lowest - f.fraction);
}

/* Counted in steps of the last place, a number that rounds up into the next binade, or to infinity,
 * carries into the exponent by itself. */
static uint16_t half_set(half_format f, double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const int top = f.highest - f.lowest + 2;
    int exponent;
    if (isnan(value))
        return (uint16_t)(top << f.fraction | 1 << (f.fraction - 1));
    if (value == 0.0)
        return sign;
    if (isinf(value) || ilogb(value) > f.highest)
        return (uint16_t)(sign | top << f.fraction);
    exponent = ilogb(value);
    if (exponent < f.lowest)
        exponent = f.lowest;
    const long steps = lrint(ldexp(fabs(value), f.fraction - exponent));
    return (uint16_t)(sign | (((exponent - f.lowest) << f.fraction) + steps));
}

/* ------------------------------------------------------------------ elements */

#define PLAIN_TYPES(X)                                                                             \
    X(F32, float)                                                                                  \
    X(F64, double)                                                                                 \
    X(U8, uint8_t)                                                                                 \
    X(I32, int32_t)                                                                                \
    X(I64, int64_t)                                                                                \
    X(BOOL, uint8_t)

double dtype_get(uint32_t dtype, const void *element)
{
    uint16_t bits;
#define GET(NAME, type)                                                                            \
    if (dtype == AXLE_DTYPE_##NAME) {                                                              \
        type value;                                                                                \
        memcpy(&value, element, sizeof(value));                                                    \
        return (double)value;                                                                      \
    }
    PLAIN_TYPES(GET)
#undef GET
    memcpy(&bits, element, sizeof(bits));
    return half_get(dtype == AXLE_DTYPE_F16 ? f16_format : bf16_format, bits);
}

void dtype_set(uint32_t dtype, void *element, double value)
{
#define SET(NAME, type)                                                                            \
    if (dtype == AXLE_DTYPE_##NAME) {                                                              \
        const type converted = (type)value;                                                        \
        memcpy(element, &converted, sizeof(converted));                                            \
        return;                                                                                    \
    }
    PLAIN_TYPES(SET)
#undef SET
    const uint16_t bits = half_set(dtype == AXLE_DTYPE_F16 ? f16_format : bf16_format, value);
    memcpy(element, &bits, sizeof(bits));
}

int64_t dtype_get_integer(uint32_t dtype, const void *element)
{
    int64_t wide;
    if (dtype != AXLE_DTYPE_I64)
        return (int64_t)dtype_get(dtype, element);
    memcpy(&wide, element, sizeof(wide));
    return wide;
}
