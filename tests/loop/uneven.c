/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of unequal length, and losses that are not finite. */
#include "loop.h"

typedef struct runner {
    axle_accelerator *acc;
    axle_tensor *w;
    axle_optimizer *opt;
    axle_scheduler *sched;
} runner;

static double falls(int64_t tick, void *user)
{
    (void)user;
    return 1.0 / (1.0 + (double)tick);
}

static int open_runner(const axle_accelerator_options *options, runner *r)
{
    if (loop_open(options, &r->acc) || loop_weight(0.0, 0.5, &r->w, &r->opt))
        return 1;
    EXPECT(axle_lambda_schedule_create(r->opt, falls, NULL, &r->sched) == AXLE_OK);
    EXPECT(axle_prepare(r->acc, r->opt, r->sched) == AXLE_OK);
    return 0;
}

static void close_runner(runner *r)
{
    axle_accelerator_release(r->acc);
    axle_scheduler_release(r->sched);
    axle_optimizer_release(r->opt);
    axle_tensor_release(r->w);
}

static int step(runner *r, double x)
{
    EXPECT(axle_optimizer_zero_grad(r->opt) == AXLE_OK);
    EXPECT(axle_backward(r->acc, loop_product(r->w, x)) == AXLE_OK);
    EXPECT(axle_optimizer_step(r->opt) == AXLE_OK);
    EXPECT(axle_scheduler_step(r->sched) == AXLE_OK);
    return 0;
}

/* What the weight is after updates by these gradients. */
static double expected(const double *gradients, int count)
{
    double w = 0.0, moment = 0.0;
    for (int k = 0; k < count; k++) {
        moment = k ? 0.5 * moment + gradients[k] : gradients[k];
        w -= moment / (1.0 + k);
    }
    return w;
}

/* One process makes `most` steps, the others one; then all make one together. */
static int joins_after(int longest, int most)
{
    runner r;
    double gradients[8];
    if (open_runner(NULL, &r))
        return 1;
    EXPECT(loop_refused(axle_join_end(r.acc), AXLE_ERR_STATE, "nothing was begun"));
    EXPECT(axle_join_begin(r.acc) == AXLE_OK);
    EXPECT(loop_refused(axle_join_begin(r.acc), AXLE_ERR_STATE, "already"));
    for (int k = 0; k < (loop_rank == longest ? most : 1); k++) {
        if (step(&r, loop_rank + 1.0))
            return 1;
        if (k == 0)
            continue;
        /* What goes on is that of those who are left. */
        axle_tensor *own = axle_scalar(AXLE_DTYPE_F64, 3.0 + loop_rank);
        EXPECT(loop_item(axle_accelerator_reduce(r.acc, own, AXLE_REDUCE_MEAN)) == loop_item(own));
        EXPECT(loop_item(axle_accelerator_reduce(r.acc, own, AXLE_REDUCE_MAX)) == loop_item(own));
        EXPECT(axle_tensor_count(axle_accelerator_gather(r.acc, own)) == 1);
        EXPECT(axle_broadcast(axle_accelerator_group(r.acc), own, loop_rank) == AXLE_OK);
        axle_tensor *wide = axle_full(AXLE_DTYPE_F64, AXLE_DIMS(40000), 3.0 + loop_rank);
        wide = axle_accelerator_reduce(r.acc, wide, AXLE_REDUCE_MEAN);
        EXPECT(loop_item(axle_max(wide, 0, NULL, 0)) == loop_item(own));
        EXPECT(loop_item(axle_min(wide, 0, NULL, 0)) == loop_item(own));
        EXPECT(axle_wait_for_everyone(r.acc) == AXLE_OK);
    }
    EXPECT(axle_join_end(r.acc) == AXLE_OK);
    EXPECT(axle_optimizer_updates(r.opt) == most && axle_scheduler_ticks(r.sched) == most);
    if (step(&r, loop_rank + 1.0))
        return 1;
    gradients[0] = gradients[most] = (loop_size + 1) / 2.0;
    for (int k = 1; k < most; k++)
        gradients[k] = longest + 1.0;
    EXPECT(loop_near(loop_item(r.w), expected(gradients, most + 1), 1e-14));
    close_runner(&r);
    return 0;
}

static int joins(void)
{
    for (int most = 1; most <= 3; most++)
        if (joins_after(0, most) || joins_after(loop_size - 1, most))
            return 1;
    return 0;
}

/* Averages over time that checkpoints hold are those of the process that went on. */
static int joins_averages(void)
{
    axle_accelerator *acc;
    axle_module *net;
    axle_optimizer *opt;
    axle_ema *ema;
    uint64_t sum;
    int equal = 0;
    if (loop_open(NULL, &acc) || loop_learner(&net, &opt))
        return 1;
    EXPECT(axle_prepare(acc, net, opt) == AXLE_OK);
    EXPECT(axle_ema_create(net, 0.5, NULL, &ema) == AXLE_OK);
    EXPECT(axle_register_ema(acc, ema) == AXLE_OK && axle_join_begin(acc) == AXLE_OK);
    for (int k = 0; k < (loop_rank == 0 ? 3 : 1); k++) {
        EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
        axle_tensor *y = axle_module_forward(net, axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(2, 1)));
        EXPECT(axle_backward(acc, axle_mean_all(axle_square(y))) == AXLE_OK);
        EXPECT(axle_optimizer_step(opt) == AXLE_OK && axle_ema_update(ema, opt) == AXLE_OK);
    }
    EXPECT(axle_join_end(acc) == AXLE_OK);
    EXPECT(axle_ema_updates(ema) == 3 && axle_ema_update(ema, opt) == AXLE_OK);
    EXPECT(axle_ema_updates(ema) == 3 && axle_ema_swap(ema) == AXLE_OK);
    EXPECT(axle_module_checksum(net, &sum) == AXLE_OK);
    EXPECT(axle_processes_agree(acc, sum, &equal) == AXLE_OK && equal);
    axle_accelerator_release(acc);
    axle_ema_release(ema);
    axle_optimizer_release(opt);
    axle_module_release(net);
    return 0;
}

/* A window is open where a loop ends: an error, and none once it is said to be the last. */
static int joins_windows(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    runner r;
    o.accumulate = 2;
    if (open_runner(&o, &r))
        return 1;
    EXPECT(axle_join_begin(r.acc) == AXLE_OK);
    if (step(&r, 1.0))
        return 1;
    EXPECT(loop_refused(axle_join_end(r.acc), AXLE_ERR_STATE, "a window of 1 batch"));
    axle_accumulate_last(r.acc);
    if (step(&r, 2.0))
        return 1;
    EXPECT(axle_join_end(r.acc) == AXLE_OK && axle_optimizer_updates(r.opt) == 1);
    close_runner(&r);
    o.shard_optimizer = 1;
    if (open_runner(&o, &r))
        return 1;
    EXPECT(loop_refused(axle_join_begin(r.acc), AXLE_ERR_UNSUPPORTED, "shared-out"));
    close_runner(&r);
    return 0;
}

/* Without: the longer loop meets others that do something else, and all know. */
static int refuses_uneven(void)
{
    runner r;
    if (open_runner(NULL, &r))
        return 1;
    if (step(&r, 1.0))
        return 1;
    if (loop_size > 1) {
        int status = loop_rank == 0 ? axle_backward(r.acc, loop_product(r.w, 1.0))
                                    : axle_wait_for_everyone(r.acc);
        EXPECT(status == AXLE_ERR_STATE && strstr(axle_error_message(), "rank 0 asks for all_red"));
        EXPECT(strstr(axle_error_message(), "barrier"));
        axle_error_clear();
    }
    EXPECT(axle_wait_for_everyone(r.acc) == AXLE_OK);
    close_runner(&r);
    return 0;
}

/* The last process's loss is no number: all know whose, nothing moves, and training goes on. */
static int tells_all(void)
{
    runner r;
    int last = loop_size - 1;
    if (open_runner(NULL, &r))
        return 1;
    EXPECT(axle_optimizer_zero_grad(r.opt) == AXLE_OK);
    int status = axle_backward(r.acc, loop_product(r.w, loop_rank == last ? NAN : 1.0));
    char whose[64];
    snprintf(whose, sizeof(whose), loop_size > 1 ? "rank %d is nan" : "the loss is nan", last);
    EXPECT(status == AXLE_ERR_NONFINITE);
    EXPECT(loop_refused(status, AXLE_ERR_NONFINITE, whose) ||
           (loop_rank == last && loop_refused(status, AXLE_ERR_NONFINITE, "-nan")) ||
           (loop_rank == last && loop_size > 1));
    axle_error_clear();
    EXPECT(loop_item(r.w) == 0.0 && !axle_tensor_grad(r.w));
    if (step(&r, 2.0))
        return 1;
    EXPECT(loop_item(r.w) == -2.0 && axle_optimizer_updates(r.opt) == 1);
    close_runner(&r);
    return 0;
}

const loop_check loop_uneven[] = {
    {"18", "loops of unequal length are joined on request", joins},
    {"18", "windows end before loops are joined", joins_windows},
    {"18", "joined loops end with the same averages over time", joins_averages},
    {"18", "without, loops of unequal length are an error on all", refuses_uneven},
    {"18", "a loss that is not finite on one process is an error on all", tells_all},
    {NULL, NULL, NULL},
};
