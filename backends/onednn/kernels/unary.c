/* SPDX-License-Identifier: Apache-2.0 */
/* UNARY and UNARY_BACKWARD. */
#include "elem.h"

#include <math.h>

/* Kinds whose loops compute enough to be worth a second thread early. */
static int unary_weight(uint32_t kind)
{
    return kind >= AXLE_UNARY_EXP && kind != AXLE_UNARY_RELU && kind != AXLE_UNARY_LEAKY_RELU &&
                   (kind < AXLE_UNARY_CLIP || kind == AXLE_UNARY_POW_SCALAR)
               ? 4
               : 1;
}

static int is_boolean_kind(uint32_t kind)
{
    static const unsigned char boolean[AXLE_UNARY_LIMIT] = {
        [AXLE_UNARY_LOGICAL_NOT] = 1,
        [AXLE_UNARY_IS_NAN] = 1,
        [AXLE_UNARY_IS_INF] = 1,
        [AXLE_UNARY_IS_FINITE] = 1,
    };
    return boolean[kind];
}

/* Saturates, so that a bound of infinity keeps its meaning for integers. */
static int64_t truncate_attribute(double value)
{
    if (value != value)
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

static elem_params unary_params(const axle_unary_attrs *attrs)
{
    return (elem_params){
        .alpha = attrs->alpha,
        .beta = attrs->beta,
        .ialpha = truncate_attribute(attrs->alpha),
        .ibeta = truncate_attribute(attrs->beta),
    };
}

/* Powers that are something simpler. */
static uint32_t simplest_kind(const axle_unary_attrs *attrs)
{
    if (attrs->kind != AXLE_UNARY_POW_SCALAR)
        return attrs->kind;
    return attrs->alpha == 2.0    ? AXLE_UNARY_SQUARE
           : attrs->alpha == -1.0 ? AXLE_UNARY_RECIPROCAL
                                  : AXLE_UNARY_POW_SCALAR;
}

static elem_loop unary_loop(const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_unary_attrs *attrs = desc->attrs;
    const int32_t domain = cpu_dtype_domain(desc->in[0]->dtype);
    if (domain < 0 || attrs->kind >= AXLE_UNARY_LIMIT ||
        (domain == DOMAIN_I64 && attrs->kind == AXLE_UNARY_POW_SCALAR))
        return NULL;
    return loops->unary->forward[domain][simplest_kind(attrs)];
}

static axle_status unary_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_unary_attrs *attrs = desc->attrs;
    if (!unary_loop(&cpu_loops_generic, desc))
        return AXLE_OK;
    const int boolean = is_boolean_kind(attrs->kind);
    if (desc->out[0]->dtype != (boolean ? (uint32_t)AXLE_DTYPE_BOOL : desc->in[0]->dtype))
        return AXLE_OK;
    if (!boolean && desc->in[0]->dtype == AXLE_DTYPE_BOOL)
        return AXLE_OK;
    return cpu_op_support(info, "unary", 0);
}

static axle_status unary_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                                 axle_error *error)
{
    elem_op *op = cpu_op_create(device, &cpu_kernel_unary, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_unary_attrs *attrs = desc->attrs;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const int mode = is_boolean_kind(attrs->kind) ? ELEM_CONVERT_INPUTS : ELEM_CONVERT;
    elem_plan_init(&op->plan, loops, unary_loop(loops, desc), 1, desc->in, desc->out[0], mode);
    op->plan.params = unary_params(attrs);
    op->plan.weight = unary_weight(attrs->kind);
    *out = &op->base;
    return AXLE_OK;
}

static elem_loop backward_loop(const cpu_loops *loops, const axle_op_desc *desc)
{
    const axle_unary_attrs *attrs = desc->attrs;
    const int32_t domain = cpu_dtype_domain(desc->in[0]->dtype);
    if (domain < 0 || domain == DOMAIN_I64 || attrs->kind >= AXLE_UNARY_LIMIT)
        return NULL;
    return loops->backward->unary[domain][attrs->kind];
}

static axle_status backward_query(const axle_op_desc *desc, axle_op_info *info)
{
    const axle_view *saved = cpu_in(desc, 1);
    const uint32_t kind = ((const axle_unary_attrs *)desc->attrs)->kind;
    const int needs_none = kind == AXLE_UNARY_NEG || kind == AXLE_UNARY_AFFINE;
    if (!backward_loop(&cpu_loops_generic, desc) || desc->out[0]->dtype != desc->in[0]->dtype)
        return AXLE_OK;
    if (saved ? saved->dtype != desc->in[0]->dtype : !needs_none)
        return AXLE_OK;
    return cpu_op_support(info, "unary_backward", 0);
}

static axle_status backward_prepare(axle_be_device *device, const axle_op_desc *desc,
                                    axle_be_op **out, axle_error *error)
{
    elem_op *op = cpu_op_create(device, &cpu_kernel_unary_backward, sizeof(*op), error);
    if (!op)
        return AXLE_ERR_NOMEM;
    const axle_unary_attrs *attrs = desc->attrs;
    const cpu_loops *loops = cpu_loops_choose(device->host);
    const axle_view *in[2] = {desc->in[0], cpu_in(desc, 1)};
    elem_plan_init(&op->plan, loops, backward_loop(loops, desc), 2, in, desc->out[0], ELEM_CONVERT);
    op->plan.params = unary_params(attrs);
    op->plan.weight = unary_weight(attrs->kind);
    *out = &op->base;
    return AXLE_OK;
}

const cpu_kernel cpu_kernel_unary = {
    .op = AXLE_OP_UNARY,
    .query = unary_query,
    .prepare = unary_prepare,
    .run = elem_op_run,
    .release = cpu_op_release,
};

const cpu_kernel cpu_kernel_unary_backward = {
    .op = AXLE_OP_UNARY_BACKWARD,
    .query = backward_query,
    .prepare = backward_prepare,
    .run = elem_op_run,
    .release = cpu_op_release,
};
