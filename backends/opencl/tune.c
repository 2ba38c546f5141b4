/* SPDX-License-Identifier: Apache-2.0 */
#include "tune.h"
#include "slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Runs of a trial behind the first, which may compile; operands that take more memory are not
 * tried. */
enum { RUNS = 3, MOST_BYTES = 1 << 28, KEY_SIZE = 768, MOST_OPERANDS = 4 };

static const char *const names[OCL_CANDIDATES] = {"plain", "vector", "tiled", "clblast"};

static int candidate_named(const char *name, size_t length)
{
    for (int c = 0; c < OCL_CANDIDATES; c++)
        if (strlen(names[c]) == length && memcmp(names[c], name, length) == 0)
            return c;
    return -1;
}

uint32_t ocl_candidates(const ocl_plan *plan)
{
    const char *text = AXLE_HAS(ocl_host, axle_host, option)
                           ? ocl_host->option(ocl_host->ctx, "opencl.product")
                           : NULL;
    uint32_t mask = 0;
    while (text && *text) {
        const size_t length = strcspn(text, "+");
        const int c = candidate_named(text, length);
        if (c >= 0)
            mask |= 1u << c;
        else
            ocl_log(AXLE_LOG_WARN,
                    "option opencl.product: '%.*s' is none of plain, vector, tiled "
                    "and clblast",
                    (int)length, text);
        text += length + (text[length] == '+');
    }
    if (mask)
        return mask;
    return ocl_on_cpu(plan) ? 1u << OCL_VECTOR : 1u << OCL_TILED | 1u << OCL_CLBLAST;
}

static ocl_candidate first_of(uint32_t mask)
{
    for (int c = 0; c < OCL_CANDIDATES; c++)
        if (mask >> c & 1)
            return (ocl_candidate)c;
    return OCL_PLAIN;
}

/* The power of two that is not above n. */
static int log_of(int64_t n)
{
    int log = 0;
    for (; n > 1; n /= 2)
        log++;
    return log;
}

/* Device, driver and class of shapes: what a result may depend on. */
static size_t key_of(const ocl_plan *plan, uint32_t mask, int64_t m, int64_t n, int64_t k,
                     char key[KEY_SIZE])
{
    const ocl_description *d = &plan->device->about;
    const axle_view *a = plan->in[0], *b = plan->in[1];
    const int length =
        snprintf(key, KEY_SIZE, "opencl product 1|%s|%s|%s|%zu|%s|%u|%d %d %d|%d %d|%d",
                 d->platform_name, d->name, d->driver, d->max_local, ocl_dtype(a), mask, log_of(m),
                 log_of(n), log_of(k), a->stride[a->rank - 1] == 1, b->stride[b->rank - 1] == 1,
                 log_of(ocl_count(plan->out[0]) / (m * n)));
    return length > 0 && length < KEY_SIZE ? (size_t)length : 0;
}

static int remembered(const char *key, size_t size, uint32_t mask, ocl_candidate *out)
{
    void *blob = NULL;
    uint64_t length = 0;
    if (!size || !AXLE_HAS(ocl_host, axle_host, cache_get) ||
        ocl_host->cache_get(ocl_host->ctx, key, size, &blob, &length) != AXLE_OK)
        return 0;
    const int c = candidate_named(blob, length);
    ocl_host->free(ocl_host->ctx, blob);
    if (c < 0 || !(mask >> c & 1))
        return 0;
    *out = (ocl_candidate)c;
    return 1;
}

/* What a trial runs on: buffers of the operands' sizes, with small numbers in them. */
typedef struct trial {
    ocl_plan *plan;
    axle_be_queue *queue;
    axle_be_buffer *buffer[MOST_OPERANDS], *work;
    axle_view view[MOST_OPERANDS];
    const axle_view *in[3], *out[1];
} trial;

static uint64_t bytes_of(const axle_view *view)
{
    uint64_t last = 1;
    for (uint32_t d = 0; d < view->rank; d++)
        last += (uint64_t)(view->dim[d] - 1) * (uint64_t)view->stride[d];
    return last * ocl_dtype_size(view->dtype);
}

static int trial_operand(trial *t, int k, const axle_view *view, const axle_view **out)
{
    const uint8_t pattern = 0x3c;
    *out = NULL;
    if (!view)
        return 1;
    const uint64_t bytes = bytes_of(view);
    if (bytes > MOST_BYTES ||
        ocl_buffer_create(t->plan->device, AXLE_BUFFER_DEVICE, bytes, &t->buffer[k], NULL) !=
            AXLE_OK ||
        ocl_buffer_fill(t->queue, t->buffer[k], 0, bytes, &pattern, 1, NULL) != AXLE_OK)
        return 0;
    t->view[k] = *view;
    t->view[k].buffer = t->buffer[k];
    *out = &t->view[k];
    return 1;
}

static int trial_create(trial *t)
{
    ocl_plan *plan = t->plan;
    if (ocl_queue_create(plan->device, 0, &t->queue, NULL) != AXLE_OK)
        return 0;
    for (int k = 0; k < 3; k++)
        if (!trial_operand(t, k, plan->in[k], &t->in[k]))
            return 0;
    return trial_operand(t, 3, plan->out[0], &t->out[0]) &&
           (plan->workspace == 0 || ocl_buffer_create(plan->device, AXLE_BUFFER_DEVICE,
                                                      plan->workspace, &t->work, NULL) == AXLE_OK);
}

static void trial_release(trial *t)
{
    for (int k = 0; k < MOST_OPERANDS; k++)
        ocl_buffer_destroy(t->buffer[k]);
    ocl_buffer_destroy(t->work);
    ocl_queue_destroy(t->queue);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds that a candidate takes, or a negative number. */
static double trial_run(trial *t, ocl_candidate candidate)
{
    const axle_op_args args = {.struct_size = sizeof(args),
                               .n_in = 3,
                               .n_out = 1,
                               .in = t->in,
                               .out = t->out,
                               .workspace = t->work};
    double best = -1;
    axle_be_op *op;
    if (ocl_op_prepare_as(t->plan->device, t->plan->desc, 1u << candidate, &op, NULL) != AXLE_OK)
        return -1;
    for (int k = 0; k <= RUNS; k++) {
        const double start = seconds();
        if (ocl_op_run(t->queue, op, &args, NULL) != AXLE_OK ||
            ocl_queue_finish(t->queue, NULL) != AXLE_OK) {
            best = -1;
            break;
        }
        const double taken = seconds() - start;
        if (k > 0 && (best < 0 || taken < best))
            best = taken;
    }
    ocl_op_release(op);
    return best;
}

/* The fastest of a mask; 0 where none ran. */
static int fastest(ocl_plan *plan, uint32_t mask, ocl_candidate *out)
{
    trial t = {.plan = plan};
    double best = -1;
    if (trial_create(&t))
        for (int c = 0; c < OCL_CANDIDATES; c++) {
            const double taken = mask >> c & 1 ? trial_run(&t, (ocl_candidate)c) : -1;
            if (taken >= 0 && (best < 0 || taken < best)) {
                best = taken;
                *out = (ocl_candidate)c;
            }
        }
    trial_release(&t);
    return best >= 0;
}

ocl_candidate ocl_tune(ocl_plan *plan, uint32_t mask, int64_t m, int64_t n, int64_t k)
{
    ocl_candidate chosen = first_of(mask);
    char key[KEY_SIZE];
    if (plan->dry || !(mask & (mask - 1)) || !ocl_option_number("opencl.tune", 1))
        return chosen;
    const size_t size = key_of(plan, mask, m, n, k, key);
    if (remembered(key, size, mask, &chosen) || !fastest(plan, mask, &chosen))
        return chosen;
    ocl_log(AXLE_LOG_DEBUG, "products of %" PRId64 " x %" PRId64 " x %" PRId64 ": %s is fastest", m,
            k, n, names[chosen]);
    if (size && AXLE_HAS(ocl_host, axle_host, cache_put))
        ocl_host->cache_put(ocl_host->ctx, key, size, names[chosen], strlen(names[chosen]));
    return chosen;
}
