/* SPDX-License-Identifier: Apache-2.0 */
/* Backward through the accelerator: windows of accumulation, weights, clipping. */
#include <math.h>

#include "autograd/node.h"
#include "data/loader.h"
#include "optim/optimizer.h"
#include "tensor/elementwise.h"
#include "train/accelerator.h"

/* ------------------------------------------------------------------ loops */

static int find_loop(const axle_accelerator *accelerator, const axle_loader *loader)
{
    for (int k = 0; k < accelerator->loop_count; k++)
        if (accelerator->loops[k].loader == loader)
            return k;
    return -1;
}

static void remove_loop(axle_accelerator *accelerator, int place)
{
    for (int k = place; k + 1 < accelerator->loop_count; k++)
        accelerator->loops[k] = accelerator->loops[k + 1];
    accelerator->loop_count--;
}

void axle__loop_observe(void *user, axle_loader *loader, const axle_batch *batch, int is_last)
{
    axle_accelerator *accelerator = user;
    int place = find_loop(accelerator, loader);
    if (place >= 0)
        remove_loop(accelerator, place);
    if (!batch)
        return;
    if (accelerator->loop_count == AXLE__MOST_LOOPS)
        remove_loop(accelerator, 0);
    accelerator->loops[accelerator->loop_count++] =
        (axle__loop){.loader = loader,
                     .rows = (double)axle_batch_weight(batch),
                     .first = axle_loader_position(loader) == 1,
                     .last = is_last != 0};
}

axle__loop *axle__current_loop(const axle_accelerator *accelerator)
{
    int n = accelerator->loop_count;
    return n ? (axle__loop *)&accelerator->loops[n - 1] : NULL;
}

/* ------------------------------------------------------------------ windows */

/* Whether the batch after `batches` counted ones ends a window. */
static bool would_end(const axle_accelerator *accelerator, const axle__loop *loop, int64_t batches)
{
    return batches + 1 >= accelerator->options.accumulate || (loop && loop->last);
}

static int64_t batches_so_far(const axle_accelerator *accelerator, const axle__loop *loop)
{
    const axle__window *window = &accelerator->window;
    return window->ends || (loop && loop->first) ? 0 : window->batches;
}

int axle_is_update(const axle_accelerator *accelerator)
{
    const axle__loop *loop = axle__current_loop(accelerator);
    if (loop && loop->counted)
        return accelerator->window.ends;
    return would_end(accelerator, loop, batches_so_far(accelerator, loop));
}

/* A window that a loop left unfinished is dropped, gradients and all. */
static void drop_window(axle_accelerator *accelerator)
{
    int at = 0;
    for (axle_optimizer *o; (o = axle__next_optimizer(accelerator, &at));) {
        o->holding = false;
        axle_optimizer_zero_grad(o);
    }
}

static void reset_clipping(axle_accelerator *accelerator)
{
    for (int k = 0; k < accelerator->count; k++)
        accelerator->prepared[k].clipped = false;
}

/* Gradients so far were sums weighted by w; from here on they are shares of the window's mean. */
static int divide_sums(axle_accelerator *accelerator)
{
    int at = 0, status = AXLE_OK;
    double factor = 1.0 / accelerator->window.sum;
    for (axle_optimizer *o; !status && (o = axle__next_optimizer(accelerator, &at));)
        status = axle__optimizer_scale_grads(o, factor);
    return status;
}

static int count_batch(axle_accelerator *accelerator, axle__loop *loop, double weight)
{
    axle__window *window = &accelerator->window;
    if (window->ends) {
        *window = (axle__window){0};
        reset_clipping(accelerator);
    } else if (loop && loop->first && window->batches > 0) {
        *window = (axle__window){0};
        drop_window(accelerator);
    }
    window->ends = would_end(accelerator, loop, window->batches);
    window->batches++;
    window->weight = weight;
    window->sum += weight;
    if (loop)
        loop->counted = true;
    bool alone = axle_process_count(accelerator) == 1;
    if (alone && window->ends && window->batches > 1 && window->sum > 0.0)
        return divide_sums(accelerator);
    return AXLE_OK;
}

static void tell_optimizers(axle_accelerator *accelerator)
{
    int at = 0;
    for (axle_optimizer *o; (o = axle__next_optimizer(accelerator, &at));)
        o->suspended = o->holding = !accelerator->window.ends;
}

/* Sum of the weights of all processes, known once their gradients were summed. */
static double weight_sum(axle_accelerator *accelerator)
{
    double sum = 0.0;
    for (int k = 0; k < accelerator->count && sum == 0.0; k++)
        if (accelerator->prepared[k].reducer)
            sum = axle__reducer_weight_sum(accelerator->prepared[k].reducer);
    return sum;
}

/* Factor of the batch's gradient: its weight in the sum, or its share once the sum is known. With
 * several processes the reducers divide. */
static double factor_of(axle_accelerator *accelerator)
{
    const axle__window *window = &accelerator->window;
    bool alone = axle_process_count(accelerator) == 1;
    if (!window->ends || (!alone && !window->reduced))
        return window->weight;
    double sum = alone ? window->sum : weight_sum(accelerator);
    return sum > 0.0 ? window->weight / sum : 0.0;
}

static int backward_scaled(axle_tensor *loss, double factor)
{
    if (factor == 1.0)
        return axle_tensor_backward(loss, NULL, 0);
    int status = axle_scope_push();
    if (status)
        return status;
    axle_tensor *gradient = axle__result("axle_backward", loss->device, (int)axle__dtype(loss),
                                         axle__rank(loss), loss->view.dim);
    status = gradient ? axle__fill(gradient, factor) : axle_error_code();
    if (!status)
        status = axle_tensor_backward(loss, gradient, 0);
    axle_scope_pop();
    return status;
}

/* A backward pass whose gradients are summed over the processes meanwhile. */
static int backward_reduced(axle_accelerator *accelerator, axle_tensor *loss)
{
    axle__window *window = &accelerator->window;
    double factor = factor_of(accelerator);
    int status = AXLE_OK, begun = 0;
    axle__reducer *before = NULL;
    for (; begun < accelerator->count && !status; begun++) {
        axle__reducer *reducer = accelerator->prepared[begun].reducer;
        if (reducer)
            status = axle__reducer_begin(reducer, before, window->sum, window->reduced);
        before = reducer ? reducer : before;
    }
    if (!status)
        status = backward_scaled(loss, factor);
    for (int k = 0; k < begun; k++)
        if (accelerator->prepared[k].reducer)
            status = axle__reducer_finish(accelerator->prepared[k].reducer, status);
    for (int k = 0; k < begun; k++) {
        axle__reducer *reducer = accelerator->prepared[k].reducer;
        int code = reducer ? axle__reducer_end(reducer, status) : AXLE_OK;
        status = status ? status : code;
    }
    window->reduced = true;
    return status;
}

static int check_loss(const axle_accelerator *accelerator, const axle_tensor *loss)
{
    double value;
    if (!loss)
        return axle_error_code()
                   ? axle_error_code()
                   : axle_error_set(AXLE_ERR_INVALID, "axle_backward: there is no loss");
    if (accelerator->options.allow_nonfinite)
        return AXLE_OK;
    int status = axle_tensor_item(loss, &value);
    if (!status && !isfinite(value))
        return axle_error_set(AXLE_ERR_NONFINITE, "axle_backward: the loss is %g", value);
    return status;
}

int axle_backward_weighted(axle_accelerator *accelerator, axle_tensor *loss, double weight)
{
    int status = check_loss(accelerator, loss);
    if (!status && !(weight >= 0.0 && isfinite(weight)))
        status = axle_error_set(AXLE_ERR_INVALID, "axle_backward_weighted: weight %g", weight);
    if (status)
        return status;
    axle__loop *loop = axle__current_loop(accelerator);
    if (!loop || !loop->counted)
        status = count_batch(accelerator, loop, weight);
    if (!status && accelerator->window.ends && axle_process_count(accelerator) > 1)
        status = backward_reduced(accelerator, loss);
    else if (!status)
        status = backward_scaled(loss, factor_of(accelerator));
    if (!status)
        tell_optimizers(accelerator);
    return status;
}

int axle_backward(axle_accelerator *accelerator, axle_tensor *loss)
{
    const axle__loop *loop = axle__current_loop(accelerator);
    return axle_backward_weighted(accelerator, loss, loop ? loop->rows : 1.0);
}

/* ------------------------------------------------------------------ clipping */

static axle__prepared *prepared_of(axle_accelerator *accelerator, const axle_optimizer *optimizer)
{
    for (int k = 0; k < accelerator->count; k++)
        if (accelerator->prepared[k].object == &optimizer->object)
            return &accelerator->prepared[k];
    return NULL;
}

int axle_clip_norm(axle_accelerator *accelerator, axle_optimizer *optimizer, double max_norm,
                   double *norm)
{
    if (optimizer->suspended)
        return AXLE_OK;
    axle__prepared *prepared = prepared_of(accelerator, optimizer);
    int status = axle_optimizer_clip_norm(optimizer, max_norm, norm);
    if (!status && prepared)
        prepared->clipped = true;
    return status;
}

int axle__clip_before_step(axle_optimizer *optimizer, void *user)
{
    axle_accelerator *accelerator = user;
    axle__prepared *prepared = prepared_of(accelerator, optimizer);
    int status = AXLE_OK;
    if (accelerator->options.clip_value > 0.0)
        status = axle_optimizer_clip_value(optimizer, accelerator->options.clip_value);
    if (!status && accelerator->options.clip_norm > 0.0 && prepared && !prepared->clipped)
        status = axle_optimizer_clip_norm(optimizer, accelerator->options.clip_norm, NULL);
    return status;
}
