/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about memory that runs out: an error, nothing lost, and work goes on afterwards. */
#include <inttypes.h>

#include "axle/status.h"
#include "probe_op.h"
#include "services.h"
#include "trial.h"

static int refuses(const machine *m, uint64_t size, note *n)
{
    error_room room;
    axle_be_buffer *const untouched = (axle_be_buffer *)&room, *buffer = untouched;
    const axle_status status =
        m->api->buffer_create(m->device, AXLE_BUFFER_DEVICE, size, &buffer, error_room_init(&room));
    if (status >= 0) {
        machine_buffer_destroy(m, buffer);
        return note_fail(n, "a buffer of %" PRIu64 " bytes is made", size);
    }
    if (status != AXLE_ERR_NOMEM)
        return note_fail(n, "a buffer of %" PRIu64 " bytes is '%s', not '%s'", size,
                         axle_status_text(status), axle_status_text(AXLE_ERR_NOMEM));
    if (buffer != untouched)
        return note_fail(n, "buffer_create fails and still writes its output");
    if (!*room.text)
        return note_fail(n, "buffer_create fails without a message");
    return m->api->buffer_create(m->device, AXLE_BUFFER_DEVICE, size, &buffer, NULL) < 0
               ? 1
               : note_fail(n, "a buffer of %" PRIu64 " bytes is made without an axle_error", size);
}

/* Sizes that no machine has, at both sides of where a signed size ends. */
static check_status absurd_buffers(trial *t, note *n)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 60, (UINT64_C(1) << 63) - 1, UINT64_C(1) << 63,
                                     UINT64_MAX - 7, UINT64_MAX};
    if (!trial_open(t, n))
        return CHECK_FAILED;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        if (!refuses(&t->subject, sizes[k], n))
            return CHECK_FAILED;
    return probe_op_works(&t->subject, n) ? CHECK_PASSED : CHECK_FAILED;
}

static check_status beyond_max_alloc(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const uint64_t most = t->subject.info.max_alloc;
    if (most == 0 || most == UINT64_MAX)
        return CHECK_HOST;
    if (!refuses(&t->subject, most + 1, n))
        return CHECK_FAILED;
    return probe_op_works(&t->subject, n) ? CHECK_PASSED : CHECK_FAILED;
}

/* From opening to closing, with the allocation after `k` further ones failing. -1: it was not
 * reached. */
static int live_through(trial *t, int64_t k, note *n)
{
    machine m;
    note ignored;
    const int64_t before = services_live_blocks();
    services_fail_after(k);
    if (machine_open(&m, t->plugin, t->index, &ignored)) {
        probe_op_works(&m, &ignored);
        machine_close(&m);
    }
    const int reached = services_fail_after(-1);
    const int64_t lost = services_live_blocks() - before;
    if (services_broken_blocks())
        return note_fail(n, "bytes behind a block of the host's memory were written to, or a block "
                            "was freed twice");
    if (lost)
        return note_fail(n, "allocation %" PRId64 " fails, and %" PRId64 " blocks are lost", k + 1,
                         lost);
    return reached ? 1 : -1;
}

static check_status allocations_fail(trial *t, note *n)
{
    enum { MOST = 2000 };
    machine m;
    if (!trial_load(t, n))
        return CHECK_FAILED;
    trial_close(t);
    /* What the first opening keeps for good is not lost. */
    if (!machine_open(&m, t->plugin, t->index, n))
        return CHECK_FAILED;
    const int works = probe_op_works(&m, n);
    machine_close(&m);
    if (!works)
        return CHECK_FAILED;
    for (int64_t k = 0; k < MOST; k++) {
        const int outcome = live_through(t, k, n);
        if (outcome == 0)
            return CHECK_FAILED;
        if (outcome < 0)
            break;
    }
    return trial_open(t, n) && probe_op_works(&t->subject, n) ? CHECK_PASSED : CHECK_FAILED;
}

const behaviour behaviours_exhaustion[] = {
    {"exhaustion", "absurd buffers are refused", absurd_buffers, 0},
    {"exhaustion", "buffers beyond max_alloc are refused", beyond_max_alloc, 0},
    {"exhaustion", "each allocation of the host's memory fails", allocations_fail, 0},
    {NULL, NULL, NULL, 0}};
