/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of SGD, ADAM and RMSPROP. What depends on the step is computed here, in f64. */
#include "planners.h"

#include <math.h>

enum { LOCAL = 256, EACH = 1024 };

static void sgd_scalars(const void *attrs, const void *scalars, double out[OCL_SCALARS])
{
    const axle_sgd_attrs *a = attrs;
    const axle_sgd_scalars *s = scalars;
    out[0] = a->maximize ? -s->grad_scale : s->grad_scale;
    out[1] = s->lr;
    out[2] = s->momentum;
    out[3] = 1 - s->dampening;
    out[4] = s->weight_decay;
    out[5] = s->first != 0;
}

static void adam_scalars(const void *attrs, const void *scalars, double out[OCL_SCALARS])
{
    const axle_adam_attrs *a = attrs;
    const axle_adam_scalars *s = scalars;
    out[0] = a->maximize ? -s->grad_scale : s->grad_scale;
    out[1] = a->decoupled ? 0 : s->weight_decay;
    out[2] = s->beta1;
    out[3] = 1 - s->beta1;
    out[4] = s->beta2;
    out[5] = 1 - s->beta2;
    out[6] = sqrt(s->bias2);
    out[7] = s->eps;
    out[8] = a->decoupled ? 1 - s->lr * s->weight_decay : 1;
    out[9] = s->lr / s->bias1;
}

static void rmsprop_scalars(const void *attrs, const void *scalars, double out[OCL_SCALARS])
{
    const axle_rmsprop_attrs *a = attrs;
    const axle_rmsprop_scalars *s = scalars;
    out[0] = a->maximize ? -s->grad_scale : s->grad_scale;
    out[1] = s->lr;
    out[2] = s->alpha;
    out[3] = 1 - s->alpha;
    out[4] = s->eps;
    out[5] = s->weight_decay;
    out[6] = s->momentum;
}

/* Whether grad and outputs are alike and dense, and the first `needed` outputs are there. */
static int accepts(const ocl_plan *plan, uint32_t needed)
{
    const axle_view *grad = plan->in[0];
    if (!ocl_is(grad, 1 << AXLE_DTYPE_F32 | 1 << AXLE_DTYPE_F64))
        return 0;
    for (int k = -1; k < 4; k++) {
        const axle_view *view = k < 0 ? grad : plan->out[k];
        ocl_map map = {0};
        if (!view) {
            if (k < (int)needed)
                return 0;
            continue;
        }
        ocl_map_views(&map, &view, 1, 0, view->rank);
        if (view->dtype != grad->dtype || ocl_count(view) != ocl_count(grad) ||
            !ocl_map_is_dense(&map, 0))
            return 0;
    }
    return 1;
}

/* n, the other numbers, the operands and the scalars: what all three kernels get. A work-item does
 * `each` elements. */
static int step(ocl_plan *plan, const char *kernel, const int64_t numbers[2], uint32_t outputs,
                ocl_scalars_fn scalars, int64_t each)
{
    const int64_t n = ocl_count(plan->in[0]);
    ocl_step_begin(plan, "prelude optimizer", kernel, (n + each - 1) / each, each > 1 ? 1 : LOCAL,
                   "%s", "");
    ocl_put(plan, n);
    ocl_put(plan, numbers[0]);
    ocl_put(plan, numbers[1]);
    ocl_arg_in(plan, 0);
    for (uint32_t k = 0; k < outputs; k++)
        ocl_arg_out(plan, k);
    ocl_arg_scalars(plan, scalars);
    return 1;
}

int ocl_plan_sgd(ocl_plan *plan)
{
    const int64_t numbers[2] = {plan->out[1] != NULL, plan->attrs.sgd.nesterov != 0};
    return accepts(plan, 1) && step(plan, "sgd", numbers, 2, sgd_scalars, 1);
}

int ocl_plan_adam(ocl_plan *plan)
{
    const int64_t each = ocl_on_cpu(plan) ? EACH : 1;
    const int64_t numbers[2] = {plan->out[3] != NULL, each};
    return accepts(plan, 3) && step(plan, "adam", numbers, 4, adam_scalars, each);
}

int ocl_plan_rmsprop(ocl_plan *plan)
{
    const int64_t numbers[2] = {plan->out[2] != NULL, plan->out[3] != NULL};
    return accepts(plan, 2) && step(plan, "rmsprop", numbers, 4, rmsprop_scalars, 1);
}
