/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation. */
#include "axle/ops.h"

#include <string.h>

#include "autograd/autocast.h"
#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/run.h"
#include "tensor/shape.h"

/* Element type of statistics beside x. */
static int stat_dtype(const axle_tensor *x)
{
    return axle__dtype(x) == AXLE_DTYPE_F64 ? AXLE_DTYPE_F64 : AXLE_DTYPE_F32;
}

/* Targets for gradients of gamma and beta, inputs 1 and 2 of every rule here. */
static int affine_targets(axle__node *node, axle_tensor **dx)
{
    for (int k = 1; k <= 2; k++) {
        axle_tensor *like = axle__saved(node, k);
        if (!axle__wanted(node, k))
            continue;
        dx[k] = axle__grad_target(node, k, like->device, (int)axle__dtype(like), axle__rank(like),
                                  like->view.dim);
        if (!dx[k])
            return axle_error_code();
    }
    return AXLE_OK;
}

/* ------------------------------------------------------------------ layer and RMS norm */

typedef struct rows_record {
    axle_layer_norm_attrs attrs;
    int64_t rows, columns;
} rows_record;

/* Kept: x, gamma, beta, mean, rstd. */
static int rows_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    const rows_record *r = node->attrs;
    axle_tensor *x = axle__saved(node, 0), *gamma = axle__saved(node, 1);
    axle_tensor *g = axle__row_major(node->rule->name, dy[0]);
    if (!g || affine_targets(node, dx))
        return axle_error_code();
    if (axle__wanted(node, 0) &&
        !(dx[0] = axle__result(node->rule->name, x->device, (int)axle__dtype(x), axle__rank(x),
                               x->view.dim)))
        return axle_error_code();
    axle_view gv = axle__matrix_view(g, r->rows, r->columns),
              xv = axle__matrix_view(x, r->rows, r->columns);
    axle_view gamma_view = gamma ? axle__vector_view(gamma) : gv, dx_view, dg_view, db_view;
    axle__call call = AXLE__CALL(AXLE_OP_LAYER_NORM_BACKWARD, r->attrs);
    axle__call_view_in(&call, &gv);
    axle__call_view_in(&call, &xv);
    axle__call_view_in(&call, gamma ? &gamma_view : NULL);
    axle__call_in(&call, axle__saved(node, 3));
    axle__call_in(&call, axle__saved(node, 4));
    if (dx[0])
        dx_view = axle__matrix_view(dx[0], r->rows, r->columns);
    axle__call_view_out(&call, dx[0] ? &dx_view : NULL);
    if (dx[1])
        dg_view = axle__vector_view(dx[1]);
    axle__call_view_out(&call, dx[1] ? &dg_view : NULL);
    if (dx[2])
        db_view = axle__vector_view(dx[2]);
    axle__call_view_out(&call, dx[2] ? &db_view : NULL);
    return axle__run(&call, x);
}

static const axle__rule layer_rule = {"layer_norm", rows_backward, NULL};
static const axle__rule rms_rule = {"rms_norm", rows_backward, NULL};

static bool check_rows(const char *who, const axle_tensor *x, int n_dims, const axle_tensor *scale)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (!scale)
        return true;
    if (axle__check_pair(who, x, scale))
        return false;
    if (axle__dims_equal(axle__rank(scale), scale->view.dim, n_dims,
                         x->view.dim + axle__rank(x) - n_dims))
        return true;
    axle_error_set(AXLE_ERR_SHAPE, "%s: scale %s does not fit the last %d dims of %s", who,
                   axle__shape_text(scale, ta), n_dims, axle__shape_text(x, tb));
    return false;
}

static axle_tensor *normalise_rows(const axle__rule *rule, uint32_t kind, axle_tensor *x,
                                   int n_dims, axle_tensor *gamma, axle_tensor *beta, double eps)
{
    const char *who = rule->name;
    if (!AXLE__AUTOCAST(layer_norm, &x, &gamma, &beta) || !x || axle__check_float(who, x))
        return NULL;
    if (n_dims < 1 || n_dims > axle__rank(x)) {
        axle_error_set(AXLE_ERR_SHAPE, "%s: %d dims of a tensor of rank %d", who, n_dims,
                       axle__rank(x));
        return NULL;
    }
    if (!check_rows(who, x, n_dims, gamma) || !check_rows(who, x, n_dims, beta) ||
        !(x = axle_contiguous(x)) || (gamma && !(gamma = axle_contiguous(gamma))) ||
        (beta && !(beta = axle_contiguous(beta))))
        return NULL;
    rows_record r = {{sizeof(axle_layer_norm_attrs), kind, eps}, 1, 1};
    for (int k = 0; k < axle__rank(x); k++)
        *(k < axle__rank(x) - n_dims ? &r.rows : &r.columns) *= x->view.dim[k];
    axle_tensor *y = axle__result(who, x->device, (int)axle__dtype(x), axle__rank(x), x->view.dim);
    axle_tensor *mean =
        kind == AXLE_NORM_LAYER ? axle__result(who, x->device, stat_dtype(x), 1, &r.rows) : NULL;
    axle_tensor *rstd = axle__result(who, x->device, stat_dtype(x), 1, &r.rows);
    if (!y || !rstd || (kind == AXLE_NORM_LAYER && !mean))
        return NULL;
    axle_view xv = axle__matrix_view(x, r.rows, r.columns),
              yv = axle__matrix_view(y, r.rows, r.columns);
    axle_view gamma_view = gamma ? axle__vector_view(gamma) : xv,
              beta_view = beta ? axle__vector_view(beta) : xv;
    axle__call call = AXLE__CALL(AXLE_OP_LAYER_NORM, r.attrs);
    axle__call_view_in(&call, &xv);
    axle__call_view_in(&call, gamma ? &gamma_view : NULL);
    axle__call_view_in(&call, beta ? &beta_view : NULL);
    axle__call_view_out(&call, &yv);
    axle__call_out(&call, mean);
    axle__call_out(&call, rstd);
    if (axle__run(&call, y))
        return NULL;
    axle_tensor *in[] = {x, gamma, beta}, *keep[] = {x, gamma, beta, mean, rstd};
    return axle__record(rule, y, in, 3, keep, 5, &r, sizeof(r));
}

axle_tensor *axle_layer_norm(axle_tensor *x, int n_dims, axle_tensor *gamma, axle_tensor *beta,
                             double eps)
{
    return normalise_rows(&layer_rule, AXLE_NORM_LAYER, x, n_dims, gamma, beta, eps);
}

axle_tensor *axle_rms_norm(axle_tensor *x, axle_tensor *gamma, double eps)
{
    return normalise_rows(&rms_rule, AXLE_NORM_RMS, x, 1, gamma, NULL, eps);
}

/* ------------------------------------------------------------------ batch and group norm */

/* Run a backward call over (dy, x, gamma, mean, rstd) -> (dx, dgamma, dbeta). */
static int channels_backward(axle__node *node, axle__call *call, axle_tensor *const *dy,
                             axle_tensor **dx)
{
    axle_tensor *x = axle__saved(node, 0);
    if (affine_targets(node, dx))
        return axle_error_code();
    if (axle__wanted(node, 0) &&
        !(dx[0] = axle__elementwise_result(node->rule->name, (int)axle__dtype(x), axle__rank(x),
                                           x->view.dim, &x, 1)))
        return axle_error_code();
    axle__call_in(call, dy[0]);
    axle__call_in(call, x);
    axle__call_in(call, axle__saved(node, 1));
    axle__call_in(call, axle__saved(node, 3));
    axle__call_in(call, axle__saved(node, 4));
    axle__call_out(call, dx[0]);
    axle__call_out(call, dx[1]);
    axle__call_out(call, dx[2]);
    return axle__run(call, x);
}

static int batch_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_batch_norm_attrs attrs = *(const axle_batch_norm_attrs *)node->attrs;
    axle__call call = AXLE__CALL(AXLE_OP_BATCH_NORM_BACKWARD, attrs);
    return channels_backward(node, &call, dy, dx);
}

static int group_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    axle_group_norm_attrs attrs = *(const axle_group_norm_attrs *)node->attrs;
    axle__call call = AXLE__CALL(AXLE_OP_GROUP_NORM_BACKWARD, attrs);
    return channels_backward(node, &call, dy, dx);
}

static const axle__rule batch_rule = {"batch_norm", batch_backward, NULL};
static const axle__rule group_rule = {"group_norm", group_backward, NULL};

/* A vector with one number a channel, or NULL. */
static bool check_channels(const char *who, const axle_tensor *x, const axle_tensor *vector)
{
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    if (!vector)
        return true;
    if (axle__check_pair(who, x, vector))
        return false;
    if (axle__rank(vector) == 1 && vector->view.dim[0] == x->view.dim[1])
        return true;
    axle_error_set(AXLE_ERR_SHAPE, "%s: %s does not hold one number a channel of %s", who,
                   axle__shape_text(vector, ta), axle__shape_text(x, tb));
    return false;
}

static bool check_batch(const axle_tensor *x, const axle_tensor *mean, const axle_tensor *var,
                        int training)
{
    char text[AXLE__DIMS_TEXT];
    if (!mean != !var || (!training && !mean)) {
        axle_error_set(AXLE_ERR_INVALID, "batch_norm: running mean and variance come together, and "
                                         "evaluation needs them");
        return false;
    }
    if (training && x->count > 0 && x->count == x->view.dim[1]) {
        axle_error_set(AXLE_ERR_SHAPE,
                       "batch_norm: training wants more than one value a channel, got %s",
                       axle__shape_text(x, text));
        return false;
    }
    return true;
}

axle_tensor *axle_batch_norm(axle_tensor *x, axle_tensor *gamma, axle_tensor *beta,
                             axle_tensor *running_mean, axle_tensor *running_var, int training,
                             double momentum, double eps)
{
    const char *who = "batch_norm";
    if (!AXLE__AUTOCAST(batch_norm, &x, &gamma, &beta) || !x || axle__check_float(who, x) ||
        axle__check_rank_at_least(who, x, 2) || !check_channels(who, x, gamma) ||
        !check_channels(who, x, beta) || !check_channels(who, x, running_mean) ||
        !check_channels(who, x, running_var) ||
        !check_batch(x, running_mean, running_var, training) ||
        (training && running_mean &&
         (axle__check_writable(who, running_mean) || axle__check_writable(who, running_var))))
        return NULL;
    axle_batch_norm_attrs attrs = {sizeof(attrs), training != 0, eps, momentum};
    axle_tensor *y =
        axle__elementwise_result(who, (int)axle__dtype(x), axle__rank(x), x->view.dim, &x, 1);
    axle_tensor *mean = axle__result(who, x->device, stat_dtype(x), 1, &x->view.dim[1]);
    axle_tensor *rstd = axle__result(who, x->device, stat_dtype(x), 1, &x->view.dim[1]);
    if (!y || !mean || !rstd)
        return NULL;
    axle__call call = AXLE__CALL(AXLE_OP_BATCH_NORM, attrs);
    axle__call_in(&call, x);
    axle__call_in(&call, gamma);
    axle__call_in(&call, beta);
    axle__call_in(&call, running_mean);
    axle__call_in(&call, running_var);
    axle__call_out(&call, y);
    axle__call_out(&call, mean);
    axle__call_out(&call, rstd);
    bool update = training && running_mean;
    axle__call_out(&call, update ? running_mean : NULL);
    axle__call_out(&call, update ? running_var : NULL);
    if (axle__run(&call, y))
        return NULL;
    if (update) {
        axle__tensor_touch(running_mean);
        axle__tensor_touch(running_var);
    }
    axle_tensor *in[] = {x, gamma, beta}, *keep[] = {x, gamma, beta, mean, rstd};
    return axle__record(&batch_rule, y, in, 3, keep, 5, &attrs, sizeof(attrs));
}

axle_tensor *axle_group_norm(axle_tensor *x, int groups, axle_tensor *gamma, axle_tensor *beta,
                             double eps)
{
    const char *who = "group_norm";
    if (!AXLE__AUTOCAST(group_norm, &x, &gamma, &beta) || !x || axle__check_float(who, x) ||
        axle__check_rank_at_least(who, x, 2) || !check_channels(who, x, gamma) ||
        !check_channels(who, x, beta))
        return NULL;
    if (groups < 1 || x->view.dim[1] % groups) {
        axle_error_set(AXLE_ERR_SHAPE, "group_norm: %lld channels do not divide into %d groups",
                       (long long)x->view.dim[1], groups);
        return NULL;
    }
    axle_group_norm_attrs attrs = {sizeof(attrs), (uint32_t)groups, eps};
    int64_t stats[] = {x->view.dim[0], groups};
    axle_tensor *y =
        axle__elementwise_result(who, (int)axle__dtype(x), axle__rank(x), x->view.dim, &x, 1);
    axle_tensor *mean = axle__result(who, x->device, stat_dtype(x), 2, stats);
    axle_tensor *rstd = axle__result(who, x->device, stat_dtype(x), 2, stats);
    if (!y || !mean || !rstd)
        return NULL;
    axle__call call = AXLE__CALL(AXLE_OP_GROUP_NORM, attrs);
    axle__call_in(&call, x);
    axle__call_in(&call, gamma);
    axle__call_in(&call, beta);
    axle__call_out(&call, y);
    axle__call_out(&call, mean);
    axle__call_out(&call, rstd);
    if (axle__run(&call, y))
        return NULL;
    axle_tensor *in[] = {x, gamma, beta}, *keep[] = {x, gamma, beta, mean, rstd};
    return axle__record(&group_rule, y, in, 3, keep, 5, &attrs, sizeof(attrs));
}
