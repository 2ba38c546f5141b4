/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of an operator costs: one add of two scalars. */
#include "bench.h"

enum { ADDS = 1000 };

typedef struct operands {
    axle_tensor *a, *b;
} operands;

/* A scope of adds: the end of each result's life is part of its cost. */
static int add_many(void *user)
{
    const operands *o = user;
    int failed = 0;
    if (axle_scope_push())
        return -1;
    for (int k = 0; k < ADDS && !failed; k++)
        failed = !axle_add(o->a, o->b);
    axle_scope_pop();
    return failed;
}

static int measure(const bench_settings *settings, const char *about, operands *o)
{
    bench_times times;
    int code = bench_measure((bench_work){add_many, o}, (bench_work){NULL, NULL}, settings->repeat,
                             &times);
    if (code)
        return code;
    times.subject /= ADDS;
    return bench_report(settings, "dispatch", about, BENCH_US, times, NULL, NULL);
}

static int measure_both(const bench_settings *settings)
{
    operands o = {axle_scalar(AXLE_DTYPE_F32, 1.0), axle_scalar(AXLE_DTYPE_F32, 2.0)};
    if (!o.a || !o.b)
        return axle_error_code();
    int code = axle_tensor_set_requires_grad(o.a, 1);
    if (!code)
        code = measure(settings, "add with gradient", &o);
    if (code)
        return code;
    axle_no_grad_push();
    code = measure(settings, "add without gradient", &o);
    axle_no_grad_pop();
    return code;
}

int bench_dispatch(const bench_settings *settings)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = measure_both(settings);
    axle_scope_pop();
    return code;
}
