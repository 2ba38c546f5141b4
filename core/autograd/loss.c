/* SPDX-License-Identifier: Apache-2.0 */
/* Losses. */
#include "axle/ops.h"

#include <string.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "autograd/ops.h"
#include "tensor/elementwise.h"
#include "tensor/reduce.h"
#include "tensor/run.h"
#include "tensor/shape.h"

/* ------------------------------------------------------------------ cross-entropy */

/* Logits (N, C, S) and targets (N, S) as the operator wants them. */
typedef struct entropy_record {
    axle_cross_entropy_attrs attrs;
    int64_t n, c, s;
} entropy_record;

static axle_view cube(const axle_tensor *x, const entropy_record *r)
{
    axle_view view = {.buffer = x->view.buffer,
                      .offset = x->view.offset,
                      .dtype = x->view.dtype,
                      .rank = 3,
                      .dim = {r->n, r->c, r->s},
                      .stride = {r->c * r->s, r->s, 1}};
    return view;
}

static axle_view loss_view(const axle_tensor *loss, const entropy_record *r)
{
    bool each = r->attrs.reduction == AXLE_REDUCTION_NONE;
    return axle__matrix_view(loss, each ? r->n : 1, each ? r->s : 1);
}

/* Kept: logits, target, weight, lse, total. */
static int entropy_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const entropy_record *r = node->attrs;
    axle_tensor *logits = axle__saved(node, 0), *g = axle__row_major("cross_entropy", dy[0]);
    dx[0] = axle__result("cross_entropy", logits->device, (int)axle__dtype(logits),
                         axle__rank(logits), logits->view.dim);
    if (!g || !dx[0])
        return axle_error_code();
    axle_view gv = loss_view(g, r), xv = cube(logits, r), dv = cube(dx[0], r);
    axle_view target = axle__matrix_view(axle__saved(node, 1), r->n, r->s);
    axle_view lse = axle__matrix_view(axle__saved(node, 3), r->n, r->s);
    axle_view total = axle__matrix_view(axle__saved(node, 4), 1, 1);
    axle__call call = AXLE__CALL(AXLE_OP_CROSS_ENTROPY_BACKWARD, r->attrs);
    axle__call_view_in(&call, &gv);
    axle__call_view_in(&call, &xv);
    axle__call_view_in(&call, &target);
    axle__call_in(&call, axle__saved(node, 2));
    axle__call_view_in(&call, &lse);
    axle__call_view_in(&call, &total);
    axle__call_view_out(&call, &dv);
    return axle__run(&call, logits);
}

static const axle__rule entropy_rule = {"cross_entropy", entropy_backward, NULL};

static bool target_fits(const axle_tensor *logits, const axle_tensor *target)
{
    if (axle__rank(target) != axle__rank(logits) - 1 || target->view.dim[0] != logits->view.dim[0])
        return false;
    for (int k = 1; k < axle__rank(target); k++)
        if (target->view.dim[k] != logits->view.dim[k + 1])
            return false;
    return true;
}

static bool check_entropy(const axle_tensor *logits, const axle_tensor *target,
                          const axle_cross_entropy_params *p)
{
    const char *who = "cross_entropy";
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (axle__check_float(who, logits) || axle__check_rank_at_least(who, logits, 2) ||
        axle__check_index_dtype(who, target) || axle__check_same_device(who, logits, target) ||
        (p->weight && axle__check_pair(who, logits, p->weight)) ||
        axle__check_fixed(who, "weight", p->weight))
        return false;
    if (!target_fits(logits, target)) {
        axle_error_set(AXLE_ERR_SHAPE, "cross_entropy: target %s does not fit logits %s",
                       axle__shape_text(target, ta), axle__shape_text(logits, tb));
        return false;
    }
    if (p->weight && (axle__rank(p->weight) != 1 || p->weight->count != logits->view.dim[1])) {
        axle_error_set(AXLE_ERR_SHAPE, "cross_entropy: weight %s does not fit logits %s",
                       axle__shape_text(p->weight, ta), axle__shape_text(logits, tb));
        return false;
    }
    if (p->reduction < AXLE_LOSS_NONE || p->reduction > AXLE_LOSS_SUM ||
        !(p->label_smoothing >= 0.0 && p->label_smoothing <= 1.0)) {
        axle_error_set(AXLE_ERR_INVALID, "cross_entropy: reduction %d, label smoothing %g",
                       p->reduction, p->label_smoothing);
        return false;
    }
    return true;
}

axle_tensor *axle_cross_entropy(axle_tensor *logits, axle_tensor *target,
                                const axle_cross_entropy_params *params)
{
    axle_cross_entropy_params defaults = AXLE_CROSS_ENTROPY_PARAMS_INIT;
    const axle_cross_entropy_params *p = params ? params : &defaults;
    axle_cross_entropy_params cast = *p;
    const char *who = "cross_entropy";
    p = &cast;
    if (!AXLE__AUTOCAST(cross_entropy, &logits, &cast.weight) || !logits || !target ||
        !check_entropy(logits, target, p) || !(logits = axle_contiguous(logits)) ||
        !(target = axle__row_major(who, target)))
        return NULL;
    entropy_record r = {
        {sizeof(r.attrs), (uint32_t)p->reduction, p->ignore_index, p->label_smoothing},
        logits->view.dim[0],
        logits->view.dim[1],
        1};
    for (int k = 2; k < axle__rank(logits); k++)
        r.s *= logits->view.dim[k];
    int dtype = (int)axle__dtype(logits);
    int stat = dtype == AXLE_DTYPE_F64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
    bool each = p->reduction == AXLE_LOSS_NONE;
    axle_tensor *loss =
        axle__result(who, logits->device, dtype, each ? axle__rank(target) : 0, target->view.dim);
    axle_tensor *lse = axle__result(who, logits->device, stat, 1, &target->count);
    axle_tensor *total = axle__result(who, logits->device, stat, 0, NULL);
    if (!loss || !lse || !total)
        return NULL;
    axle_view xv = cube(logits, &r), tv = axle__matrix_view(target, r.n, r.s),
              yv = loss_view(loss, &r);
    axle_view lv = axle__matrix_view(lse, r.n, r.s), sv = axle__matrix_view(total, 1, 1);
    axle__call call = AXLE__CALL(AXLE_OP_CROSS_ENTROPY, r.attrs);
    axle__call_view_in(&call, &xv);
    axle__call_view_in(&call, &tv);
    axle__call_in(&call, p->weight);
    axle__call_view_out(&call, &yv);
    axle__call_view_out(&call, &lv);
    axle__call_view_out(&call, &sv);
    if (axle__run(&call, logits))
        return NULL;
    axle_tensor *keep[] = {logits, target, p->weight, lse, total};
    return axle__record(&entropy_rule, loss, &logits, 1, keep, 5, &r, sizeof(r));
}

/* ------------------------------------------------------------------ the others */

static axle_tensor *reduced(axle_tensor *each, int reduction)
{
    if (reduction == AXLE_LOSS_NONE)
        return each;
    return reduction == AXLE_LOSS_MEAN ? axle_mean_all(each) : axle_sum_all(each);
}

/* Both are floats that broadcast. */
static bool check_operands(const char *who, const axle_tensor *x, const axle_tensor *other)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    int rank;
    int64_t dims[AXLE_MAX_RANK];
    if (axle__check_float(who, x) || axle__check_pair(who, x, other))
        return false;
    if (axle__broadcast(axle__rank(x), x->view.dim, axle__rank(other), other->view.dim, &rank,
                        dims))
        return true;
    axle_error_set(AXLE_ERR_SHAPE, "%s: dims %s and %s do not broadcast", who,
                   axle__shape_text(x, ta), axle__shape_text(other, tb));
    return false;
}

static bool check_loss(const char *who, const axle_tensor *x, const axle_tensor *target,
                       int reduction)
{
    if (!x || !target || !check_operands(who, x, target))
        return false;
    if (reduction >= AXLE_LOSS_NONE && reduction <= AXLE_LOSS_SUM)
        return true;
    axle_error_set(AXLE_ERR_INVALID, "%s: there is no reduction %d", who, reduction);
    return false;
}

/* weight * ((1 - t) * x + (1 + (pos - 1) * t) * (log1p(exp(-|x|)) + max(-x, 0))). */
static axle_tensor *weighted_positives(axle_tensor *logits, axle_tensor *target,
                                       axle_tensor *pos_weight)
{
    axle_tensor *negatives = axle_mul(axle_affine(target, -1.0, 1.0), logits);
    axle_tensor *factor = axle_add_scalar(axle_mul(axle_add_scalar(pos_weight, -1.0), target), 1.0);
    axle_tensor *softplus = axle_neg(axle_log_sigmoid(logits));
    return axle_add(negatives, axle_mul(factor, softplus));
}

axle_tensor *axle_bce_with_logits(axle_tensor *logits, axle_tensor *target, axle_tensor *weight,
                                  axle_tensor *pos_weight, int reduction)
{
    const char *who = "bce_with_logits";
    if (!AXLE__AUTOCAST(bce_with_logits, &logits, &target, &weight, &pos_weight) ||
        !check_loss(who, logits, target, reduction) ||
        (weight && !check_operands(who, logits, weight)) ||
        (pos_weight && !check_operands(who, logits, pos_weight)))
        return NULL;
    axle_tensor *each = pos_weight ? weighted_positives(logits, target, pos_weight)
                                   : axle__bce_with_logits(logits, target);
    if (weight)
        each = axle_mul(each, weight);
    return reduced(each, reduction);
}

axle_tensor *axle_mse_loss(axle_tensor *x, axle_tensor *target, int reduction)
{
    return AXLE__AUTOCAST(mse_loss, &x, &target) && check_loss("mse_loss", x, target, reduction)
               ? reduced(axle_square(axle_sub(x, target)), reduction)
               : NULL;
}

axle_tensor *axle_l1_loss(axle_tensor *x, axle_tensor *target, int reduction)
{
    return AXLE__AUTOCAST(l1_loss, &x, &target) && check_loss("l1_loss", x, target, reduction)
               ? reduced(axle_abs(axle_sub(x, target)), reduction)
               : NULL;
}
