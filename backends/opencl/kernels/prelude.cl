/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all kernels share. OpenCL C 1.2 without optional features; doubles only where HAVE_F64 is
 * defined. A build defines
 *
 *   REAL      f32 or f64: `real` is what elements are computed in; R(0.5) is a literal of it
 *   HAVE_F64  the device has doubles; `wide`, in which sums are kept, then is double
 *   ON_CPU    the device is a CPU
 *
 * ONE_KERNEL and WITH_name=1 where it needs that kernel alone, and types of operands by name:
 * LOAD(TX, x, i) reads element i of x as what TX computes in, STORE(TY, y, i, v) writes it.
 */
#pragma OPENCL FP_CONTRACT OFF
#ifdef HAVE_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
/* The same for names of macros whose text uses JOIN in turn, which a macro cannot do itself. */
#define SELECT_(a, b) a##b
#define SELECT(a, b) SELECT_(a, b)

/* Whether a program needs a kernel. Builds of files with large ones name the one that they need,
 * for drivers take as long over those that nobody runs. */
#ifdef ONE_KERNEL
#define NEEDED(name) JOIN(WITH_, name)
#else
#define NEEDED(name) 1
#endif

/* Element types: what is stored, what is computed in. b1 to b8 only move. */
typedef float stored_f32;
typedef ushort stored_f16;
typedef ushort stored_bf16;
typedef uchar stored_u8;
typedef int stored_i32;
typedef long stored_i64;
typedef uchar stored_bool;
typedef uchar stored_b1;
typedef ushort stored_b2;
typedef uint stored_b4;
typedef ulong stored_b8;
typedef float number_f32;
typedef float number_f16;
typedef float number_bf16;
typedef long number_u8;
typedef long number_i32;
typedef long number_i64;
typedef long number_bool;
typedef uchar number_b1;
typedef ushort number_b2;
typedef uint number_b4;
typedef ulong number_b8;
#ifdef HAVE_F64
typedef double stored_f64;
typedef double number_f64;
#endif

#define STORED(T) JOIN(stored_, T)
#define NUMBER(T) JOIN(number_, T)
#define LOAD(T, p, i) JOIN(load_, T)(p, i)
#define STORE(T, p, i, v) JOIN(store_, T)(p, i, v)

typedef NUMBER(REAL) real;
#define JOIN_SUFFIX_f32(x) x##f
#define JOIN_SUFFIX_f64(x) x
#define R(x) JOIN(JOIN_SUFFIX_, REAL)(x)

#ifdef HAVE_F64
typedef double wide;
#define W(x) x
#else
typedef float wide;
#define W(x) x##f
#endif

/* Arguments: the table of numbers, which every kernel has first, and an operand. ENTER and
 * OPERAND at the head of the body make them ready. */
#define TABLE __constant const long *P, ulong P_at
#define ENTER P += P_at
#define IN(T, name) __global const STORED(T) *name, ulong name##_at
#define OUT(T, name) __global STORED(T) *name, ulong name##_at
#define OPERAND(name) name += name##_at

/* The elements of a work-item: one, or CHUNK on CPU devices, in a loop that compilers vectorise.
 * Elements do not depend on each other, even where a result replaces an operand. */
#ifdef CHUNK
#define FOR_EACH(i, n)                                                                             \
    const long i##_last = min(((long)get_global_id(0) + 1) * CHUNK, n);                            \
    _Pragma("clang loop vectorize(assume_safety)")                                                 \
    for (long i = (long)get_global_id(0) * CHUNK; i < i##_last; i++)
#else
#define FOR_EACH(i, n)                                                                             \
    const long i = get_global_id(0);                                                               \
    if (i < (n))
#endif

/* A map is rank, 10 dims, 10 strides an operand. The place of element i in operand k: */
#define MAP_DIMS 10
#define MAP_SIZE(operands) (1 + MAP_DIMS * (1 + (operands)))
static long map_place(__constant const long *map, int k, long i)
{
    __constant const long *stride = map + 1 + MAP_DIMS * (1 + k);
    long at = 0;
    for (int d = (int)map[0] - 1; d > 0; d--) {
        const long n = map[1 + d], q = i / n;
        at += (i - q * n) * stride[d];
        i = q;
    }
    return map[0] > 0 ? at + i * stride[0] : 0;
}

static float load_f32(__global const float *p, long i)
{
    return p[i];
}
static void store_f32(__global float *p, long i, float v)
{
    p[i] = v;
}

static float load_f16(__global const ushort *p, long i)
{
    const uint bits = p[i], magnitude = bits & 0x7fffu;
    uint u = magnitude << 13;
    if (magnitude >= 0x7c00u)
        u |= 0x7f800000u;
    else
        u = as_uint(as_float(u) * 0x1p112f);
    return as_float(u | (bits & 0x8000u) << 16);
}
/* Round to nearest, ties to even. */
static ushort f16_bits(float value)
{
    uint u = as_uint(value);
    const uint sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u)
        return (ushort)(sign | 0x7e00u | (u >> 13 & 0x1ffu));
    if (u >= 0x477ff000u)
        return (ushort)(sign | 0x7c00u);
    if (u < 0x38800000u)
        return (ushort)(sign | (as_uint(as_float(u) + 0.5f) - 0x3f000000u));
    u += 0xfffu + (u >> 13 & 1u);
    return (ushort)(sign | (u - 0x38000000u) >> 13);
}
static void store_f16(__global ushort *p, long i, float v)
{
    p[i] = f16_bits(v);
}

static float load_bf16(__global const ushort *p, long i)
{
    return as_float((uint)p[i] << 16);
}
static ushort bf16_bits(float value)
{
    const uint u = as_uint(value);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (ushort)(u >> 16 | 0x40u);
    return (ushort)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
static void store_bf16(__global ushort *p, long i, float v)
{
    p[i] = bf16_bits(v);
}

#ifdef HAVE_F64
static double load_f64(__global const double *p, long i)
{
    return p[i];
}
static void store_f64(__global double *p, long i, double v)
{
    p[i] = v;
}
#endif

/* Mesa 22.3 compares an int that was made a long as if it had no sign. Its bits, moved up and down
 * again, give the same number and come out right. */
#define WIDEN_u8(x) (x)
#define WIDEN_i32(x) ((long)(((uint)(x) ^ 0x80000000u) - 0x80000000ul))
#define WIDEN_i64(x) (x)
#define INTEGER_ACCESS(T)                                                                          \
    static long load_##T(__global const stored_##T *p, long i)                                     \
    {                                                                                              \
        return WIDEN_##T(p[i]);                                                                    \
    }                                                                                              \
    static void store_##T(__global stored_##T *p, long i, long v)                                  \
    {                                                                                              \
        p[i] = (stored_##T)v;                                                                      \
    }
INTEGER_ACCESS(u8)
INTEGER_ACCESS(i32)
INTEGER_ACCESS(i64)

static long load_bool(__global const uchar *p, long i)
{
    return p[i] != 0;
}
static void store_bool(__global uchar *p, long i, long v)
{
    p[i] = v != 0;
}

#define BIT_ACCESS(T)                                                                              \
    static stored_##T load_##T(__global const stored_##T *p, long i)                               \
    {                                                                                              \
        return p[i];                                                                               \
    }                                                                                              \
    static void store_##T(__global stored_##T *p, long i, stored_##T v)                            \
    {                                                                                              \
        p[i] = v;                                                                                  \
    }
BIT_ACCESS(b1)
BIT_ACCESS(b2)
BIT_ACCESS(b4)
BIT_ACCESS(b8)

/*
 * A sum that many elements may go into. Where wide has more bits than the elements a plain sum is
 * exact enough; else what each addition loses is kept beside it.
 */
typedef struct total {
    wide sum, lost;
} total;
#if defined(HAVE_F64) && !defined(COMPENSATE)
#define TOTAL_ADD(t, v) ((t).sum += (v))
#define TOTAL(t) ((t).sum)
#else
#define TOTAL_ADD(t, v) total_add(&(t), v)
#define TOTAL(t) ((t).sum + (isfinite((t).lost) ? (t).lost : 0))
static void total_add(total *t, wide v)
{
    const wide sum = t->sum + v;
    t->lost += fabs(t->sum) >= fabs(v) ? (t->sum - sum) + v : (v - sum) + t->sum;
    t->sum = sum;
}
#endif

/* The record of the first index out of range; its twin is ocl_fault. */
typedef struct fault {
    volatile int raised, op;
    volatile long value, limit;
} fault;
#define FAULT __global fault *faults
static void raise(FAULT, int op, long value, long limit)
{
    if (atomic_cmpxchg(&faults->raised, 0, 1) != 0)
        return;
    faults->op = op;
    faults->value = value;
    faults->limit = limit;
}
