/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of users, with derivatives of their own. */
#include <string.h>

#include "autograd/node.h"
#include "base/memory.h"
#include "tensor/shape.h"

struct axle_function_context {
    const axle_function *function;
    void *user;
    axle_tensor **saved;
    int n_saved, room;
    bool in_forward;
};

/* Dims and type that the gradient of an input has. */
typedef struct input_form {
    int rank, dtype;
    int64_t dims[AXLE_MAX_RANK];
} input_form;

/* The node's attributes. */
typedef struct function_record {
    axle_function function;
    void *user;
    input_form input[];
} function_record;

/* What users compute is checked here; rules of operators are trusted. */
static int check_gradients(const axle__node *node, axle_tensor *const *dx)
{
    const function_record *record = node->attrs;
    char ta[AXLE__DIMS_TEXT], tb[AXLE__DIMS_TEXT];
    for (uint32_t k = 0; k < node->n_in; k++) {
        const input_form *form = &record->input[k];
        if (!dx[k] || !axle__wanted(node, (int)k) ||
            (form->dtype == (int)axle__dtype(dx[k]) &&
             axle__dims_equal(form->rank, form->dims, axle__rank(dx[k]), dx[k]->view.dim)))
            continue;
        return axle_error_set(
            AXLE_ERR_SHAPE, "%s: input %u is %s %s, the gradient that backward gave %s %s",
            record->function.name, k, axle_dtype_name(form->dtype),
            axle__dims_text(form->rank, form->dims, ta), axle_dtype_name((int)axle__dtype(dx[k])),
            axle__shape_text(dx[k], tb));
    }
    return AXLE_OK;
}

static int function_backward(axle__node *node, axle_tensor *const *dy, axle_tensor **dx)
{
    function_record *record = node->attrs;
    axle_tensor **saved = axle__alloc(node->n_kept, sizeof(*saved));
    if (!saved)
        return axle_error_code();
    for (uint32_t k = 0; k < node->n_kept; k++)
        saved[k] = node->kept[k].tensor;
    axle_function_context context = {.function = &record->function,
                                     .user = record->user,
                                     .saved = saved,
                                     .n_saved = (int)node->n_kept};
    int status = record->function.backward(&context, dy, (int)node->n_out, dx, (int)node->n_in);
    axle__free(saved);
    if (status)
        return axle_error_set(status, "%s: backward failed with status %d", record->function.name,
                              status);
    return check_gradients(node, dx);
}

static void function_destroy(axle__node *node)
{
    function_record *record = node->attrs;
    if (record->function.destroy)
        record->function.destroy(record->user);
}

static const axle__rule function_rule = {"function", function_backward, function_destroy};

int axle_function_save(axle_function_context *context, axle_tensor *tensor)
{
    if (!context->in_forward)
        return axle_error_set(AXLE_ERR_STATE, "%s: tensors are saved in forward only",
                              context->function->name);
    if (context->n_saved == context->room) {
        int room = context->room ? 2 * context->room : 8;
        axle_tensor **saved = axle__resize(context->saved, (size_t)room, sizeof(*saved));
        if (!saved)
            return axle_error_code();
        context->saved = saved;
        context->room = room;
    }
    context->saved[context->n_saved++] = tensor;
    return AXLE_OK;
}

axle_tensor *axle_function_saved(axle_function_context *context, int k)
{
    if (k >= 0 && k < context->n_saved)
        return context->saved[k];
    axle_error_set(AXLE_ERR_INDEX, "%s: saved tensor %d of %d", context->function->name, k,
                   context->n_saved);
    return NULL;
}

void *axle_function_user(axle_function_context *context)
{
    return context->user;
}

/* Replace an output that has a record already (an input, an output twice) by a view, so that ours
 * hangs on a new tensor. */
static int separate(axle_tensor *const *in, int n_in, axle_tensor **out)
{
    bool taken = (*out)->grad != NULL;
    for (int k = 0; k < n_in && !taken; k++)
        taken = in[k] == *out;
    if (taken)
        *out = axle__scope_own(axle__tensor_alias(*out, &(*out)->view));
    return *out ? AXLE_OK : axle_error_code();
}

static function_record *record_create(const axle_function_context *context, axle_tensor *const *in,
                                      int n_in, size_t *size)
{
    *size = sizeof(function_record) + (size_t)n_in * sizeof(input_form);
    function_record *record = axle__alloc(1, *size);
    if (!record)
        return NULL;
    record->function = *context->function;
    record->user = context->user;
    for (int k = 0; k < n_in; k++) {
        if (!in[k])
            continue;
        record->input[k].rank = axle__rank(in[k]);
        record->input[k].dtype = (int)axle__dtype(in[k]);
        memcpy(record->input[k].dims, in[k]->view.dim, sizeof(record->input[k].dims));
    }
    return record;
}

static int record_outputs(axle_function_context *context, axle_tensor *const *in, int n_in,
                          axle_tensor **out, int n_out, bool *owned)
{
    size_t size;
    function_record *record = record_create(context, in, n_in, &size);
    axle__node *node =
        record ? axle__node_create(&function_rule, in, n_in, n_out, context->n_saved, record, size)
               : NULL;
    axle__free(record);
    if (!node)
        return axle_error_code();
    *owned = true; /* the node destroys `user` from here on */
    int status = AXLE_OK;
    for (int k = 0; k < context->n_saved && !status; k++)
        status = axle__node_keep(node, k, context->saved[k]);
    for (int k = 0; k < n_out && !status; k++) {
        status = separate(in, n_in, &out[k]);
        if (!status && axle_dtype_is_float((int)axle__dtype(out[k])))
            status = axle__node_attach(node, k, out[k]);
    }
    axle__node_release(node);
    return status;
}

static int check_outputs(const axle_function *function, axle_tensor *const *out, int n_out)
{
    for (int k = 0; k < n_out; k++)
        if (!out[k])
            return axle_error_set(AXLE_ERR_INVALID, "%s: forward gave no output %d", function->name,
                                  k);
    return AXLE_OK;
}

static int check_function(const axle_function *function, bool recording, axle_tensor **out)
{
    if (function && function->name && function->forward && (function->backward || !recording) &&
        out)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID,
                          "axle_function_apply: %s lacks a name, forward, backward or outputs",
                          function && function->name ? function->name : "the function");
}

int axle_function_apply(const axle_function *function, axle_tensor *const *in, int n_in,
                        axle_tensor **out, int n_out, void *user)
{
    axle_function_context context = {.function = function, .user = user, .in_forward = true};
    bool recording = axle__recording(in, n_in), owned = false;
    if (check_function(function, recording, out))
        return axle_error_code();
    axle_tensor **made = axle__alloc((size_t)n_out, sizeof(*made));
    int status = made ? AXLE_OK : axle_error_code();
    if (!status) {
        axle_no_grad_push();
        status = function->forward(&context, in, n_in, made, n_out);
        axle_no_grad_pop();
        if (status)
            axle_error_set(status, "%s: forward failed with status %d", function->name, status);
    }
    if (!status)
        status = check_outputs(function, made, n_out);
    if (!status && recording)
        status = record_outputs(&context, in, n_in, made, n_out, &owned);
    if (!status && n_out > 0)
        memcpy(out, made, (size_t)n_out * sizeof(*out));
    if (!owned && function->destroy)
        function->destroy(user);
    axle__free(context.saved);
    axle__free(made);
    return status;
}
