/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "dtype.h"

/*
 * What is allowed: |got - want| <= relative * |want| + absolute * (largest |want| of the result).
 * The second term is there for elements that come out small where large terms cancel. What is
 * expected is computed in f64 from the same inputs.
 */
static const struct {
    double relative, absolute;
    const char *reason;
} tolerances[DTYPE_LIMIT] = {
    [AXLE_DTYPE_F32] = {2e-5, 4e-6,
                        "functions good to some units in the last place (6e-8), sums of a few "
                        "hundred terms in any order"},
    [AXLE_DTYPE_F16] = {1e-3, 1e-5, "computed in f32 and rounded once, to 2^-11; two thereof"},
    [AXLE_DTYPE_BF16] = {8e-3, 1e-5, "computed in f32 and rounded once, to 2^-8; two thereof"},
    [AXLE_DTYPE_F64] = {1e-11, 1e-12, "as f32; units in the last place are 1e-16"},
    [AXLE_DTYPE_U8] = {0, 0, "integers are exact"},
    [AXLE_DTYPE_I32] = {0, 0, "integers are exact"},
    [AXLE_DTYPE_I64] = {0, 0, "integers are exact"},
    [AXLE_DTYPE_BOOL] = {0, 0, "booleans are exact"},
};
/* The smallest step between two numbers of f16, which is large beside what f32 leaves behind. */
static const double f16_step = 0x1p-24;

static double wanted(const operand *want, int64_t i)
{
    return dtype_get(want->spec.dtype, want->elements + (size_t)i * want->size);
}

static double largest_of(const operand *want)
{
    double largest = 0.0;
    for (int64_t i = 0; i < want->count; i++) {
        const double value = fabs(wanted(want, i));
        if (isfinite(value) && value > largest)
            largest = value;
    }
    return largest;
}

static void print_index(const operand_spec *spec, int64_t i, char *to, size_t size)
{
    int64_t at[AXLE_MAX_RANK];
    size_t length = 0;
    for (uint32_t k = spec->rank; k-- > 0; i /= spec->dim[k])
        at[k] = i % spec->dim[k];
    to[0] = '\0';
    for (uint32_t k = 0; k < spec->rank && length < size; k++)
        length += (size_t)snprintf(to + length, size - length, k ? ",%" PRId64 : "%" PRId64, at[k]);
}

static int note_difference(const operand *o, int64_t i, double got, double want, double allowed,
                           note *n)
{
    char index[96];
    print_index(&o->spec, i, index, sizeof(index));
    return note_fail(n, "element (%s) is %.9g instead of %.9g, %.2g are allowed", index, got, want,
                     allowed);
}

/* Bytes have the last word on integers, which a double may not hold; on floats zeros have signs,
 * and NaN is NaN. */
static int same(uint32_t dtype, const void *a, const void *b)
{
    const double x = dtype_get(dtype, a), y = dtype_get(dtype, b);
    if (!dtype_is_float(dtype))
        return dtype_get_integer(dtype, a) == dtype_get_integer(dtype, b);
    return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

static int close_enough(double got, double want, double rounded, double allowed)
{
    if (isnan(want))
        return isnan(got);
    return got == want || got == rounded || fabs(got - want) <= allowed;
}

static double allowed_error(uint32_t dtype, double want, double largest, allowance how)
{
    const double relative = tolerances[dtype].relative;
    const double absolute = how.rounded ? relative : tolerances[dtype].absolute;
    return how.slack * (relative * fabs(want) + absolute * largest +
                        (dtype == AXLE_DTYPE_F16 ? f16_step : 0.0));
}

int compare(const operand *o, const unsigned char *got, const operand *want, allowance how, note *n)
{
    const uint32_t dtype = o->spec.dtype;
    const double largest = largest_of(want);
    for (int64_t i = 0; i < o->count; i++) {
        unsigned char rounded[8];
        const unsigned char *element = got + (size_t)i * o->size;
        const double value = dtype_get(dtype, element), expected = wanted(want, i);
        if (how.exact || !dtype_is_float(dtype)) {
            if (!same(dtype, element, want->elements + (size_t)i * want->size))
                return note_difference(o, i, value, expected, 0.0, n);
            continue;
        }
        const double allowed = allowed_error(dtype, expected, largest, how);
        dtype_set(dtype, rounded, expected);
        if (!close_enough(value, expected, dtype_get(dtype, rounded), allowed))
            return note_difference(o, i, value, expected, allowed, n);
    }
    return 1;
}
