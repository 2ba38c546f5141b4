/* SPDX-License-Identifier: Apache-2.0 */
/* From a batch to loss and logits. */
#include "network.h"

static axle_tensor *optional(axle_batch *batch, const char *name)
{
    return axle_batch_has(batch, name) ? axle_batch_get(batch, name) : NULL;
}

static int wrong_field(const char *name, const char *what)
{
    return axle_error_set(AXLE_ERR_SHAPE, "transformer: %s of the batch is not %s", name, what);
}

static bool is_like(const axle_tensor *x, const axle__inputs *in)
{
    return axle_tensor_rank(x) == 2 && axle_tensor_dim(x, 0) == in->rows &&
           axle_tensor_dim(x, 1) == in->length;
}

static int read_ids(const axle__network *network, axle_batch *batch, axle__inputs *in)
{
    in->ids = axle_batch_get(batch, "input_ids");
    if (!in->ids)
        return axle_error_code();
    if (axle_tensor_rank(in->ids) != 2)
        return wrong_field("input_ids", "(N, T)");
    in->rows = axle_tensor_dim(in->ids, 0);
    in->length = axle_tensor_dim(in->ids, 1);
    if (in->length >= 1 && in->length <= network->longest)
        return AXLE_OK;
    return axle_error_set(
        AXLE_ERR_SHAPE, "transformer: sequences of %lld tokens; %s takes 1 to %lld",
        (long long)in->length, network->kind->model_type, (long long)network->longest);
}

static int read_inputs(const axle__network *network, axle_batch *batch, axle__inputs *in)
{
    int status = read_ids(network, batch, in);
    axle_tensor *mask = status ? NULL : optional(batch, "attention_mask");
    if (status)
        return status;
    if (mask && !is_like(mask, in))
        return wrong_field("attention_mask", "like input_ids");
    in->types = optional(batch, "token_type_ids");
    if (in->types && !is_like(in->types, in))
        return wrong_field("token_type_ids", "like input_ids");
    if (!mask)
        return AXLE_OK;
    in->mask =
        axle_reshape(axle_cast(mask, AXLE_DTYPE_BOOL), AXLE_DIMS(in->rows, 1, 1, in->length));
    return in->mask ? AXLE_OK : axle_error_code();
}

/* *out stays as it is on error. */
static void run(const axle__network *network, axle_batch *batch, axle_output *out)
{
    axle__inputs in = {0};
    const axle__head *head = network->task->head;
    if (read_inputs(network, batch, &in))
        return;
    axle_tensor *logits = network->kind->run(network, &in), *loss = NULL;
    if (logits && head)
        logits = head->run(network, logits);
    axle_tensor *labels = head ? optional(batch, "labels") : NULL;
    if (logits && labels && !(loss = head->loss(network, logits, labels)))
        return;
    *out = (axle_output){.loss = loss, .logits = logits};
}

static axle_output forward(axle_module *module, axle_batch *batch, void *user)
{
    axle_output output = {NULL, NULL};
    (void)user;
    run((axle__network *)module, batch, &output);
    return output;
}

int axle__network_model(axle__network *network, axle_model **out)
{
    return axle_model_create(&network->base, forward, NULL, out);
}

int axle_transformer_loss_weight(const axle_model *model, axle_batch *batch, double *out)
{
    const axle__network *network = axle__network_of(model);
    const axle__head *head = network ? network->task->head : NULL;
    if (!head)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_transformer_loss_weight: the model has no loss");
    if (!head->weigh || axle_batch_weight(batch) == 0) {
        *out = (double)axle_batch_weight(batch);
        return AXLE_OK;
    }
    axle_tensor *labels = axle_batch_get(batch, "labels");
    return labels ? head->weigh(labels, out) : axle_error_code();
}
