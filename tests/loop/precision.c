/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed precision by any number of processes. */
#include "loop.h"

static axle_accelerator_options options_of(const char *precision)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    o.precision = precision;
    return o;
}

static int conflicts(void)
{
    axle_accelerator_options bf16 = options_of("bf16"), fp16 = options_of("fp16");
    axle_accelerator *one, *two;
    if (loop_open(&bf16, &one))
        return 1;
    EXPECT(loop_refused(axle_accelerator_create(&fp16, &two), AXLE_ERR_STATE,
                        "precision fp16 conflicts with precision bf16"));
    if (loop_open(&bf16, &two))
        return 1;
    axle_accelerator_release(one);
    axle_accelerator_release(two);
    return 0;
}

/* ------------------------------------------------------------------ a line */

typedef struct lesson {
    const char *precision;
    int region; /* type of products; F32: y = w x + b in f32 operators */
    int accumulate, shuffle, shard;
    int64_t n;
    double tolerance;
} lesson;

/* In products of the region's type, or in operators that have no type of their own. */
static axle_tensor *line(const lesson *l, axle_module *net, axle_tensor *x)
{
    if (l->region != AXLE_DTYPE_F32)
        return axle_module_forward(net, x);
    axle_tensor *weight = axle_module_parameter(net, "weight");
    return axle_add(axle_mul(x, weight), axle_module_parameter(net, "bias"));
}

static axle_tensor *loss_of(const lesson *l, axle_accelerator *acc, axle_module *net,
                            axle_batch *batch)
{
    if (!acc && axle_autocast_push(l->region))
        return NULL;
    axle_tensor *y = line(l, net, axle_batch_get(batch, "input"));
    axle_tensor *loss = axle_mse_loss(y, axle_batch_get(batch, "target"), AXLE_LOSS_MEAN);
    if (!acc)
        axle_autocast_pop();
    return loss;
}

/* Three epochs; without an accelerator alone, by the plain loop, and without a loss scale. */
static int train(axle_accelerator *acc, const lesson *l, double out[2])
{
    axle_module *net;
    axle_optimizer *opt;
    axle_loader *loader;
    axle_batch *batch;
    axle_loader_options o = AXLE_LOADER_OPTIONS_INIT;
    o.batch_size = acc ? 8 / l->accumulate : 8 * loop_size;
    o.shuffle = l->shuffle;
    o.seed = 11;
    if (loop_learner(&net, &opt) || loop_line(l->n, &o, &loader))
        return 1;
    if (acc)
        EXPECT(axle_prepare(acc, net, opt, loader) == AXLE_OK);
    for (int epoch = 0; epoch < 3; epoch++)
        while (axle_loader_next(loader, &batch)) {
            EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
            axle_tensor *loss = loss_of(l, acc, net, batch);
            EXPECT(loss && axle_tensor_dtype(loss) == AXLE_DTYPE_F32);
            EXPECT((acc ? axle_backward(acc, loss) : axle_tensor_backward(loss, NULL, 0)) ==
                   AXLE_OK);
            EXPECT(axle_optimizer_step(opt) == AXLE_OK);
            EXPECT(!axle_optimizer_step_was_skipped(opt));
        }
    return loop_learned(acc, net, opt, loader, out);
}

static int compare(lesson l)
{
    axle_accelerator *acc;
    axle_accelerator_options o = options_of(l.precision);
    axle_scaler_options s = AXLE_SCALER_OPTIONS_INIT;
    double one[2], many[2];
    l.n *= loop_size;
    s.scale = 1024.0;
    o.scaler = &s;
    o.accumulate = l.accumulate;
    o.shard_optimizer = l.shard;
    if (loop_open(&o, &acc) || train(NULL, &l, one) || train(acc, &l, many))
        return 1;
    for (int k = 0; k < 2; k++)
        EXPECT(loop_near(many[k], one[k], l.tolerance));
    EXPECT(fabs(one[0]) > 0.1 && fabs(one[1]) > 1.0); /* it learned */
    axle_accelerator_release(acc);
    return 0;
}

static int equals_in_bf16(void)
{
    return compare((lesson){"bf16", AXLE_DTYPE_BF16, 1, 1, 0, 32, 2e-2});
}

static int equals_in_fp16(void)
{
    return compare((lesson){"fp16", AXLE_DTYPE_F16, 1, 1, 0, 32, 2e-3});
}

/* What runs in f32 loses nothing by being scaled. */
static int scaling_costs_nothing(void)
{
    for (int shard = 0; shard < 2; shard++)
        for (int accumulate = 1; accumulate <= 2; accumulate++)
            if (compare((lesson){"fp16", AXLE_DTYPE_F32, accumulate, 1, shard, 32, 1e-6}))
                return 1;
    return 0;
}

/* ------------------------------------------------------------------ overflow */

/* (3) f32; its gradient is what the loss multiplies it by. */
typedef struct subject {
    axle_tensor *weight;
    axle_optimizer *opt;
    axle_scheduler *sched;
} subject;

static int subject_make(axle_accelerator *acc, subject *out)
{
    axle_adam_options adam = AXLE_ADAM_OPTIONS_INIT;
    adam.lr = 0.5;
    out->weight = axle_tensor_retain(axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(3)));
    EXPECT(axle_tensor_set_requires_grad(out->weight, 1) == AXLE_OK);
    EXPECT(axle_adam_create(NULL, &adam, &out->opt) == AXLE_OK);
    EXPECT(axle_optimizer_add_group(out->opt, &out->weight, 1, NULL) == AXLE_OK);
    EXPECT(axle_linear_schedule_create(out->opt, 0, 10, &out->sched) == AXLE_OK);
    EXPECT(axle_prepare(acc, out->opt, out->sched) == AXLE_OK);
    return 0;
}

static void subject_end(subject *s)
{
    axle_scheduler_release(s->sched);
    axle_optimizer_release(s->opt);
    axle_tensor_release(s->weight);
}

/* The last process alone has `slope` in the last element. */
static int pass(axle_accelerator *acc, const subject *s, double slope)
{
    double last = loop_rank == loop_size - 1 ? slope : 1.0;
    axle_tensor *slopes = axle_cast(
        axle_from_data(AXLE_DTYPE_F64, AXLE_DIMS(3), (double[]){1.0, 1.0, last}), AXLE_DTYPE_F32);
    return axle_backward(acc, axle_sum_all(axle_mul(s->weight, slopes)));
}

/* A window of `accumulate` batches, the first of which may overflow. */
static int update(axle_accelerator *acc, const subject *s, double slope)
{
    for (int k = 0; k < axle_accumulate_count(acc); k++) {
        EXPECT(axle_optimizer_zero_grad(s->opt) == AXLE_OK);
        EXPECT(pass(acc, s, k == 0 ? slope : 1.0) == AXLE_OK);
        EXPECT(axle_optimizer_step(s->opt) == AXLE_OK);
        EXPECT(axle_scheduler_step(s->sched) == AXLE_OK);
    }
    return 0;
}

/* Updates 2 and 3 of 4 overflow, on one process. */
static int skips(int accumulate, int shard, int local)
{
    static const double slopes[] = {1.0, NAN, INFINITY, 1.0};
    static const bool skipped[] = {false, true, true, false};
    static const double lrs[] = {0.45, 0.45, 0.45, 0.4}, scales[] = {65536, 32768, 16384, 16384};
    axle_accelerator_options o = options_of("fp16");
    axle_accelerator *acc;
    subject s;
    o.accumulate = accumulate;
    o.shard_optimizer = shard;
    o.local_sgd = local;
    if (loop_open(&o, &acc) || subject_make(acc, &s))
        return 1;
    for (int k = 0; k < 4; k++) {
        float before[3], after[3];
        uint64_t sum = 0;
        int equal = 0;
        EXPECT(axle_tensor_read(s.weight, before, sizeof(before)) == AXLE_OK);
        if (update(acc, &s, slopes[k]))
            return 1;
        EXPECT(axle_tensor_read(s.weight, after, sizeof(after)) == AXLE_OK);
        EXPECT((memcmp(before, after, sizeof(before)) == 0) == skipped[k]);
        EXPECT(axle_step_was_skipped(acc) == skipped[k]);
        EXPECT(axle_optimizer_step_was_skipped(s.opt) == skipped[k]);
        EXPECT(axle_loss_scale(acc) == scales[k]);
        EXPECT(fabs(axle_optimizer_lr(s.opt, 0) - lrs[k]) < 1e-12);
        memcpy(&sum, &after[1], sizeof(sum));
        EXPECT(axle_processes_agree(acc, sum, &equal) == AXLE_OK && equal);
    }
    EXPECT(axle_optimizer_updates(s.opt) == 2 && axle_scheduler_ticks(s.sched) == 2);
    axle_accelerator_release(acc);
    subject_end(&s);
    return 0;
}

static int skips_together(void)
{
    return skips(1, 0, 0);
}

static int skips_in_windows(void)
{
    return skips(2, 0, 0);
}

static int skips_shared_out(void)
{
    return skips(1, 1, 0) || skips(2, 1, 0);
}

/* Each process has gradients of its own, and all count the same updates. */
static int skips_locally(void)
{
    return skips(1, 0, 2) || skips(2, 0, 1);
}

/* The last process makes three updates, of which the second overflows, and the others one; what
 * came of that goes to all. */
static int joins_with_a_scale(void)
{
    axle_accelerator_options o = options_of("fp16");
    axle_accelerator *acc;
    subject s;
    float weight[3];
    int equal = 0;
    uint64_t sum = 0;
    if (loop_open(&o, &acc) || subject_make(acc, &s))
        return 1;
    EXPECT(axle_join_begin(acc) == AXLE_OK);
    for (int k = 0; k < (loop_rank == loop_size - 1 ? 3 : 1); k++)
        if (update(acc, &s, k == 1 ? INFINITY : 1.0))
            return 1;
    EXPECT(axle_join_end(acc) == AXLE_OK);
    EXPECT(axle_loss_scale(acc) == 32768.0);
    EXPECT(axle_optimizer_updates(s.opt) == 2 && axle_scheduler_ticks(s.sched) == 2);
    for (int k = 0; k < 2; k++) {
        EXPECT(axle_tensor_read(s.weight, weight, sizeof(weight)) == AXLE_OK);
        memcpy(&sum, &weight[1], sizeof(sum));
        EXPECT(axle_processes_agree(acc, sum, &equal) == AXLE_OK && equal);
        if (update(acc, &s, 1.0))
            return 1;
    }
    EXPECT(axle_optimizer_updates(s.opt) == 4 && axle_loss_scale(acc) == 32768.0);
    axle_accelerator_release(acc);
    subject_end(&s);
    return 0;
}

typedef struct search {
    axle_accelerator *acc;
    const subject *s;
} search;

/* Batches of more than 4 do not fit into the last process, and those that do overflow. */
static int try_batch(int64_t batch, void *user)
{
    const search *of = user;
    if (batch > 4 && loop_rank == loop_size - 1)
        return AXLE_ERR_NOMEM;
    int status = pass(of->acc, of->s, INFINITY);
    return status ? status : axle_optimizer_step(of->s->opt);
}

/* Trials leave the scale alone. */
static int finds_batches(void)
{
    axle_accelerator_options o = options_of("fp16");
    axle_accelerator *acc;
    subject s;
    int64_t batch = 0;
    if (loop_open(&o, &acc) || subject_make(acc, &s))
        return 1;
    EXPECT(axle_find_batch_size(acc, 16, try_batch, &(search){acc, &s}, &batch) == AXLE_OK);
    EXPECT(batch == 4 && axle_loss_scale(acc) == 65536.0 && axle_optimizer_updates(s.opt) == 0);
    if (update(acc, &s, 1.0))
        return 1;
    EXPECT(axle_optimizer_updates(s.opt) == 1 && axle_loss_scale(acc) == 65536.0);
    EXPECT(!axle_step_was_skipped(acc));
    axle_accelerator_release(acc);
    subject_end(&s);
    return 0;
}

const loop_check loop_precision[] = {
    {"1", "a second precision conflicts", conflicts},
    {"12", "P processes equal one in bf16", equals_in_bf16},
    {"12", "P processes equal one in fp16", equals_in_fp16},
    {"12", "a loss scale changes no digit of f32", scaling_costs_nothing},
    {"15", "an overflow on one process skips the update on all", skips_together},
    {"15", "so it does inside a window", skips_in_windows},
    {"15", "so it does where the optimizer is shared out", skips_shared_out},
    {"15", "so it does with local SGD", skips_locally},
    {"15", "trials of batch sizes leave the loss scale alone", finds_batches},
    {"18", "joined loops end with one loss scale", joins_with_a_scale},
    {NULL, NULL, NULL},
};
