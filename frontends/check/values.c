/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <math.h>
#include <string.h>

#include "dtype.h"

/* ------------------------------------------------------------------ random numbers: SplitMix64 */

stream stream_of(uint64_t seed, const char *name)
{
    stream s = {seed ^ UINT64_C(0x9e3779b97f4a7c15)};
    for (; *name; name++)
        s.state = (s.state ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    stream_next(&s);
    return s;
}

uint64_t stream_next(stream *s)
{
    uint64_t z = s->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(stream *s, double low, double high)
{
    return low + (high - low) * (double)(stream_next(s) >> 11) * 0x1p-53;
}

static int one_in(stream *s, uint64_t n)
{
    return stream_next(s) % n == 0;
}

/* ------------------------------------------------------------------ domains */

/* Element `i` of an operand; integers of any value that its type holds where `spec` has such a
 * type. */
typedef double (*domain_fn)(const operand_spec *spec, stream *s, int64_t i);

static double any(const operand_spec *spec, stream *s, int64_t i)
{
    (void)i;
    if (dtype_is_float(spec->dtype))
        return uniform(s, -2.0, 2.0);
    if (spec->dtype == AXLE_DTYPE_BOOL)
        return (double)(stream_next(s) & 1);
    return (double)(stream_next(s) % 19) - (spec->dtype == AXLE_DTYPE_U8 ? 0.0 : 9.0);
}

#define UNIFORM_DOMAIN(name, low, high)                                                            \
    static double name(const operand_spec *spec, stream *s, int64_t i)                             \
    {                                                                                              \
        (void)spec, (void)i;                                                                       \
        return uniform(s, (low), (high));                                                          \
    }
UNIFORM_DOMAIN(positive, 0.25, 3.0)
UNIFORM_DOMAIN(unit, -0.95, 0.95)
UNIFORM_DOMAIN(probability, 0.0, 1.0)
UNIFORM_DOMAIN(far, -30.0, 30.0)
UNIFORM_DOMAIN(natural, 0.0, 100.0)

/* Ties, and zeros of both signs. */
static double small(const operand_spec *spec, stream *s, int64_t i)
{
    (void)i;
    const double value = (double)(stream_next(s) % 7) - (spec->dtype == AXLE_DTYPE_U8 ? 0.0 : 3.0);
    return dtype_is_float(spec->dtype) && one_in(s, 8) ? -0.0 : value;
}

static double with_nan(const operand_spec *spec, stream *s, int64_t i)
{
    return dtype_is_float(spec->dtype) && one_in(s, 6) ? NAN : any(spec, s, i);
}

static double special(const operand_spec *spec, stream *s, int64_t i)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0};
    const uint64_t k = stream_next(s) % 12;
    return dtype_is_float(spec->dtype) && k < sizeof(values) / sizeof(values[0]) ? values[k]
                                                                                 : any(spec, s, i);
}

static double far_up(const operand_spec *spec, stream *s, int64_t i)
{
    (void)spec, (void)i;
    return 1000.0 + (double)(stream_next(s) % 4);
}

/* Multiples of a half: what rounding to integers is about. */
static double halves(const operand_spec *spec, stream *s, int64_t i)
{
    (void)i;
    const double steps = (double)(stream_next(s) % 15);
    return spec->dtype == AXLE_DTYPE_U8 ? steps : (steps - 7.0) / 2.0;
}

static double zero(const operand_spec *spec, stream *s, int64_t i)
{
    (void)spec, (void)s, (void)i;
    return 0.0;
}

static double not_a_number(const operand_spec *spec, stream *s, int64_t i)
{
    (void)spec, (void)s, (void)i;
    return NAN;
}

/* Integers in [0, parameter). */
static double below(const operand_spec *spec, stream *s, int64_t i)
{
    (void)i;
    return (double)(stream_next(s) % (uint64_t)spec->parameter);
}

/* Each integer in [0, parameter) once, in an order of its own: 7 is prime to the sizes used. */
static double once(const operand_spec *spec, stream *s, int64_t i)
{
    (void)s;
    return (double)(i * 7 % (int64_t)spec->parameter);
}

/* The same, but some are -100. */
static double target(const operand_spec *spec, stream *s, int64_t i)
{
    return one_in(s, 4) ? -100.0 : below(spec, s, i);
}

static double ignored(const operand_spec *spec, stream *s, int64_t i)
{
    (void)spec, (void)s, (void)i;
    return -100.0;
}

/* The last is outside [0, parameter). */
static double outside(const operand_spec *spec, stream *s, int64_t i)
{
    return i + 1 == spec_count(spec) ? spec->parameter : below(spec, s, i);
}

static double negative(const operand_spec *spec, stream *s, int64_t i)
{
    return i == 0 ? -1.0 : below(spec, s, i);
}

/* A mask: the last row keeps nothing, and of the others most; what is removed is false or -inf. */
static double mask(const operand_spec *spec, stream *s, int64_t i)
{
    const int64_t row = spec->dim[spec->rank - 1], count = spec_count(spec);
    const int removed = one_in(s, 4) || (count > row && i >= count - row);
    if (spec->dtype == AXLE_DTYPE_BOOL)
        return !removed;
    return removed ? -INFINITY : uniform(s, -1.0, 1.0);
}

static const struct {
    const char *name;
    domain_fn value;
} domains[] = {
    {"", any},
    {"any", any},
    {"pos", positive},
    {"unit", unit},
    {"prob", probability},
    {"far", far},
    {"nat", natural},
    {"small", small},
    {"halves", halves},
    {"nan", with_nan},
    {"special", special},
    {"up", far_up},
    {"zero", zero},
    {"nothing", not_a_number},
    {"below", below},
    {"once", once},
    {"target", target},
    {"ignored", ignored},
    {"outside", outside},
    {"negative", negative},
    {"mask", mask},
};

static domain_fn find_domain(const char *name)
{
    for (size_t k = 0; k < sizeof(domains) / sizeof(domains[0]); k++)
        if (strcmp(domains[k].name, name) == 0)
            return domains[k].value;
    return NULL;
}

/* ------------------------------------------------------------------ operands */

int64_t spec_count(const operand_spec *spec)
{
    int64_t count = 1;
    for (uint32_t k = 0; k < spec->rank; k++)
        count *= spec->dim[k];
    return count;
}

/* Row-major number of the element that `i` repeats; `i` itself where no dim does. */
static int64_t original_of(const operand_spec *spec, int64_t i)
{
    int64_t number = 0, scale = 1;
    for (uint32_t k = spec->rank; k-- > 0;) {
        const int64_t at = spec->repeats[k] ? 0 : i % spec->dim[k];
        number += at * scale;
        scale *= spec->dim[k];
        i /= spec->dim[k];
    }
    return number;
}

/* Booleans are 0 or 1, whatever the domain. */
static void set_value(uint32_t dtype, unsigned char *element, double value)
{
    dtype_set(dtype, element, dtype == AXLE_DTYPE_BOOL ? (double)((int64_t)value & 1) : value);
}

int values_fill(const operand_spec *spec, stream *s, unsigned char *elements)
{
    const domain_fn value = find_domain(spec->domain);
    const size_t size = dtype_size(spec->dtype);
    const int64_t count = spec_count(spec);
    if (!value)
        return 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t original = original_of(spec, i);
        if (original < i)
            memcpy(elements + (size_t)i * size, elements + (size_t)original * size, size);
        else
            set_value(spec->dtype, elements + (size_t)i * size, value(spec, s, i));
    }
    return 1;
}
