/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about an open device: its table, and questions about operators. */
#include <inttypes.h>
#include <string.h>

#include "axle/status.h"
#include "probe_op.h"
#include "trial.h"

static check_status opens_twice(trial *t, note *n)
{
    for (int k = 0; k < 2; k++) {
        trial_close(t);
        if (!trial_open(t, n))
            return CHECK_FAILED;
    }
    return CHECK_PASSED;
}

static check_status opens_two_at_once(trial *t, note *n)
{
    machine second;
    if (!trial_open(t, n) || !machine_open(&second, t->plugin, t->index, n))
        return CHECK_FAILED;
    machine_close(&second);
    return probe_op_works(&t->subject, n) ? CHECK_PASSED : CHECK_FAILED;
}

/* X(capability, slot it stands for) */
#define PROMISES(X)                                                                                \
    X(EVENTS, event_create)                                                                        \
    X(EVENTS, event_destroy)                                                                       \
    X(EVENTS, event_record)                                                                        \
    X(EVENTS, queue_wait)                                                                          \
    X(EVENTS, event_wait)                                                                          \
    X(HOST_VISIBLE, buffer_map)                                                                    \
    X(IMPORT_HOST, buffer_import)                                                                  \
    X(MULTI_QUEUE, queue_create)                                                                   \
    X(ASYNC, queue_finish)

static check_status has_what_it_promises(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
#define KEPT(CAP, slot)                                                                            \
    if (t->subject.info.caps & AXLE_CAP_##CAP && !MACHINE_HAS(&t->subject, slot))                  \
        return ROW_FAILED(n, "AXLE_CAP_" #CAP " is claimed, but " #slot " is absent");
    PROMISES(KEPT)
#undef KEPT
    return CHECK_PASSED;
}

/* X(slot, slot it makes no sense without) */
#define PAIRS(X)                                                                                   \
    X(queue_create, queue_destroy)                                                                 \
    X(event_create, event_destroy)                                                                 \
    X(op_query, op_prepare)                                                                        \
    X(op_prepare, op_run)                                                                          \
    X(op_prepare, op_release)

static check_status slots_come_together(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
#define PAIRED(slot, other)                                                                        \
    if (MACHINE_HAS(&t->subject, slot) && !MACHINE_HAS(&t->subject, other))                        \
        return ROW_FAILED(n, #slot " is there, but " #other " is absent");
    PAIRS(PAIRED)
#undef PAIRED
    return CHECK_PASSED;
}

/* ------------------------------------------------------------------ operators that are not there
 */

static int is_unknown(const machine *m, uint32_t op, note *n)
{
    probe_op p;
    error_room room;
    probe_op_describe(&p, 2.0);
    p.desc.op = op;
    axle_be_op *const untouched = (axle_be_op *)&p, *made = untouched;
    axle_op_info info = {.struct_size = sizeof(info)};
    if (m->api->op_query(m->device, &p.desc, &info) == AXLE_OK && info.support != AXLE_SUPPORT_NO)
        return note_fail(n, "operator %u is said to be there", op);
    const axle_status status =
        m->api->op_prepare(m->device, &p.desc, &made, error_room_init(&room));
    if (status >= 0)
        return note_fail(n, "operator %u can be prepared", op);
    if (status != AXLE_ERR_UNSUPPORTED)
        return note_fail(n, "preparing operator %u is '%s', not '%s'", op, axle_status_text(status),
                         axle_status_text(AXLE_ERR_UNSUPPORTED));
    if (made != untouched)
        return note_fail(n, "op_prepare fails and still writes its output");
    return m->api->op_prepare(m->device, &p.desc, &made, NULL) < 0
               ? 1
               : note_fail(n, "operator %u can be prepared without an axle_error", op);
}

static int has_operators(const machine *m)
{
    return MACHINE_HAS(m, op_query) && MACHINE_HAS(m, op_prepare) && MACHINE_HAS(m, op_run);
}

static check_status unknown_operators(trial *t, note *n)
{
    static const uint32_t numbers[] = {0, AXLE_OP_LIMIT, 1000, UINT32_MAX};
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!has_operators(&t->subject))
        return CHECK_HOST;
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        if (!is_unknown(&t->subject, numbers[k], n))
            return CHECK_FAILED;
    return CHECK_PASSED;
}

static check_status unknown_kinds(trial *t, note *n)
{
    static const uint32_t kinds[] = {0, AXLE_UNARY_LIMIT, UINT32_MAX};
    probe_op p;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!has_operators(&t->subject))
        return CHECK_HOST;
    probe_op_describe(&p, 2.0);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        p.attrs.kind = kinds[k];
        if (machine_query(&t->subject, &p.desc).support != AXLE_SUPPORT_NO)
            return ROW_FAILED(n, "unary operators of kind %u are said to be there", kinds[k]);
    }
    return CHECK_PASSED;
}

static check_status unknown_dtypes(trial *t, note *n)
{
    static const uint32_t numbers[] = {0, 5, 7, 11, 63, 64, UINT32_MAX};
    probe_op p;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!has_operators(&t->subject))
        return CHECK_HOST;
    probe_op_describe(&p, 2.0);
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
        p.x.dtype = p.y.dtype = numbers[k];
        if (machine_query(&t->subject, &p.desc).support != AXLE_SUPPORT_NO)
            return ROW_FAILED(n, "element type %u is said to be computed in", numbers[k]);
    }
    return CHECK_PASSED;
}

/* ------------------------------------------------------------------ sizes of structs */

static check_status short_op_info_is_respected(trial *t, note *n)
{
    static const uint32_t sizes[] = {AXLE_FIELD_END(axle_op_info, support),
                                     AXLE_FIELD_END(axle_op_info, workspace_size),
                                     AXLE_FIELD_END(axle_op_info, reserved)};
    probe_op p;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!has_operators(&t->subject))
        return CHECK_HOST;
    probe_op_describe(&p, 2.0);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        union {
            axle_op_info info;
            unsigned char bytes[sizeof(axle_op_info)];
        } room;
        memset(room.bytes, 0x5a, sizeof(room.bytes));
        memset(room.bytes, 0, sizes[k]);
        room.info.struct_size = sizes[k];
        t->subject.api->op_query(t->subject.device, &p.desc, &room.info);
        for (size_t i = sizes[k]; i < sizeof(room.bytes); i++)
            if (room.bytes[i] != 0x5a)
                return ROW_FAILED(n, "with struct_size %u op_query writes to byte %zu", sizes[k],
                                  i);
    }
    return CHECK_PASSED;
}

/* What a newer host adds at the end of structs is of no interest to an older plugin. */
static check_status longer_structs_are_taken(trial *t, note *n)
{
    if (!trial_open(t, n))
        return CHECK_FAILED;
    if (!probe_op_offered(&t->subject))
        return CHECK_HOST;
    return probe_op_works_longer(&t->subject, n) ? CHECK_PASSED : CHECK_FAILED;
}

static check_status unknown_options(trial *t, note *n)
{
    void *handle = NULL;
    if (!trial_open(t, n))
        return CHECK_FAILED;
    const machine *m = &t->subject;
    if (!MACHINE_HAS(m, set_option) && !MACHINE_HAS(m, native_handle))
        return CHECK_HOST;
    if (MACHINE_HAS(m, set_option) && m->api->set_option(m->device, "no such key", "1", NULL) >= 0)
        return ROW_FAILED(n, "set_option takes a key that there is not");
    if (MACHINE_HAS(m, native_handle) &&
        m->api->native_handle(m->device, "no such handle", &handle) >= 0)
        return ROW_FAILED(n, "native_handle knows a handle that there is not");
    return CHECK_PASSED;
}

const behaviour behaviours_device[] = {
    {"device", "it opens and closes twice", opens_twice, 0},
    {"device", "it opens a second time while it is open", opens_two_at_once, 0},
    {"device", "it has the slots that it promises", has_what_it_promises, 0},
    {"device", "slots come together", slots_come_together, 0},
    {"device", "unknown operators are unsupported", unknown_operators, 0},
    {"device", "unknown kinds are unsupported", unknown_kinds, 0},
    {"device", "unknown element types are unsupported", unknown_dtypes, 0},
    {"device", "a short axle_op_info is respected", short_op_info_is_respected, 0},
    {"device", "longer structs of newer hosts are taken", longer_structs_are_taken, 0},
    {"device", "unknown options and handles are errors", unknown_options, 0},
    {NULL, NULL, NULL, 0}};
