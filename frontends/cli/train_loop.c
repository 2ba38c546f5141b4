/* SPDX-License-Identifier: Apache-2.0 */
/* The training loop, and evaluation. */
#define _GNU_SOURCE 1
#include <math.h>

#include "clock.h"
#include "interrupt.h"
#include "mean.h"
#include "train.h"
#include "train_track.h"

/* ------------------------------------------------------------------ training */

/* One batch: the loop of the library's documentation. *loss is that of the batch, *ends tells
 * whether it made an update. */
static int train_batch(training *training, axle_batch *batch, double *loss, int *ends)
{
    *ends = 0;
    int code = axle_optimizer_zero_grad(training->optimizer);
    if (code)
        return code;
    axle_output out = axle_model_forward(training->model, batch);
    code = axle_backward(training->accelerator, out.loss);
    if (!code)
        code = axle_tensor_item(out.loss, loss);
    *ends = axle_is_update(training->accelerator);
    training->lr = axle_optimizer_lr(training->optimizer, 0);
    if (!code)
        code = axle_optimizer_step(training->optimizer);
    if (!code && training->ema)
        code = axle_ema_update(training->ema, training->optimizer);
    if (!code)
        code = axle_scheduler_step(training->scheduler);
    return code;
}

/* Seconds waited for other processes; negative where there are none. */
static double waited_so_far(const training *training)
{
    axle_group *group = axle_accelerator_group(training->accelerator);
    return axle_group_size(group) > 1 ? axle_group_waited(group) : -1.0;
}

/* After an update. */
static int note_update(training *training, const mean *window)
{
    train_result *result = &training->result;
    double loss;
    int code = mean_of_all(training->accelerator, window, &loss);
    if (code)
        return code;
    code = train_checkpoint_note(training, loss);
    if (code)
        return code;
    if (result->updates++ == 0)
        result->first_loss = loss;
    result->last_loss = loss;
    loss_log_write(&training->log, result->updates, loss);
    int64_t rows = result->rows * axle_process_count(training->accelerator);
    progress_state state = {.epoch = axle_loader_epoch(training->loader) + 1,
                            .update = result->updates,
                            .rows = rows,
                            .loss = loss,
                            .lr = training->lr,
                            .waited = waited_so_far(training)};
    progress_update(&training->progress, &state);
    return train_track_update(training, loss);
}

/* Each process adds what it has of the epoch; in a checkpoint is what all have. */
static int save(training *training, const mean *epoch)
{
    double processes = axle_process_count(training->accelerator), rows = (double)epoch->rows;
    if (!train_checkpoint_is_due(training))
        return AXLE_OK;
    int code = mean_of_all(training->accelerator, epoch, &training->epoch_loss);
    if (!code)
        code = axle_weighted_mean(training->accelerator, rows, 1.0, &training->epoch_rows);
    training->epoch_rows *= processes;
    if (!code)
        code = train_checkpoint_step(training);
    training->epoch_rows = 0.0;
    return code;
}

/* What a checkpoint knows of the epoch; once, and on one process. */
static mean begin_epoch(training *training)
{
    int64_t rows = axle_is_main_process(training->accelerator) ? llround(training->epoch_rows) : 0;
    mean epoch = {training->epoch_loss * (double)rows, training->epoch_loss, rows, rows > 0};
    training->epoch_rows = 0.0;
    return epoch;
}

static int train_epoch(training *training)
{
    train_result *result = &training->result;
    mean epoch = begin_epoch(training), window = {0.0, 0.0, 0, 0};
    axle_batch *batch;
    while (axle_loader_next(training->loader, &batch)) {
        double loss;
        int64_t rows = axle_batch_weight(batch);
        int ends, code = train_batch(training, batch, &loss, &ends);
        if (!code && rows > 0) {
            result->rows += rows;
            mean_add(&epoch, loss, rows);
            mean_add(&window, loss, rows);
        }
        if (!code && ends) {
            code = note_update(training, &window);
            window = (mean){0.0, 0.0, 0, 0};
            if (!code)
                code = save(training, &epoch);
        }
        if (!code && interrupt_signal())
            code = AXLE_ERR_INTERRUPTED;
        if (code || result->updates == training->updates) {
            axle_loader_break(training->loader);
            return code ? code : mean_of_all(training->accelerator, &epoch, &result->train_loss);
        }
    }
    int code = axle_loader_status(training->loader);
    return code ? code : mean_of_all(training->accelerator, &epoch, &result->train_loss);
}

/* The rows of all processes. */
static int sum_rows(training *training)
{
    double mean = (double)training->result.rows;
    int code = axle_weighted_mean(training->accelerator, mean, 1.0, &mean);
    if (!code)
        training->result.rows = llround(mean * axle_process_count(training->accelerator));
    return code;
}

/* Where the task wants it, evaluate between epochs; the last one's turn comes when the model is
 * finished. */
static int end_epoch(training *training)
{
    if (!training->task->evaluates_epochs || !training->eval_loader ||
        training->result.updates == training->updates)
        return AXLE_OK;
    int code = train_evaluate_now(training);
    if (code)
        return code;
    progress_end(&training->progress);
    if (!training->settings->quiet && training->is_main) {
        fprintf(stderr, "epoch %lld: test ", (long long)axle_loader_epoch(training->loader));
        evaluation_print(&training->result.eval, stderr);
        putc('\n', stderr);
    }
    return train_track_evaluation(training);
}

int train_loop(training *training)
{
    const train_settings *settings = training->settings;
    int code = interrupt_signal() ? AXLE_ERR_INTERRUPTED : AXLE_OK;
    axle_module_train(axle_model_module(training->model), 1);
    progress_begin(
        &training->progress, settings->quiet || !axle_is_main_process(training->accelerator),
        settings->epochs, training->updates, settings->log_every, waited_so_far(training));
    training->progress.before = training->result.updates;
    double start = clock_seconds();
    while (!code && training->result.updates < training->updates) {
        code = train_epoch(training);
        if (!code)
            code = end_epoch(training);
    }
    if (!code)
        code = axle_device_synchronize(axle_accelerator_device(training->accelerator));
    if (!code)
        code = sum_rows(training);
    training->result.seconds = clock_seconds() - start;
    progress_end(&training->progress);
    return code;
}

/* ------------------------------------------------------------------ evaluation */

int train_evaluate(training *training)
{
    train_result *result = &training->result;
    if (!training->eval_loader)
        return AXLE_OK;
    const evaluation_of subject = {training->accelerator,  training->model,   training->eval_loader,
                                   training->task->labels, training->metrics, training->labels};
    int code = axle_prepare(training->accelerator, training->eval_loader);
    if (!code)
        code = evaluate(&subject, &result->eval);
    if (code)
        return code;
    result->eval_loss = result->eval.loss;
    result->eval_accuracy = evaluation_value(&result->eval, "accuracy");
    result->evaluated = 1;
    return AXLE_OK;
}

int train_evaluate_now(training *training)
{
    int code = training->ema ? axle_ema_swap(training->ema) : AXLE_OK;
    if (code)
        return code;
    code = train_evaluate(training);
    int back = training->ema ? axle_ema_swap(training->ema) : AXLE_OK;
    return code ? code : back;
}
