/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout: the mask is a function of seed and position, so that backward draws it again. */
#include "axle/ops.h"

#include "autograd/node.h"
#include "tensor/elementwise.h"
#include "tensor/random.h"

typedef struct dropout_record {
    axle_dropout_attrs attrs;
    uint64_t seed, offset;
} dropout_record;

static axle_tensor *run_dropout(const dropout_record *r, axle_tensor *x)
{
    axle_tensor *y =
        axle__elementwise_result("dropout", (int)axle__dtype(x), axle__rank(x), x->view.dim, &x, 1);
    axle__call call = AXLE__CALL(AXLE_OP_DROPOUT, r->attrs);
    call.rng_seed = r->seed;
    call.rng_offset = r->offset;
    return y ? axle__checked(axle__elementwise(&call, y, &x, 1, true), y) : NULL;
}

static int dropout_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    dx[0] = run_dropout(node->attrs, dy[0]);
    return axle__given(dx[0]);
}

static const axle__rule dropout_rule = {"dropout", dropout_backward, NULL};

axle_tensor *axle_dropout(axle_tensor *x, double p)
{
    if (!x || axle__check_float("dropout", x))
        return NULL;
    if (!(p >= 0.0 && p <= 1.0)) {
        axle_error_set(AXLE_ERR_INVALID, "dropout: probability %g is not in [0, 1]", p);
        return NULL;
    }
    if (p == 0.0)
        return x;
    dropout_record r = {.attrs = {sizeof(r.attrs), 0, p}, .seed = axle__random_next_key()};
    r.offset = axle__random_first(axle__rank(x), x->view.dim);
    return axle__record(&dropout_rule, run_dropout(&r, x), &x, 1, NULL, 0, &r, sizeof(r));
}
