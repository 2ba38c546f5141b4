/* SPDX-License-Identifier: Apache-2.0 */
/* Backward through the accelerator: windows of accumulation, weights, clipping. */
#include <math.h>

#include "autograd/node.h"
#include "data/loader.h"
#include "group/group.h"
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
    if (place >= 0 && accelerator->loops[place].counted)
        axle__window_close(accelerator);
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
    const axle__loop *outside = accelerator->blocks ? &accelerator->block : NULL;
    return (axle__loop *)(n ? &accelerator->loops[n - 1] : outside);
}

/* ------------------------------------------------------------------ windows */

/* Whether a batch ends a window that has so many, of so much weight, with it. */
static bool would_end(const axle_accelerator *accelerator, const axle__loop *loop, int64_t batches,
                      double spent)
{
    const axle_accelerator_options *o = &accelerator->options;
    if (accelerator->no_sync)
        return false;
    if (accelerator->last || (loop && loop->last))
        return true;
    return o->accumulate_budget > 0.0 ? spent >= o->accumulate_budget : batches >= o->accumulate;
}

/* The batch under way begins a window. */
static bool begins(const axle_accelerator *accelerator, const axle__loop *loop)
{
    return accelerator->window.ends || (loop && loop->first);
}

int axle_is_update(const axle_accelerator *accelerator)
{
    const axle__loop *loop = axle__current_loop(accelerator);
    const axle__window *window = &accelerator->window;
    if (loop && loop->counted)
        return window->ends;
    bool anew = begins(accelerator, loop);
    return would_end(accelerator, loop, anew ? 1 : window->batches + 1, anew ? 0.0 : window->spent);
}

/* Its last batch is over: optimizers that did not step may forget what is left of it. */
void axle__window_close(axle_accelerator *accelerator)
{
    int at = 0;
    if (!accelerator->window.ends)
        return;
    for (axle_optimizer *o; (o = axle__next_optimizer(accelerator, &at));) {
        o->stale = o->stale || o->holding;
        o->holding = false;
    }
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

/* The terms that a window is expected to hold: as many on all processes. */
static double expected_rows(const axle_accelerator *accelerator, const axle__loop *loop)
{
    const axle_accelerator_options *o = &accelerator->options;
    double batches = (double)o->accumulate * axle_process_count(accelerator);
    if (o->accumulate_budget > 0.0)
        return o->accumulate_budget;
    return loop && loop->loader ? batches * (double)axle_loader_batch_size(loop->loader) : batches;
}

static int scale_gradients(axle_accelerator *accelerator, double factor)
{
    int at = 0, status = AXLE_OK;
    for (axle_optimizer *o; !status && (o = axle__next_optimizer(accelerator, &at));)
        status = axle__optimizer_scale_arena(o, factor);
    return status;
}

/* Means of the batches so far become weighted sums again, so that a batch can be added: this
 * process's part of what all processes hold. */
static int turn_into_sums(axle_accelerator *accelerator)
{
    axle__window *window = &accelerator->window;
    int status = AXLE_OK;
    for (int k = 0; k < accelerator->count && !status; k++)
        if (accelerator->prepared[k].reducer)
            status = axle__reducer_keep_once(accelerator->prepared[k].reducer);
    if (!status)
        status = scale_gradients(accelerator, window->held);
    window->sum = axle_is_main_process(accelerator) ? window->held : 0.0;
    window->held = 0.0;
    return status;
}

/* Count a weight in the window's budget. */
static int spend(axle_accelerator *accelerator, double weight)
{
    int status = AXLE_OK;
    if (!(accelerator->options.accumulate_budget > 0.0))
        return AXLE_OK;
    if (!axle__is_alone(accelerator))
        status = axle__reduce_numbers(accelerator, AXLE_DTYPE_F64, &weight, 1, AXLE_REDUCE_SUM);
    accelerator->window.spent += weight;
    return status;
}

static void leave_window(axle_accelerator *accelerator, const axle__loop *loop)
{
    axle__window *window = &accelerator->window;
    if (window->ends)
        reset_clipping(accelerator);
    else if (loop && loop->first && window->batches > 0)
        drop_window(accelerator);
    else
        return;
    *window = (axle__window){0};
}

/* A batch's first pass begins. With several processes the reducers divide the sums. */
static int count_batch(axle_accelerator *accelerator, axle__loop *loop, double weight)
{
    axle__window *window = &accelerator->window;
    leave_window(accelerator, loop);
    if (window->batches == 0)
        axle__scaler_open_window(accelerator, expected_rows(accelerator, loop));
    int status = window->held > 0.0 ? turn_into_sums(accelerator) : AXLE_OK;
    if (!status)
        status = spend(accelerator, weight);
    if (status)
        return status;
    window->batches++;
    window->sum += weight;
    window->ends = would_end(accelerator, loop, window->batches, window->spent);
    window->averages =
        window->ends || (accelerator->options.sync_each_batch && !accelerator->no_sync);
    window->reduced = false;
    accelerator->last = accelerator->last && !window->ends;
    if (loop)
        loop->counted = true;
    if (!axle__is_alone(accelerator) || !window->averages)
        return AXLE_OK;
    window->held = window->sum;
    return window->batches > 1 && window->sum > 0.0
               ? scale_gradients(accelerator, 1.0 / (window->sum * axle__scaler_share(accelerator)))
               : AXLE_OK;
}

static void tell_optimizers(axle_accelerator *accelerator)
{
    int at = 0;
    for (axle_optimizer *o; (o = axle__next_optimizer(accelerator, &at));) {
        o->suspended = !accelerator->window.ends;
        o->holding = !o->stale;
    }
    if (!axle__current_loop(accelerator))
        axle__window_close(accelerator);
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

/* Factor of a pass's gradient: its weight in the sum, or its share once the sum is known. */
static double factor_of(axle_accelerator *accelerator, double weight)
{
    const axle__window *window = &accelerator->window;
    bool alone = axle__is_alone(accelerator);
    if (!(alone ? window->averages : window->reduced))
        return weight;
    return window->held > 0.0 ? weight / window->held : 0.0;
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

/* The user's function gets shares of the mean, so the sum of the weights is found before. */
static int turn_into_shares(axle_accelerator *accelerator, double *factor)
{
    axle__window *window = &accelerator->window;
    double total = window->sum;
    int status = axle__reduce_numbers(accelerator, AXLE_DTYPE_F64, &total, 1, AXLE_REDUCE_SUM);
    if (status)
        return status;
    double scale = total > 0.0 ? 1.0 / total : 0.0;
    *factor *= scale;
    window->held = total;
    return window->batches > 1 ? scale_gradients(accelerator, scale) : AXLE_OK;
}

/* A backward pass whose gradients are summed over the processes meanwhile. Without a loss only the
 * processes are met. */
static int backward_reduced(axle_accelerator *accelerator, axle_tensor *loss, double factor)
{
    axle__window *window = &accelerator->window;
    bool shares = accelerator->comm_hook.fn && !window->reduced;
    int status = shares ? turn_into_shares(accelerator, &factor) : AXLE_OK, begun = 0;
    axle__reducer *before = NULL;
    for (; begun < accelerator->count && !status; begun++) {
        axle__reducer *reducer = accelerator->prepared[begun].reducer;
        if (reducer)
            status = axle__reducer_begin(reducer, before, window->sum, window->reduced);
        before = reducer ? reducer : before;
    }
    if (!status && loss)
        status = backward_scaled(loss, factor);
    for (int k = 0; k < begun; k++)
        if (accelerator->prepared[k].reducer)
            status = axle__reducer_finish(accelerator->prepared[k].reducer, status);
    for (int k = 0; k < begun; k++) {
        axle__reducer *reducer = accelerator->prepared[k].reducer;
        int code = reducer ? axle__reducer_end(reducer, status) : AXLE_OK;
        status = status ? status : code;
    }
    if (!window->reduced && !shares)
        window->held = weight_sum(accelerator);
    window->reduced = true;
    return status;
}

static int check_loss(const axle_accelerator *accelerator, const axle_tensor *loss, double *value)
{
    *value = 0.0;
    if (!loss)
        return axle_error_code()
                   ? axle_error_code()
                   : axle_error_set(AXLE_ERR_INVALID, "axle_backward: there is no loss");
    if (accelerator->options.allow_nonfinite || accelerator->scaler.on)
        return AXLE_OK;
    int status = axle_tensor_item(loss, value);
    if (status || isfinite(*value))
        return status;
    if (axle__is_alone(accelerator))
        return axle_error_set(AXLE_ERR_NONFINITE, "axle_backward: the loss is %g", *value);
    return axle_error_set(AXLE_ERR_NONFINITE, "axle_backward: the loss of rank %d is %g",
                          axle_process_index(accelerator), *value);
}

void axle__window_abandon(axle_accelerator *accelerator)
{
    int at = 0;
    drop_window(accelerator);
    for (axle_optimizer *o; (o = axle__next_optimizer(accelerator, &at));)
        o->suspended = true;
    accelerator->window = (axle__window){.ends = true};
}

/* A loss of one of the processes is not finite: the window goes, on all of them. */
static void abandon_window(axle_accelerator *accelerator, axle__loop *loop)
{
    axle__window_abandon(accelerator);
    accelerator->group->nonfinite = AXLE__LOSS_FINITE;
    if (loop)
        loop->counted = true;
}

/* @param loss  NULL where it is not finite; the processes are met all the same, where they meet. */
static int run_pass(axle_accelerator *accelerator, axle_tensor *loss, double weight)
{
    bool alone = axle__is_alone(accelerator);
    axle__loop *loop = axle__current_loop(accelerator);
    int status = AXLE_OK;
    if (!loop || !loop->counted)
        status = count_batch(accelerator, loop, weight);
    if (!status)
        status = axle__scaler_before_pass(accelerator);
    double factor =
        status ? 0.0 : factor_of(accelerator, weight) * axle__scaler_factor(accelerator);
    if (!status && !alone && accelerator->window.averages)
        status = backward_reduced(accelerator, loss, factor);
    else if (!status && loss)
        status = backward_scaled(loss, factor);
    /* A batch without weight, of a process that a last batch leaves without a row, says nothing. */
    if (!status && alone && accelerator->window.ends && accelerator->window.held == 0.0)
        drop_window(accelerator);
    if (!status)
        status = axle__scaler_after_pass(accelerator);
    if (!status)
        tell_optimizers(accelerator);
    else if (status == AXLE_ERR_NONFINITE && !alone)
        abandon_window(accelerator, loop);
    return status;
}

int axle_backward_weighted(axle_accelerator *accelerator, axle_tensor *loss, double weight)
{
    double value;
    axle_group *group = accelerator->group;
    int status = check_loss(accelerator, loss, &value);
    bool shared = status == AXLE_ERR_NONFINITE && !axle__is_alone(accelerator);
    if (!status && !(weight >= 0.0 && isfinite(weight)))
        status = axle_error_set(AXLE_ERR_INVALID, "axle_backward_weighted: weight %g", weight);
    if (status && !shared)
        return status;
    /* The others hear of it in what is sent next, be it now or at the window's end. */
    if (shared)
        group->nonfinite = axle__loss_kind(value);
    bool fit = !group || group->nonfinite == AXLE__LOSS_FINITE;
    int code = run_pass(accelerator, fit ? loss : NULL, fit ? weight : 0.0);
    return status ? status : code;
}

int axle_backward(axle_accelerator *accelerator, axle_tensor *loss)
{
    const axle__loop *loop = axle__current_loop(accelerator);
    return axle_backward_weighted(accelerator, loss, loop ? loop->rows : 1.0);
}

/* ------------------------------------------------------------------ clipping */

axle__prepared *axle__prepared_of(axle_accelerator *accelerator, const axle_optimizer *optimizer)
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
    axle__prepared *prepared = axle__prepared_of(accelerator, optimizer);
    bool overflowed;
    int status = axle__scaler_judge(accelerator, optimizer, &overflowed);
    if (!status && overflowed && norm)
        *norm = INFINITY;
    if (status || overflowed)
        return status;
    status = axle_optimizer_clip_norm(optimizer, max_norm, norm);
    if (!status && prepared)
        prepared->clipped = true;
    return status;
}

int axle__clip_before_step(axle_optimizer *optimizer, void *user)
{
    axle_accelerator *accelerator = user;
    axle__prepared *prepared = axle__prepared_of(accelerator, optimizer);
    int status = axle__scaler_before_step(accelerator, optimizer, &optimizer->overflowed);
    if (status || optimizer->overflowed)
        return status;
    if (accelerator->options.clip_value > 0.0)
        status = axle_optimizer_clip_value(optimizer, accelerator->options.clip_value);
    if (!status && accelerator->options.clip_norm > 0.0 && prepared && !prepared->clipped)
        status = axle_optimizer_clip_norm(optimizer, accelerator->options.clip_norm, NULL);
    return status;
}
