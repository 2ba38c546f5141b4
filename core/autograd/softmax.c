/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and attention. */
#include "axle/ops.h"

#include <math.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/random.h"
#include "tensor/run.h"
#include "tensor/shape.h"

static int softmax_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_softmax_attrs attrs = *(const axle_softmax_attrs *)node->attrs;
    axle_tensor *y = axle__saved(node, 0);
    dx[0] =
        axle__result(node->rule->name, y->device, (int)axle__dtype(y), axle__rank(y), y->view.dim);
    axle__call call = AXLE__CALL(AXLE_OP_SOFTMAX_BACKWARD, attrs);
    axle__call_in(&call, dy[0]);
    axle__call_in(&call, y);
    axle__call_out(&call, dx[0]);
    return dx[0] ? axle__run(&call, y) : axle_error_code();
}

static const axle__rule softmax_rule = {"softmax", softmax_backward, NULL};
static const axle__rule masked_softmax_rule = {"masked_softmax", softmax_backward, NULL};
static const axle__rule log_softmax_rule = {"log_softmax", softmax_backward, NULL};

/* View of a mask repeated to x's dims; false and an error where it does not fit. */
static bool mask_view(const char *who, const axle_tensor *mask, const axle_tensor *x, int rank,
                      const int64_t *dims, axle_view *view)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    int64_t wide[AXLE_MAX_RANK];
    int wide_rank;
    if (axle__check_same_device(who, x, mask) || axle__check_fixed(who, "mask", mask))
        return false;
    if (axle__dtype(mask) != AXLE_DTYPE_BOOL && axle__check_same_dtype(who, x, mask))
        return false;
    if (!axle__broadcast(axle__rank(mask), mask->view.dim, rank, dims, &wide_rank, wide) ||
        !axle__dims_equal(wide_rank, wide, rank, dims)) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: mask %s does not repeat to %s", who,
                       axle__shape_text(mask, ta), axle__dims_text(rank, dims, tb));
        return false;
    }
    *view = mask->view;
    axle__view_expand(view, rank, dims);
    return true;
}

static axle_tensor *softmax(const axle__rule *rule, bool log, axle_tensor *x, axle_tensor *mask,
                            int dim)
{
    axle_view view;
    if (!AXLE__AUTOCAST(softmax, &x) || !x || axle__check_float(rule->name, x))
        return NULL;
    int axis = axle__dim_index(rule->name, axle__rank(x), dim);
    if (axis < 0 || (mask && !mask_view(rule->name, mask, x, axle__rank(x), x->view.dim, &view)))
        return NULL;
    axle_softmax_attrs attrs = {sizeof(attrs), (uint32_t)axis, log, 0, 1.0};
    axle_tensor *y =
        axle__result(rule->name, x->device, (int)axle__dtype(x), axle__rank(x), x->view.dim);
    axle__call call = AXLE__CALL(AXLE_OP_SOFTMAX, attrs);
    axle__call_in(&call, x);
    axle__call_view_in(&call, mask ? &view : NULL);
    axle__call_out(&call, y);
    if (!y || axle__run(&call, y))
        return NULL;
    return axle__record(rule, y, &x, 1, &y, 1, &attrs, sizeof(attrs));
}

axle_tensor *axle_softmax(axle_tensor *x, int dim)
{
    return softmax(&softmax_rule, false, x, NULL, dim);
}

axle_tensor *axle_log_softmax(axle_tensor *x, int dim)
{
    return softmax(&log_softmax_rule, true, x, NULL, dim);
}

axle_tensor *axle_masked_softmax(axle_tensor *x, axle_tensor *mask, int dim)
{
    if (!x || !mask)
        return NULL;
    if (axle__dtype(mask) == AXLE_DTYPE_BOOL)
        return softmax(&masked_softmax_rule, false, x, mask, dim);
    axle_error_set(AXLE_ERR_DTYPE, "masked_softmax: the mask must be bool, got %s",
                   axle_dtype_name((int)axle__dtype(mask)));
    return NULL;
}

/* ------------------------------------------------------------------ attention */

typedef struct attention_record {
    axle_attention_attrs attrs;
    uint64_t seed, offset;
} attention_record;

/* The call with q, k, v and mask; the view of the mask is written to `view`. */
static bool add_operands(axle__call *call, axle_tensor *q, axle_tensor *k, axle_tensor *v,
                         axle_tensor *mask, axle_view *view)
{
    int64_t dims[] = {q->view.dim[0], q->view.dim[1], q->view.dim[2], k->view.dim[2]};
    if (mask && !mask_view("attention", mask, q, 4, dims, view))
        return false;
    axle__call_in(call, q);
    axle__call_in(call, k);
    axle__call_in(call, v);
    axle__call_view_in(call, mask ? view : NULL);
    return true;
}

/* Kept: q, k, v, mask, y, lse. */
static int attention_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const attention_record *r = node->attrs;
    axle_view view;
    axle__call call = AXLE__CALL(AXLE_OP_ATTENTION_BACKWARD, r->attrs);
    call.rng_seed = r->seed;
    call.rng_offset = r->offset;
    axle__call_in(&call, dy[0]);
    if (!add_operands(&call, axle__saved(node, 0), axle__saved(node, 1), axle__saved(node, 2),
                      axle__saved(node, 3), &view))
        return axle_error_code();
    axle__call_in(&call, axle__saved(node, 4));
    axle__call_in(&call, axle__saved(node, 5));
    for (int k = 0; k < 3; k++) {
        axle_tensor *like = axle__saved(node, k);
        if (axle__wanted(node, k) &&
            !(dx[k] = axle__result("attention", like->device, (int)axle__dtype(like), 4,
                                   like->view.dim)))
            return axle_error_code();
        axle__call_out(&call, dx[k]);
    }
    /* Without any key or query no kernel runs, and nothing flows back. */
    if (axle__saved(node, 4)->count == 0 || axle__saved(node, 1)->view.dim[2] == 0) {
        for (int k = 0; k < 3; k++)
            if (dx[k] && axle__fill(dx[k], 0.0))
                return axle_error_code();
        return AXLE_OK;
    }
    return axle__run(&call, dy[0]);
}

static const axle__rule attention_rule = {"attention", attention_backward, NULL};

static bool check_attention(const axle_tensor *q, const axle_tensor *k, const axle_tensor *v)
{
    char tq[AXLE__DIMS_TEXT], tk[AXLE__DIMS_TEXT], tv[AXLE__DIMS_TEXT];
    if (axle__check_float("attention", q) || axle__check_pair("attention", q, k) ||
        axle__check_pair("attention", q, v))
        return false;
    const int64_t *dq = q->view.dim, *dk = k->view.dim, *dv = v->view.dim;
    if (axle__rank(q) == 4 && axle__rank(k) == 4 && axle__rank(v) == 4 && dq[0] == dk[0] &&
        dq[0] == dv[0] && dq[1] == dk[1] && dq[1] == dv[1] && dq[3] == dk[3] && dk[2] == dv[2])
        return true;
    axle_error_set(AXLE_ERR_SHAPE,
                   "attention: query %s, key %s and value %s do not fit (B, H, L, D), (B, H, S, D) "
                   "and (B, H, S, E)",
                   axle__shape_text(q, tq), axle__shape_text(k, tk), axle__shape_text(v, tv));
    return false;
}

axle_tensor *axle_attention(axle_tensor *q, axle_tensor *k, axle_tensor *v, axle_tensor *mask,
                            const axle_attention_params *params)
{
    axle_attention_params defaults = AXLE_ATTENTION_PARAMS_INIT;
    const axle_attention_params *p = params ? params : &defaults;
    axle_view view;
    if (!AXLE__AUTOCAST(attention, &q, &k, &v, &mask) || !q || !k || !v ||
        !check_attention(q, k, v))
        return NULL;
    if (!(p->dropout >= 0.0 && p->dropout <= 1.0)) {
        axle_error_set(AXLE_ERR_INVALID, "attention: dropout %g is not in [0, 1]", p->dropout);
        return NULL;
    }
    const int64_t *dq = q->view.dim;
    double scale = p->scale != 0.0 ? p->scale : 1.0 / sqrt((double)(dq[3] > 0 ? dq[3] : 1));
    attention_record r = {.attrs = {sizeof(r.attrs), p->causal != 0, scale, p->dropout}};
    if (p->dropout > 0.0) {
        r.seed = axle__random_next_key();
        r.offset = (uint64_t)(axle_random_get().row * dq[1] * dq[2] * k->view.dim[2]);
    }
    int64_t dims[] = {dq[0], dq[1], dq[2], v->view.dim[3]};
    int stat = axle__dtype(q) == AXLE_DTYPE_F64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
    axle_tensor *in[] = {q, k, v};
    axle_tensor *y = axle__result("attention", q->device, (int)axle__dtype(q), 4, dims);
    bool keep_lse = axle__recording(in, 3);
    axle_tensor *lse = keep_lse ? axle__result("attention", q->device, stat, 3, dims) : NULL;
    if (!y || (keep_lse && !lse))
        return NULL;
    axle__call call = AXLE__CALL(AXLE_OP_ATTENTION, r.attrs);
    call.rng_seed = r.seed;
    call.rng_offset = r.offset;
    if (!add_operands(&call, q, k, v, mask, &view))
        return NULL;
    axle__call_out(&call, y);
    axle__call_out(&call, lse);
    if (axle__run(&call, y))
        return NULL;
    axle_tensor *keep[] = {q, k, v, mask, y, lse};
    return axle__record(&attention_rule, y, in, 3, keep, 6, &r, sizeof(r));
}
