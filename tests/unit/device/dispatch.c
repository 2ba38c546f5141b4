/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on their way to a device: a board whose kernels are the host's, and which answers,
 * counts and delays as a test wants.
 */
#include "device/dispatch.h"

#include "device/board.h"
#include "device/op_cache.h"
#include "tensor/tensor.h"
#include "tensors.h"

/* A prepared operator of the board wraps one of the host. */
struct axle_be_op {
    axle_be_op *host;
};

typedef struct pending_run {
    axle_be_op *op;
    axle_op_args args;
    axle_view view[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT];
    const axle_view *in[AXLE_OP_MAX_IN], *out[AXLE_OP_MAX_OUT];
} pending_run;

enum { MOST_PENDING = 64 };

/* What the board answers to queries, and what was asked of it. */
static uint32_t board_support, board_layout;
static uint64_t board_workspace;
static bool board_lazy; /* work waits until somebody has to see its results */
static axle_status board_prepare_status, board_run_status;
static uint32_t board_error_flags;
static atomic_bool board_saw_strides, board_saw_workspace;
static atomic_int board_prepared, board_ops, board_runs, board_inside, board_overlaps;
/* Operators are released by any thread, also while others use the queue. */
static pthread_mutex_t board_pending_lock = PTHREAD_MUTEX_INITIALIZER;
static pending_run *board_pending[MOST_PENDING];
static int board_pending_count;

static axle_status import(const axle_view *view, axle_view *copy, axle_error *error)
{
    axle_device *host = axle_device_host();
    *copy = *view;
    return view->buffer ? host->api->buffer_import(host->handle, view->buffer->data,
                                                   view->buffer->size, &copy->buffer, error)
                        : AXLE_OK;
}

static axle_status run_now(const pending_run *run, axle_error *error)
{
    axle_device *host = axle_device_host();
    axle_view view[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT];
    const axle_view *in[AXLE_OP_MAX_IN] = {NULL}, *out[AXLE_OP_MAX_OUT] = {NULL};
    axle_op_args args = run->args;
    axle_status status = AXLE_OK;
    int n = 0;
    for (uint32_t k = 0; k < args.n_in && !status; k++) {
        if (!run->in[k])
            continue;
        in[k] = &view[n];
        status = import(run->in[k], &view[n++], error);
    }
    for (uint32_t k = 0; k < args.n_out && !status; k++) {
        if (!run->out[k])
            continue;
        out[k] = &view[n];
        status = import(run->out[k], &view[n++], error);
    }
    args.in = in;
    args.out = out;
    args.workspace = NULL;
    if (!status)
        status = host->api->op_run(host->queue, run->op->host, &args, error);
    for (int k = 0; k < n; k++)
        if (view[k].buffer)
            host->api->buffer_destroy(view[k].buffer);
    return status;
}

static void drain_locked(void)
{
    for (int k = 0; k < board_pending_count; k++) {
        assert_int_equal(run_now(board_pending[k], NULL), AXLE_OK);
        free(board_pending[k]);
    }
    board_pending_count = 0;
}

static void drain(void)
{
    pthread_mutex_lock(&board_pending_lock);
    drain_locked();
    pthread_mutex_unlock(&board_pending_lock);
}

static void run_later(pending_run *run)
{
    pthread_mutex_lock(&board_pending_lock);
    if (board_pending_count == MOST_PENDING)
        drain_locked();
    board_pending[board_pending_count++] = run;
    pthread_mutex_unlock(&board_pending_lock);
}

static axle_status op_query(axle_be_device *device, const axle_op_desc *desc, axle_op_info *info)
{
    (void)device;
    (void)desc;
    info->support = board_support;
    info->layout = board_layout;
    info->workspace_size = board_workspace;
    return AXLE_OK;
}

static void note_strides(const axle_view *view)
{
    if (view && !axle__view_is_row_major(view))
        board_saw_strides = true;
}

static axle_status op_prepare(axle_be_device *device, const axle_op_desc *desc, axle_be_op **out,
                              axle_error *error)
{
    (void)device;
    axle_device *host = axle_device_host();
    if (board_prepare_status) {
        snprintf(error->message, error->message_capacity, "no room for %u", desc->op);
        return board_prepare_status;
    }
    for (uint32_t k = 0; k < desc->n_in; k++)
        note_strides(desc->in[k]);
    for (uint32_t k = 0; k < desc->n_out; k++)
        note_strides(desc->out[k]);
    axle_be_op *op = malloc(sizeof(*op));
    axle_status status = host->api->op_prepare(host->handle, desc, &op->host, error);
    if (status) {
        free(op);
        return status;
    }
    board_prepared++;
    board_ops++;
    *out = op;
    return AXLE_OK;
}

static axle_status op_run(axle_be_queue *queue, axle_be_op *op, const axle_op_args *args,
                          axle_error *error)
{
    (void)queue;
    board_runs++;
    if (board_run_status) {
        snprintf(error->message, error->message_capacity, "the board is on fire");
        error->flags = board_error_flags;
        return board_run_status;
    }
    if (board_inside++ > 0)
        board_overlaps++;
    if (args->workspace && args->workspace_offset % 64 == 0)
        board_saw_workspace = true;
    pending_run *run = calloc(1, sizeof(*run));
    run->op = op;
    run->args = *args;
    for (uint32_t k = 0; k < args->n_in; k++)
        if (args->in[k])
            *(axle_view *)(run->in[k] = &run->view[k]) = *args->in[k];
    for (uint32_t k = 0; k < args->n_out; k++)
        if (args->out[k])
            *(axle_view *)(run->out[k] = &run->view[AXLE_OP_MAX_IN + k]) = *args->out[k];
    axle_status status = AXLE_OK;
    if (board_lazy) {
        run_later(run);
    } else {
        status = run_now(run, error);
        free(run);
    }
    board_inside--;
    return status;
}

static void op_release(axle_be_op *op)
{
    drain();
    axle_device_host()->api->op_release(op->host);
    free(op);
    board_ops--;
}

static axle_status finish(axle_be_queue *queue, axle_error *error)
{
    drain();
    return board_finish(queue, error);
}

static axle_status read_back(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                             void *data, uint64_t size, uint32_t when, axle_error *error)
{
    drain();
    return board_read_back(queue, buffer, offset, data, size, when, error);
}

static axle_status write_to(axle_be_queue *queue, axle_be_buffer *buffer, uint64_t offset,
                            const void *data, uint64_t size, uint32_t when, axle_error *error)
{
    drain();
    return board_write(queue, buffer, offset, data, size, when, error);
}

static board the_board;

static int start(uint64_t caps, uint32_t support)
{
    board_support = support;
    board_layout = AXLE_LAYOUT_ROW_MAJOR;
    board_workspace = 0;
    board_prepare_status = board_run_status = AXLE_OK;
    board_error_flags = 0;
    board_saw_strides = board_saw_workspace = false;
    board_prepared = board_ops = board_runs = board_inside = board_overlaps = 0;
    board_lazy = (caps & AXLE_CAP_ASYNC) != 0;
    board_init(&the_board, 1 << 30);
    the_board.api.op_query = op_query;
    the_board.api.op_prepare = op_prepare;
    the_board.api.op_run = op_run;
    the_board.api.op_release = op_release;
    the_board.api.queue_finish = finish;
    the_board.api.read = read_back;
    the_board.api.write = write_to;
    the_board.device.info.caps = caps;
    strcpy(the_board.device.info.name, "Test Board");
    the_board.device.synchronous = !board_lazy;
    board_start(&the_board);
    return axle__op_cache_create(&the_board.device.cache) || axle_scope_push() ||
           axle_device_push(&the_board.device);
}

static int stop(void **state)
{
    (void)state;
    axle_device_pop();
    axle_scope_pop();
    drain();
    axle__op_cache_destroy(the_board.device.cache);
    assert_int_equal(board_ops, 0);
    board_stop(&the_board);
    int code = axle_error_code();
    axle_error_clear();
    unsetenv("AXLE_FALLBACK");
    axle__settings_reset();
    return code;
}

static int ready(void **state)
{
    (void)state;
    return start(AXLE_CAP_HOST_VISIBLE, AXLE_SUPPORT_YES);
}
static int declining(void **state)
{
    (void)state;
    return start(AXLE_CAP_HOST_VISIBLE, AXLE_SUPPORT_NO);
}
static int far_and_declining(void **state)
{
    (void)state;
    return start(0, AXLE_SUPPORT_NO);
}
static int far_and_lazy(void **state)
{
    (void)state;
    return start(AXLE_CAP_ASYNC, AXLE_SUPPORT_YES);
}
static int far_lazy_and_declining(void **state)
{
    (void)state;
    return start(AXLE_CAP_ASYNC, AXLE_SUPPORT_NO);
}
static int contiguous(void **state)
{
    (void)state;
    return start(AXLE_CAP_HOST_VISIBLE, AXLE_SUPPORT_CONTIGUOUS);
}
static int strict(void **state)
{
    setenv("AXLE_FALLBACK", "error", 1);
    return declining(state);
}

static axle_device_stats stats(void)
{
    axle_device_stats result = AXLE_DEVICE_STATS_INIT;
    assert_int_equal(axle_device_get_stats(&the_board.device, &result), AXLE_OK);
    return result;
}

/* ------------------------------------------------------------------ what is served */

static void a_served_operator_is_prepared_once(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2, 3);
    for (int k = 0; k < 5; k++)
        EXPECT(axle_square(x), 1, 4, 9);
    assert_int_equal(board_prepared, 1);
    assert_int_equal(stats().prepared_ops, board_prepared);
    assert_int_equal(stats().op_runs, board_runs);
    assert_int_equal(stats().fallbacks, 0);
    axle_square(VECTOR(1, 2));
    assert_int_equal(board_prepared, 2);
}

static void attributes_tell_operators_apart(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    EXPECT(axle_mul_scalar(x, 2), 2, 4);
    EXPECT(axle_mul_scalar(x, 3), 3, 6);
    EXPECT(axle_add_scalar(x, 3), 4, 5);
    EXPECT(axle_exp(axle_mul_scalar(x, 0)), 1, 1);
}

static void a_workspace_is_lent(void **state)
{
    (void)state;
    board_workspace = 1000;
    axle_tensor *x = VECTOR(1, 2);
    uint64_t before = stats().bytes_in_use;
    axle_scope_push();
    axle_neg(x);
    axle_scope_pop();
    assert_true(board_saw_workspace);
    assert_int_equal(stats().bytes_in_use, before);
}

static void the_layout_that_a_device_likes_is_given(void **state)
{
    (void)state;
    board_layout = AXLE_LAYOUT_CHANNELS_LAST;
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(2, 3, 4, 4));
    axle_tensor *w = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(5, 3, 2, 2));
    axle_tensor *y = axle_conv(x, w, NULL, NULL);
    assert_int_equal(axle_tensor_strides(y)[1], 1);
    EXPECT(axle_select(axle_select(axle_select(y, 0, 1), 0, 4), 0, 2), 12, 12, 12);
}

static void results_without_elements_reach_no_device(void **state)
{
    (void)state;
    int before = board_runs;
    axle_tensor *x = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(0, 4));
    assert_non_null(axle_softmax(axle_exp(axle_add(x, x)), 1));
    assert_non_null(axle_matmul(x, axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(4, 0))));
    assert_int_equal(board_runs, before);
}

/* ------------------------------------------------------------------ failures */

static void a_failed_preparation_is_not_remembered(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    board_prepare_status = AXLE_ERR_COMPILE;
    assert_null(axle_neg(x));
    unit_expect_error(AXLE_ERR_COMPILE, "board: unary: no room for");
    assert_int_equal(stats().prepared_ops, board_ops);
    board_prepare_status = AXLE_OK;
    EXPECT(axle_neg(x), -1, -2);
}

static void a_failed_run_tells_the_devices_words(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    board_run_status = AXLE_ERR_IO;
    assert_null(axle_neg(x));
    unit_expect_error(AXLE_ERR_IO, "board: unary: the board is on fire");
    board_run_status = AXLE_OK;
    EXPECT(axle_neg(x), -1, -2);
}

static void a_lost_device_runs_nothing_more(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    board_run_status = AXLE_ERR_INTERNAL;
    board_error_flags = AXLE_ERROR_STICKY;
    assert_null(axle_neg(x));
    unit_expect_error(AXLE_ERR_INTERNAL, "on fire");
    board_run_status = AXLE_OK;
    int runs = board_runs;
    assert_null(axle_matmul(axle_unsqueeze(x, 0), axle_unsqueeze(x, 1)));
    unit_expect_error(AXLE_ERR_DEVICE_LOST, "matmul: device Test Board was lost");
    assert_int_equal(board_runs, runs);
}

/* ------------------------------------------------------------------ fallback */

/* A little of everything: strided operands, several results, gradients, updates in place. */
static void run_a_little_of_everything(void)
{
    axle_tensor *m = tensors_count(AXLE_DIMS(2, 3)), *t = axle_transpose(m, 0, 1);
    EXPECT(axle_matmul(m, t), 5, 14, 14, 50);
    EXPECT(axle_add(t, VECTOR(10, 20)), 10, 23, 11, 24, 12, 25);
    EXPECT(axle_sum(axle_slice(m, 1, 0, 3, 2), 1, (int[]){0}, 0), 3, 7);
    axle_tensor *x = tensors_leaf(tensors_count(AXLE_DIMS(4, 2)));
    axle_tensor *mean = VECTOR(0, 0), *var = VECTOR(1, 1);
    axle_tensor *y = axle_batch_norm(x, NULL, NULL, mean, var, 1, 0.5, 0.0);
    assert_int_equal(axle_tensor_backward(axle_sum_all(axle_square(y)), NULL, 0), AXLE_OK);
    EXPECT(mean, 1.5, 2);
    EXPECT_NEAR(axle_sum_all(axle_abs(axle_tensor_grad(x))), 1e-9, 0);
    axle_tensor *column = VECTOR(7, 8);
    assert_int_equal(axle_tensor_assign(axle_select(m, 1, 1), column), AXLE_OK);
    EXPECT(m, 0, 7, 2, 3, 8, 5);
    int64_t ids[] = {2, 0, 9};
    axle_tensor *index = axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), ids);
    EXPECT(axle_index_select(t, 0, index), 2, 5, 0, 3);
}

static void what_a_device_declines_the_host_does(void **state)
{
    (void)state;
    run_a_little_of_everything();
    assert_int_equal(board_runs, 0);
    assert_int_equal(stats().op_runs, 0);
    assert_true(stats().fallbacks > 10);
    uint64_t before = stats().fallbacks;
    axle_neg(VECTOR(1));
    assert_int_equal(stats().fallbacks, before + 1);
}

static void a_device_without_operators_is_served_by_the_host(void **state)
{
    (void)state;
    the_board.api.op_query = NULL;
    run_a_little_of_everything();
    assert_int_equal(board_runs, 0);
}

static void an_error_on_the_host_is_told(void **state)
{
    (void)state;
    int64_t ids[] = {0, 5};
    axle_tensor *index = axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(2), ids);
    assert_null(axle_index_select(VECTOR(1, 2, 3), 0, index));
    unit_expect_error(AXLE_ERR_INDEX, "5");
    EXPECT(axle_neg(VECTOR(1)), -1);
}

static void fallback_can_be_forbidden(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    assert_null(axle_neg(x));
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "unary: board does not support these operands, and "
                                            "AXLE_FALLBACK=error forbids");
    assert_null(axle_softmax(x, 0));
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "softmax: ");
    assert_int_equal(stats().fallbacks, 0);
    board_support = AXLE_SUPPORT_YES; /* decisions are remembered, new shapes are asked for */
    assert_non_null(axle_neg(VECTOR(1, 2, 3)));
}

static void a_far_device_needs_no_map(void **state)
{
    (void)state;
    run_a_little_of_everything();
    assert_int_equal(board_mapped, 0);
    assert_true(board_read > 0);
    void *address;
    assert_int_equal(axle_tensor_data(VECTOR(1), &address), AXLE_ERR_DEVICE);
    unit_expect_error(AXLE_ERR_DEVICE, "Test Board");
}

static void work_under_way_is_waited_for(void **state)
{
    (void)state;
    axle_tensor *x = VECTOR(1, 2);
    for (int k = 0; k < 100; k++)
        x = axle_add_scalar(x, 1);
    assert_true(board_pending_count > 0);
    EXPECT(x, 101, 102);
    run_a_little_of_everything();
    assert_int_equal(stats().fallbacks, 0);
    assert_int_equal(axle_device_synchronize(&the_board.device), AXLE_OK);
}

/* The host may start only when what the device does has ended. */
static void the_host_waits_for_the_device(void **state)
{
    (void)state;
    board_support = AXLE_SUPPORT_YES;
    axle_tensor *x = axle_mul_scalar(VECTOR(1, 2), 10);
    assert_true(board_pending_count > 0);
    int finished = board_finished;
    board_support = AXLE_SUPPORT_NO;
    EXPECT(axle_square(x), 100, 400);
    assert_true(board_finished > finished);
}

/* ------------------------------------------------------------------ contiguous operands */

static void operands_are_made_contiguous(void **state)
{
    (void)state;
    run_a_little_of_everything();
    assert_false(board_saw_strides);
    assert_true(board_runs > 0);
}

static void matrices_without_columns_are_contiguous(void **state)
{
    (void)state;
    axle_tensor *a = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(3, 0));
    axle_tensor *b = axle_zeros(AXLE_DTYPE_F64, AXLE_DIMS(0, 2));
    EXPECT(axle_matmul(a, b), 0, 0, 0, 0, 0, 0);
    EXPECT(axle_matmul(axle_transpose(b, 0, 1), axle_transpose(a, 0, 1)), 0, 0, 0, 0, 0, 0);
    EXPECT(axle_sum(axle_transpose(a, 0, 1), 1, (int[]){0}, 0), 0, 0, 0);
}

/* ------------------------------------------------------------------ the cache */

/* Negate n elements of one tensor into another. */
static void negate(axle_device *device, axle_tensor *x, axle_tensor *y, int64_t n)
{
    axle_unary_attrs attrs = {sizeof(attrs), AXLE_UNARY_NEG, 0, 0};
    axle_view from = x->view, to = y->view;
    from.dim[0] = to.dim[0] = n;
    axle__call call = {.op = AXLE_OP_UNARY,
                       .n_in = 1,
                       .n_out = 1,
                       .in = {&from},
                       .out = {&to},
                       .attrs = &attrs,
                       .attrs_size = sizeof(attrs)};
    if (axle__dispatch(device, &call))
        fail_msg("%s", axle_error_message());
}

enum { MANY_SHAPES = 20000, MOST_PREPARED = 8192 };

static void the_cache_is_bounded(void **state)
{
    (void)state;
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(MANY_SHAPES));
    axle_tensor *y = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(MANY_SHAPES));
    for (int64_t n = 1; n <= MANY_SHAPES; n++) {
        negate(&the_board.device, x, y, n);
        assert_true(board_ops <= MOST_PREPARED);
    }
    assert_int_equal(stats().prepared_ops, board_ops);
    assert_true(board_ops > MOST_PREPARED / 2);
    EXPECT(axle_sum_all(y), -MANY_SHAPES);
}

static void what_is_used_stays_in_the_cache(void **state)
{
    (void)state;
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(MANY_SHAPES));
    axle_tensor *y = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(MANY_SHAPES));
    negate(&the_board.device, x, y, 1);
    int before = board_prepared;
    for (int64_t n = 2; n <= MANY_SHAPES; n++) {
        negate(&the_board.device, x, y, n);
        negate(&the_board.device, x, y, 1);
    }
    assert_int_equal(board_prepared, before + MANY_SHAPES - 1);
}

/* ------------------------------------------------------------------ threads */

typedef struct worker {
    pthread_t thread;
    axle_device *device;
    double scale;
    bool good;
} worker;

/* Shapes that the threads share, and some that they do not; more than the cache holds. */
static void *work(void *user)
{
    worker *w = user;
    w->good = axle_device_push(w->device) == AXLE_OK;
    for (int round = 0; round < 2000 && w->good; round++) {
        axle_scope_push();
        int64_t n = 1 + round % 50, own = 51 + round % 97;
        axle_tensor *x = axle_full(AXLE_DTYPE_F64, AXLE_DIMS(n, 3), round);
        axle_tensor *y = axle_sum_all(axle_mul_scalar(x, w->scale));
        axle_tensor *z = axle_max(axle_full(AXLE_DTYPE_F64, AXLE_DIMS(own), w->scale), 0, NULL, 0);
        double sum, most;
        w->good = !axle_tensor_item(y, &sum) && !axle_tensor_item(z, &most) &&
                  sum == w->scale * round * (double)n * 3 && most == w->scale;
        axle_scope_pop();
    }
    axle_device_pop();
    return NULL;
}

static void two_threads(axle_device *device)
{
    worker workers[2] = {{.device = device, .scale = 2}, {.device = device, .scale = 3}};
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
    for (int k = 0; k < 2; k++)
        pthread_join(workers[k].thread, NULL);
    assert_true(workers[0].good);
    assert_true(workers[1].good);
}

static void two_threads_share_a_device(void **state)
{
    (void)state;
    two_threads(&the_board.device);
}

static void two_threads_share_the_host(void **state)
{
    (void)state;
    two_threads(axle_device_host());
}

static void two_threads_share_a_lazy_device(void **state)
{
    (void)state;
    two_threads(&the_board.device);
    assert_int_equal(board_overlaps, 0);
}

static void *crowd_out(void *user)
{
    worker *w = user;
    axle_scope_push();
    axle_device_push(w->device);
    axle_tensor *x = axle_ones(AXLE_DTYPE_F32, AXLE_DIMS(MANY_SHAPES));
    axle_tensor *y = axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(MANY_SHAPES));
    for (int64_t n = 1; n <= MANY_SHAPES / 2; n++)
        negate(w->device, x, y, w->scale > 2 ? n : MANY_SHAPES / 2 + 1 - n);
    axle_device_pop();
    axle_scope_pop();
    w->good = true;
    return NULL;
}

static void threads_evict_nothing_in_use(void **state)
{
    (void)state;
    worker workers[2] = {{.device = &the_board.device, .scale = 2},
                         {.device = &the_board.device, .scale = 3}};
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&workers[k].thread, NULL, crowd_out, &workers[k]), 0);
    for (int k = 0; k < 2; k++)
        pthread_join(workers[k].thread, NULL);
    assert_true(workers[0].good && workers[1].good);
    assert_true(board_ops <= MOST_PREPARED + 2);
}

#define ON(board, sentence, function)                                                              \
    {                                                                                              \
        sentence, function, board, stop, NULL                                                      \
    }

static const struct CMUnitTest tests[] = {
    ON(ready, "a served operator is prepared once", a_served_operator_is_prepared_once),
    ON(ready, "attributes tell operators apart", attributes_tell_operators_apart),
    ON(ready, "a workspace is lent for a run", a_workspace_is_lent),
    ON(ready, "the layout that a device likes is given", the_layout_that_a_device_likes_is_given),
    ON(ready, "results without elements reach no device", results_without_elements_reach_no_device),
    ON(ready, "a failed preparation is not remembered", a_failed_preparation_is_not_remembered),
    ON(ready, "a failed run tells the device's words", a_failed_run_tells_the_devices_words),
    ON(ready, "a lost device runs nothing more", a_lost_device_runs_nothing_more),
    ON(declining, "what a device declines the host does", what_a_device_declines_the_host_does),
    ON(declining, "a device without operators is served by the host",
       a_device_without_operators_is_served_by_the_host),
    ON(declining, "an error on the host is told", an_error_on_the_host_is_told),
    ON(strict, "falling back can be forbidden", fallback_can_be_forbidden),
    ON(far_and_declining, "a device that the host cannot see falls back, too",
       a_far_device_needs_no_map),
    ON(far_and_lazy, "work under way is waited for", work_under_way_is_waited_for),
    ON(far_lazy_and_declining, "the host waits for the device", the_host_waits_for_the_device),
    ON(contiguous, "operands are made contiguous", operands_are_made_contiguous),
    ON(contiguous, "matrices without columns are contiguous",
       matrices_without_columns_are_contiguous),
    ON(ready, "the cache of prepared operators is bounded", the_cache_is_bounded),
    ON(ready, "what is used stays in the cache", what_is_used_stays_in_the_cache),
    ON(ready, "two threads share a device", two_threads_share_a_device),
    ON(ready, "two threads share the host", two_threads_share_the_host),
    ON(far_and_lazy, "two threads share a queue in turn", two_threads_share_a_lazy_device),
    ON(ready, "threads evict nothing in use", threads_evict_nothing_in_use),
};

UNIT_MAIN(tests)
