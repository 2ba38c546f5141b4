/* SPDX-License-Identifier: Apache-2.0 */
#include "group/combine.h"

#include <math.h>
#include <stdbool.h>

#include "axle/backend_ops.h"
#include "group/half.h"
#include "unit.h"

/* Sums of one element each, as bits. */
static void expect_halves(int reduction, int dtype, double scale, int n, const uint16_t *values,
                          uint16_t expected)
{
    const void *parts[8];
    uint16_t out = 0xdead;
    for (int k = 0; k < n; k++)
        parts[k] = &values[k];
    assert_int_equal(axle__combine(reduction, dtype, parts, n, scale, &out, 1), AXLE_OK);
    if (out != expected)
        fail_msg("%d parts from %04x on give %04x instead of %04x", n, values[0], out, expected);
}

#define HALVES(...)                                                                                \
    (int)(sizeof((uint16_t[]){__VA_ARGS__}) / 2), (uint16_t[])                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void bf16_is_added_as_numbers(void **state)
{
    (void)state;
    const int sum = AXLE_REDUCE_SUM, bf16 = AXLE_DTYPE_BF16;
    expect_halves(sum, bf16, 1.0, HALVES(0x3f80, 0x3f80), 0x4000);         /* 1 + 1 */
    expect_halves(sum, bf16, 1.0, HALVES(0x3f80, 0x3b80), 0x3f80);         /* 1 + 2^-8: a tie */
    expect_halves(sum, bf16, 1.0, HALVES(0x3f80, 0x3b80, 0x3b80), 0x3f81); /* rounded once */
    expect_halves(sum, bf16, 1.0, HALVES(0x3b80, 0x3f80, 0x3b80), 0x3f81);
    expect_halves(sum, bf16, 1.0, HALVES(0x3f81, 0x3b80), 0x3f82); /* a tie, to even */
    expect_halves(sum, bf16, 1.0, HALVES(0x7f7f, 0x7f7f), 0x7f80); /* too large */
    expect_halves(AXLE_REDUCE_MEAN, bf16, 0.5, HALVES(0x7f7f, 0x7f7f), 0x7f7f);
    expect_halves(sum, bf16, 1.0, HALVES(0x0001, 0x0001), 0x0002); /* subnormal */
    expect_halves(sum, bf16, 1.0, HALVES(0x007f, 0x0001), 0x0080); /* becomes normal */
    expect_halves(sum, bf16, 1.0, HALVES(0x8000, 0x8000), 0x8000); /* -0 */
    expect_halves(sum, bf16, 1.0, HALVES(0x7f80, 0xff80), 0x7fc0); /* inf - inf */
}

static void f16_is_added_as_numbers(void **state)
{
    (void)state;
    const int sum = AXLE_REDUCE_SUM, mean = AXLE_REDUCE_MEAN, f16 = AXLE_DTYPE_F16;
    expect_halves(sum, f16, 1.0, HALVES(0x3c00, 0x3c00), 0x4000);
    expect_halves(mean, f16, 0.5, HALVES(0x7b53, 0x7b53), 0x7b53); /* 60000 and 60000 */
    expect_halves(sum, f16, 1.0, HALVES(0x7b53, 0x7b53), 0x7c00);
    expect_halves(sum, f16, 1.0, HALVES(0x7b53, 0x7b53, 0xfb53), 0x7b53);
    expect_halves(sum, f16, 1.0, HALVES(0x7bff, 0x4b80), 0x7bff); /* 65504 + 15: below the tie */
    expect_halves(sum, f16, 1.0, HALVES(0x7bff, 0x4c00), 0x7c00); /* 65520 rounds to infinity */
    expect_halves(sum, f16, 1.0, HALVES(0x3c00, 0x1000), 0x3c00); /* 1 + 2^-11: a tie */
    expect_halves(sum, f16, 1.0, HALVES(0x3c01, 0x1000), 0x3c02);
    expect_halves(sum, f16, 1.0, HALVES(0x03ff, 0x0001), 0x0400);
    expect_halves(mean, f16, 0.5, HALVES(0x0001, 0x0000), 0x0000); /* half the least: to even */
    expect_halves(mean, f16, 0.5, HALVES(0x0003, 0x0000), 0x0002);
    expect_halves(sum, f16, 1.0, HALVES(0x7c00, 0x3c00), 0x7c00);
    expect_halves(sum, f16, 1.0, HALVES(0x7c00, 0xfc00), 0x7e00);
}

static void nan_wins(void **state)
{
    (void)state;
    const int all[] = {AXLE_REDUCE_SUM, AXLE_REDUCE_MEAN, AXLE_REDUCE_MAX, AXLE_REDUCE_MIN};
    for (int first = 0; first < 2; first++)
        for (int k = 0; k < 4; k++) {
            float a[] = {first ? NAN : 1.0f}, b[] = {first ? -INFINITY : NAN}, out[1];
            double c[] = {a[0]}, d[] = {b[0]}, wide[1];
            assert_int_equal(
                axle__combine(all[k], AXLE_DTYPE_F32, (const void *[]){a, b}, 2, 1.0, out, 1),
                AXLE_OK);
            assert_true(isnan(out[0]));
            assert_int_equal(
                axle__combine(all[k], AXLE_DTYPE_F64, (const void *[]){c, d}, 2, 1.0, wide, 1),
                AXLE_OK);
            assert_true(isnan(wide[0]));
        }
    expect_halves(AXLE_REDUCE_MAX, AXLE_DTYPE_BF16, 1.0, HALVES(0x7f81, 0x3f80), 0x7fc0);
    expect_halves(AXLE_REDUCE_MIN, AXLE_DTYPE_F16, 1.0, HALVES(0x3c00, 0x7c01), 0x7e00);
}

/* All 16-bit numbers survive alone; what is lost is a NaN's payload. */
static void every_half_survives(void **state)
{
    (void)state;
    static const struct {
        int dtype;
        uint16_t infinity, nan;
    } formats[] = {{AXLE_DTYPE_BF16, 0x7f80, 0x7fc0}, {AXLE_DTYPE_F16, 0x7c00, 0x7e00}};
    static uint16_t in[65536], out[65536];
    for (int k = 0; k < 65536; k++)
        in[k] = (uint16_t)k;
    for (int f = 0; f < 2; f++) {
        assert_int_equal(axle__combine(AXLE_REDUCE_SUM, formats[f].dtype, (const void *[]){in}, 1,
                                       1.0, out, 65536),
                         AXLE_OK);
        for (int k = 0; k < 65536; k++) {
            bool is_nan = (k & 0x7fff) > formats[f].infinity;
            assert_int_equal(out[k] & (is_nan ? 0x7fff : 0xffff), is_nan ? formats[f].nan : k);
        }
    }
}

/* f32 is added in f64: the small ones are not lost one by one. */
static void f32_is_rounded_once(void **state)
{
    (void)state;
    float large[] = {16777216.0f}, one[] = {1.0f}, out[1];
    const void *parts[] = {large, one, one, one, one};
    assert_int_equal(axle__combine(AXLE_REDUCE_SUM, AXLE_DTYPE_F32, parts, 5, 1.0, out, 1),
                     AXLE_OK);
    assert_true(out[0] == 16777220.0f);
    float most[] = {3e38f};
    assert_int_equal(axle__combine(AXLE_REDUCE_MEAN, AXLE_DTYPE_F32, (const void *[]){most, most},
                                   2, 0.5, out, 1),
                     AXLE_OK);
    assert_true(out[0] == 3e38f);
    float least[] = {1e-45f};
    assert_int_equal(axle__combine(AXLE_REDUCE_SUM, AXLE_DTYPE_F32, (const void *[]){least, least},
                                   2, 1.0, out, 1),
                     AXLE_OK);
    assert_true(out[0] == 2.0f * 1e-45f);
}

/* Numbers of all sizes, subnormal ones and ties among them. */
static double draw(uint64_t *state, int digits, int lowest, int span)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t bits = *state >> 11;
    double fraction = (double)(bits & ((UINT64_C(1) << digits) - 1)) + (bits >> 50 ? 1.0 : 0.5);
    double value = ldexp(fraction, lowest - digits + (int)(bits >> 20 & 1023) % span);
    return bits >> 52 & 1 ? -value : value;
}

static uint16_t round_plainly(double value, int digits, int least)
{
    int exponent = value == 0.0 ? least : ilogb(value);
    exponent = exponent < least ? least : exponent;
    double units = nearbyint(ldexp(fabs(value), digits - exponent));
    int bits = (int)units + ((exponent - least) << digits);
    int infinite = (digits == 7 ? 255 : 31) << digits;
    bits = bits > infinite ? infinite : bits;
    return (uint16_t)(bits | (signbit(value) ? 0x8000 : 0));
}

static void halves_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < 100000; k++) {
        float wide = (float)draw(&seed, 3 + k % 12, -135, 262);
        assert_int_equal(axle__bf16_narrow(wide), round_plainly(wide, 7, -126));
        double value = draw(&seed, 3 + k % 15, -27, 46);
        assert_int_equal(axle__f16_narrow(value), round_plainly(value, 10, -14));
    }
}

/* Of any number of parts, also in place. */
static void f32_is_added_in_order(void **state)
{
    (void)state;
    enum { PARTS = 5, N = 1003 };
    static float part[PARTS][N], expected[N];
    const void *parts[PARTS];
    uint64_t seed = 7;
    for (int n = 1; n <= PARTS; n++)
        for (int scaled = 0; scaled < 2; scaled++) {
            double scale = scaled ? 1.0 / 3.0 : 1.0;
            for (int i = 0; i < N; i++) {
                double sum = 0.0;
                for (int p = 0; p < n; p++)
                    sum += part[p][i] = (float)draw(&seed, 23, -60, 80);
                expected[i] = (float)(sum * scale);
            }
            for (int p = 0; p < n; p++)
                parts[p] = part[p];
            assert_int_equal(
                axle__combine(AXLE_REDUCE_SUM, AXLE_DTYPE_F32, parts, n, scale, part[n - 1], N),
                AXLE_OK);
            assert_memory_equal(part[n - 1], expected, sizeof(expected));
        }
}

/* In place, over several blocks and a rest, in each element type. */
#define INTEGERS(name, type, dtype)                                                                \
    static void add_##name(void)                                                                   \
    {                                                                                              \
        enum { N = 1300 };                                                                         \
        static type a[N], b[N], c[N];                                                              \
        for (int k = 0; k < N; k++) {                                                              \
            a[k] = (type)(k * 7 - 90);                                                             \
            b[k] = (type)(k % 50);                                                                 \
            c[k] = (type)(3 * k);                                                                  \
        }                                                                                          \
        const void *parts[] = {a, b, c};                                                           \
        assert_int_equal(axle__combine(AXLE_REDUCE_MAX, dtype, parts, 2, 1.0, b, N), AXLE_OK);     \
        for (int k = 0; k < N; k++)                                                                \
            assert_true(b[k] == (a[k] > (type)(k % 50) ? a[k] : (type)(k % 50)));                  \
        assert_int_equal(axle__combine(AXLE_REDUCE_SUM, dtype, parts, 3, 1.0, a, N), AXLE_OK);     \
        for (int k = 0; k < N; k++)                                                                \
            assert_true(a[k] == (type)((type)(k * 7 - 90) + b[k] + c[k]));                         \
        assert_int_equal(axle__combine(AXLE_REDUCE_MIN, dtype, parts, 3, 1.0, c, N), AXLE_OK);     \
        for (int k = 0; k < N; k++) {                                                              \
            type least = a[k] < b[k] ? a[k] : b[k];                                                \
            assert_true(c[k] == ((type)(3 * k) < least ? (type)(3 * k) : least));                  \
        }                                                                                          \
    }
INTEGERS(u8, uint8_t, AXLE_DTYPE_U8)
INTEGERS(i32, int32_t, AXLE_DTYPE_I32)
INTEGERS(i64, int64_t, AXLE_DTYPE_I64)
INTEGERS(f32, float, AXLE_DTYPE_F32)
INTEGERS(f64, double, AXLE_DTYPE_F64)

static void every_element_is_combined(void **state)
{
    (void)state;
    add_u8();
    add_i32();
    add_i64();
    add_f32();
    add_f64();
}

static void large_integers_are_exact(void **state)
{
    (void)state;
    int64_t a[] = {INT64_C(9007199254740993), INT64_MAX}, b[] = {2, 1}, out[2];
    assert_int_equal(
        axle__combine(AXLE_REDUCE_SUM, AXLE_DTYPE_I64, (const void *[]){a, b}, 2, 1.0, out, 2),
        AXLE_OK);
    assert_true(out[0] == INT64_C(9007199254740995) && out[1] == INT64_MIN);
}

static void booleans_are_any_and_all(void **state)
{
    (void)state;
    uint8_t a[] = {0, 0, 1, 1}, b[] = {0, 1, 0, 1}, out[4];
    const void *parts[] = {a, b};
    assert_int_equal(axle__combine(AXLE_REDUCE_MAX, AXLE_DTYPE_BOOL, parts, 2, 1.0, out, 4),
                     AXLE_OK);
    assert_memory_equal(out, ((uint8_t[]){0, 1, 1, 1}), 4);
    assert_int_equal(axle__combine(AXLE_REDUCE_MIN, AXLE_DTYPE_BOOL, parts, 2, 1.0, out, 4),
                     AXLE_OK);
    assert_memory_equal(out, ((uint8_t[]){0, 0, 0, 1}), 4);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    assert_int_equal(axle__combine_check(AXLE_REDUCE_MEAN, AXLE_DTYPE_I32), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "mean of i32");
    assert_int_equal(axle__combine_check(AXLE_REDUCE_SUM, AXLE_DTYPE_BOOL), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "any");
    assert_int_equal(axle__combine_check(AXLE_REDUCE_SUM, 99), AXLE_ERR_DTYPE);
    unit_expect_error(AXLE_ERR_DTYPE, "99");
    assert_int_equal(axle__combine_check(77, AXLE_DTYPE_F32), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "77");
}

static const struct CMUnitTest tests[] = {
    UNIT("bf16 is added as numbers and rounded once", bf16_is_added_as_numbers),
    UNIT("f16 is added as numbers; a mean does not overflow", f16_is_added_as_numbers),
    UNIT("f32 is added in f64 and rounded once", f32_is_rounded_once),
    UNIT("f32 of any number of processes is added in their order", f32_is_added_in_order),
    UNIT("f64 is rounded to the nearest half-precision number", halves_are_rounded_to_the_nearest),
    UNIT("NaN wins over all numbers, wherever it stands", nan_wins),
    UNIT("every half-precision number survives", every_half_survives),
    UNIT("blocks and rests are combined, also in place", every_element_is_combined),
    UNIT("sums of large integers are exact, and wrap", large_integers_are_exact),
    UNIT("booleans combine to any and all", booleans_are_any_and_all),
    UNIT("a mean of integers, a sum of booleans and unknown words are refused",
         what_makes_no_sense_is_refused),
};
UNIT_MAIN(tests)
