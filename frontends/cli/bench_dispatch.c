/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of an operator costs: one add of two scalars. */
#include <stdlib.h>

#include "bench.h"

enum { ADDS = 1000 };

typedef struct operands {
    axle_tensor *a, *b;
    int record; /* for the gradient */
} operands;

/* A scope of adds: the end of each result's life is part of its cost. */
static int add_many(void *user)
{
    const operands *o = user;
    int failed = 0;
    if (axle_scope_push())
        return -1;
    if (!o->record)
        axle_no_grad_push();
    for (int k = 0; k < ADDS && !failed; k++)
        failed = !axle_add(o->a, o->b);
    if (!o->record)
        axle_no_grad_pop();
    axle_scope_pop();
    return failed;
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    operands *o = malloc(sizeof(*o));
    if (!o)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    *o = (operands){axle_scalar(AXLE_DTYPE_F32, 1.0), axle_scalar(AXLE_DTYPE_F32, 2.0),
                    *(const int *)subject->params};
    out->work = (bench_work){add_many, o, backend->device};
    if (!o->a || !o->b)
        return axle_error_code();
    return axle_tensor_set_requires_grad(o->a, 1);
}

static void release(bench_pair *pair)
{
    free(pair->work.user);
}

int bench_dispatch(const bench_settings *settings)
{
    static const char *const about[] = {"add without gradient", "add with gradient"};
    int code = AXLE_OK;
    for (int record = 1; record >= 0 && !code; record--) {
        bench_subject subject = {.what = "dispatch",
                                 .about = about[record],
                                 .unit = BENCH_US,
                                 .params = &record,
                                 .create = create,
                                 .release = release,
                                 .runs = ADDS};
        code = bench_compare(settings, &subject);
    }
    return code;
}
