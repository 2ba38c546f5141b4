/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

axle_status dnn_axle_status(dnnl_status_t status)
{
    switch (status) {
    case dnnl_success:
        return AXLE_OK;
    case dnnl_out_of_memory:
        return AXLE_ERR_NOMEM;
    case dnnl_invalid_arguments:
        return AXLE_ERR_INVALID;
    case dnnl_unimplemented:
        return AXLE_ERR_UNSUPPORTED;
    default:
        return AXLE_ERR_INTERNAL;
    }
}

/* Memory objects carry the pointers of one run, so each run in flight needs a set of its own. */
typedef struct memory_set {
    struct memory_set *next;
    int count;
    dnnl_exec_arg_t arg[DNN_OPERANDS + 1];
    int operand[DNN_OPERANDS + 1]; /* DNN_OPERANDS means the scratchpad */
} memory_set;

struct dnn_plan {
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    int arg[DNN_OPERANDS]; /* DNNL_ARG_*, 0 where there is no such operand */
    dnn_md md[DNN_OPERANDS];
    uint64_t scratch;
    const char *impl;
    pthread_mutex_t lock;
    memory_set *idle; /* under lock */
};

static void memory_set_release(memory_set *set)
{
    for (int k = 0; k < set->count; k++)
        dnnl_memory_destroy(set->arg[k].memory);
    free(set);
}

void dnn_plan_release(dnn_plan *plan)
{
    if (!plan)
        return;
    while (plan->idle) {
        memory_set *set = plan->idle;
        plan->idle = set->next;
        memory_set_release(set);
    }
    for (int k = 0; k < DNN_OPERANDS; k++)
        dnn_md_destroy(plan->md[k]);
    if (plan->primitive)
        dnnl_primitive_destroy(plan->primitive);
    if (plan->desc)
        dnnl_primitive_desc_destroy(plan->desc);
    pthread_mutex_destroy(&plan->lock);
    free(plan);
}

static dnn_plan *plan_create(void)
{
    dnn_plan *plan = calloc(1, sizeof(*plan));
    if (plan && pthread_mutex_init(&plan->lock, NULL) != 0) {
        free(plan);
        return NULL;
    }
    return plan;
}

static dnnl_status_t attr_set_post_ops(dnnl_primitive_attr_t attr, const dnn_post_ops *post)
{
    dnnl_post_ops_t ops;
    dnnl_status_t status = dnnl_post_ops_create(&ops);
    if (status != dnnl_success)
        return status;
    for (int k = 0; k < post->count && status == dnnl_success; k++)
        status = dnn_post_op_append(ops, &post->op[k]);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attr, ops);
    dnnl_post_ops_destroy(ops);
    return status;
}

/* Attributes of every primitive: scratch memory comes from the caller, so that a primitive belongs
 * to no thread, and floats are never shortened. */
static dnnl_status_t attr_create(const dnn_post_ops *post, dnnl_primitive_attr_t *out)
{
    dnnl_primitive_attr_t attr;
    dnnl_status_t status = dnnl_primitive_attr_create(&attr);
    if (status != dnnl_success)
        return status;
    status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_fpmath_mode(attr, dnnl_fpmath_mode_strict);
    if (status == dnnl_success && post && post->count > 0)
        status = attr_set_post_ops(attr, post);
    if (status != dnnl_success) {
        dnnl_primitive_attr_destroy(attr);
        return status;
    }
    *out = attr;
    return dnnl_success;
}

static dnnl_status_t plan_describe(dnn_plan *plan, const dnn_layout *const *layouts)
{
    for (int k = 0; k < DNN_OPERANDS; k++) {
        if (!layouts[k] || layouts[k]->rank == 0)
            continue;
        dnnl_status_t status = dnn_md_create(layouts[k], &plan->md[k]);
        if (status != dnnl_success)
            return status;
    }
    return dnnl_success;
}

/* Replace the layouts that were left to oneDNN by those it chose, and note what it needs. */
static dnnl_status_t plan_resolve(dnn_plan *plan, const int *args, const dnnl_query_t *queries)
{
    for (int k = 0; k < DNN_OPERANDS; k++) {
        if (!plan->md[k])
            continue;
        plan->arg[k] = args[k];
        if (queries[k] == dnnl_query_undef)
            continue;
        dnn_md chosen;
        dnnl_status_t status =
            dnn_md_clone(dnnl_primitive_desc_query_md(plan->desc, queries[k], 0), &chosen);
        if (status != dnnl_success)
            return status;
        dnn_md_destroy(plan->md[k]);
        plan->md[k] = chosen;
    }
    dnn_const_md scratch = dnnl_primitive_desc_query_md(plan->desc, dnnl_query_scratchpad_md, 0);
    plan->scratch = scratch ? dnnl_memory_desc_get_size(scratch) : 0;
    return dnnl_primitive_desc_query(plan->desc, dnnl_query_impl_info_str, 0, &plan->impl);
}

static const dnnl_query_t forward_queries[DNN_OPERANDS] = {dnnl_query_undef, dnnl_query_weights_md,
                                                           dnnl_query_undef, dnnl_query_undef};
static const int forward_args[DNN_OPERANDS] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS,
                                               DNNL_ARG_DST};

static dnnl_status_t build_matmul(dnn_plan *plan, const dnn_matmul_spec *spec)
{
    const dnn_layout *layouts[] = {&spec->src, &spec->weights, &spec->bias, &spec->dst};
    dnnl_status_t status = plan_describe(plan, layouts);
    if (status != dnnl_success)
        return status;
    dnnl_primitive_attr_t attr;
    status = attr_create(&spec->post, &attr);
    if (status != dnnl_success)
        return status;
    status = dnn_matmul_desc(spec, plan->md, attr, &plan->desc);
    dnnl_primitive_attr_destroy(attr);
    if (status != dnnl_success)
        return status;
    return plan_resolve(plan, forward_args, forward_queries);
}

/* Backward passes are planned beside the forward pass that they belong to. */
static dnnl_status_t conv_hint(const dnn_conv_spec *spec, dnn_md *md, dnnl_primitive_desc_t *out)
{
    *out = NULL;
    if (spec->kind == DNN_CONV_FORWARD)
        return dnnl_success;
    dnn_conv_spec forward = *spec;
    forward.kind = DNN_CONV_FORWARD;
    forward.skip = 0;
    dnn_md forward_md[DNN_OPERANDS] = {md[DNN_SRC], md[DNN_WEIGHTS], NULL, md[DNN_DST]};
    return dnn_conv_desc(&forward, forward_md, NULL, NULL, out);
}

static dnnl_status_t conv_create_desc(const dnn_conv_spec *spec, dnn_plan *plan)
{
    dnnl_primitive_desc_t hint;
    dnnl_status_t status = conv_hint(spec, plan->md, &hint);
    if (status != dnnl_success)
        return status;
    dnnl_primitive_attr_t attr;
    status = attr_create(&spec->post, &attr);
    if (status == dnnl_success) {
        status = dnn_conv_desc(spec, plan->md, attr, hint, &plan->desc);
        dnnl_primitive_attr_destroy(attr);
    }
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return status;
}

static dnnl_status_t build_conv(dnn_plan *plan, const dnn_conv_spec *spec)
{
    static const int args[][DNN_OPERANDS] = {
        [DNN_CONV_FORWARD] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST},
        [DNN_CONV_BACKWARD_DATA] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, 0, DNNL_ARG_DIFF_DST},
        [DNN_CONV_BACKWARD_WEIGHTS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS,
                                       DNNL_ARG_DIFF_DST},
    };
    static const dnnl_query_t queries[][DNN_OPERANDS] = {
        [DNN_CONV_FORWARD] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_undef,
                              dnnl_query_dst_md},
        [DNN_CONV_BACKWARD_DATA] = {dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_undef,
                                    dnnl_query_diff_dst_md},
        [DNN_CONV_BACKWARD_WEIGHTS] = {dnnl_query_src_md, dnnl_query_diff_weights_md,
                                       dnnl_query_undef, dnnl_query_diff_dst_md},
    };
    const dnn_layout *layouts[] = {&spec->src, &spec->weights, &spec->bias, &spec->dst};
    dnnl_status_t status = plan_describe(plan, layouts);
    if (status == dnnl_success)
        status = conv_create_desc(spec, plan);
    if (status != dnnl_success)
        return status;
    return plan_resolve(plan, args[spec->kind], queries[spec->kind]);
}

/* Takes over md[DNN_SRC] and md[DNN_DST] of the plan. */
static dnnl_status_t build_reorder(dnn_plan *plan)
{
    static const dnnl_query_t queries[DNN_OPERANDS] = {dnnl_query_undef, dnnl_query_undef,
                                                       dnnl_query_undef, dnnl_query_undef};
    static const int args[DNN_OPERANDS] = {DNNL_ARG_FROM, 0, 0, DNNL_ARG_TO};
    dnnl_primitive_attr_t attr;
    dnnl_status_t status = attr_create(NULL, &attr);
    if (status != dnnl_success)
        return status;
    status = dnnl_reorder_primitive_desc_create(&plan->desc, plan->md[DNN_SRC], dnn_engine(),
                                                plan->md[DNN_DST], dnn_engine(), attr);
    dnnl_primitive_attr_destroy(attr);
    if (status != dnnl_success)
        return status;
    return plan_resolve(plan, args, queries);
}

/* Hand a built plan over, or drop it. */
static dnnl_status_t plan_finish(dnn_plan *plan, dnnl_status_t status, dnn_plan **out)
{
    if (status == dnnl_success)
        *out = plan;
    else
        dnn_plan_release(plan);
    return status;
}

dnnl_status_t dnn_plan_matmul(const dnn_matmul_spec *spec, dnn_plan **out)
{
    dnn_plan *plan = plan_create();
    return plan ? plan_finish(plan, build_matmul(plan, spec), out) : dnnl_out_of_memory;
}

dnnl_status_t dnn_plan_conv(const dnn_conv_spec *spec, dnn_plan **out)
{
    dnn_plan *plan = plan_create();
    return plan ? plan_finish(plan, build_conv(plan, spec), out) : dnnl_out_of_memory;
}

dnnl_status_t dnn_plan_reorder(const dnn_layout *from, const dnn_layout *to, dnn_plan **out)
{
    dnn_plan *reorder = plan_create();
    if (!reorder)
        return dnnl_out_of_memory;
    dnnl_status_t status = dnn_md_create(from, &reorder->md[DNN_SRC]);
    if (status == dnnl_success)
        status = dnn_md_create(to, &reorder->md[DNN_DST]);
    if (status == dnnl_success)
        status = build_reorder(reorder);
    return plan_finish(reorder, status, out);
}

dnnl_status_t dnn_plan_reorder_to(const dnn_layout *from, const dnn_plan *plan, int operand,
                                  dnn_plan **out)
{
    dnn_plan *reorder = plan_create();
    if (!reorder)
        return dnnl_out_of_memory;
    dnnl_status_t status = dnn_md_create(from, &reorder->md[DNN_SRC]);
    if (status == dnnl_success)
        status = dnn_md_clone(plan->md[operand], &reorder->md[DNN_DST]);
    if (status == dnnl_success)
        status = build_reorder(reorder);
    return plan_finish(reorder, status, out);
}

dnnl_status_t dnn_plan_reorder_from(const dnn_plan *plan, int operand, const dnn_layout *to,
                                    dnn_plan **out)
{
    dnn_plan *reorder = plan_create();
    if (!reorder)
        return dnnl_out_of_memory;
    dnnl_status_t status = dnn_md_clone(plan->md[operand], &reorder->md[DNN_SRC]);
    if (status == dnnl_success)
        status = dnn_md_create(to, &reorder->md[DNN_DST]);
    if (status == dnnl_success)
        status = build_reorder(reorder);
    return plan_finish(reorder, status, out);
}

const char *dnn_plan_impl(const dnn_plan *plan)
{
    return plan->impl;
}

int dnn_plan_is_slow(const dnn_plan *plan)
{
    return strstr(plan->impl, "ref") != NULL || strcmp(plan->impl, "simple:any") == 0;
}

uint64_t dnn_plan_scratch(const dnn_plan *plan)
{
    return plan->scratch;
}

uint64_t dnn_plan_size(const dnn_plan *plan, int operand)
{
    return plan->md[operand] ? dnnl_memory_desc_get_size(plan->md[operand]) : 0;
}

int dnn_plan_matches(const dnn_plan *plan, int operand, const dnn_layout *layout)
{
    dnn_md md;
    if (dnn_md_create(layout, &md) != dnnl_success)
        return 0;
    int equal = dnnl_memory_desc_equal(plan->md[operand], md);
    dnn_md_destroy(md);
    return equal;
}

dnnl_status_t dnn_plan_compile(dnn_plan *plan)
{
    return dnnl_primitive_create(&plan->primitive, plan->desc);
}

/* ------------------------------------------------------------------ runs */

static dnnl_status_t memory_set_add(memory_set *set, int arg, int operand, dnn_const_md md)
{
    dnnl_exec_arg_t *next = &set->arg[set->count];
    dnnl_status_t status = dnnl_memory_create(&next->memory, md, dnn_engine(), DNNL_MEMORY_NONE);
    if (status != dnnl_success)
        return status;
    next->arg = arg;
    set->operand[set->count++] = operand;
    return dnnl_success;
}

static dnnl_status_t memory_set_fill(memory_set *set, const dnn_plan *plan)
{
    for (int k = 0; k < DNN_OPERANDS; k++) {
        if (!plan->arg[k])
            continue;
        dnnl_status_t status = memory_set_add(set, plan->arg[k], k, plan->md[k]);
        if (status != dnnl_success)
            return status;
    }
    if (plan->scratch == 0)
        return dnnl_success;
    return memory_set_add(set, DNNL_ARG_SCRATCHPAD, DNN_OPERANDS,
                          dnnl_primitive_desc_query_md(plan->desc, dnnl_query_scratchpad_md, 0));
}

static dnnl_status_t memory_set_take(dnn_plan *plan, memory_set **out)
{
    pthread_mutex_lock(&plan->lock);
    memory_set *set = plan->idle;
    if (set)
        plan->idle = set->next;
    pthread_mutex_unlock(&plan->lock);
    if (set) {
        *out = set;
        return dnnl_success;
    }
    set = calloc(1, sizeof(*set));
    if (!set)
        return dnnl_out_of_memory;
    dnnl_status_t status = memory_set_fill(set, plan);
    if (status != dnnl_success) {
        memory_set_release(set);
        return status;
    }
    *out = set;
    return dnnl_success;
}

static void memory_set_give(dnn_plan *plan, memory_set *set)
{
    pthread_mutex_lock(&plan->lock);
    set->next = plan->idle;
    plan->idle = set;
    pthread_mutex_unlock(&plan->lock);
}

dnnl_status_t dnn_run(dnn_plan *plan, void *const *data, void *scratch)
{
    memory_set *set;
    dnnl_status_t status = memory_set_take(plan, &set);
    if (status != dnnl_success)
        return status;
    for (int k = 0; k < set->count && status == dnnl_success; k++) {
        int operand = set->operand[k];
        status = dnnl_memory_set_data_handle(set->arg[k].memory,
                                             operand == DNN_OPERANDS ? scratch : data[operand]);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_execute(plan->primitive, dnn_stream(), set->count, set->arg);
    memory_set_give(plan, set);
    return status;
}
