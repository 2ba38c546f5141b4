/* SPDX-License-Identifier: Apache-2.0 */
#include "execute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "axle/status.h"

enum { WORKSPACE_MARGIN = 256, WORKSPACE_BYTE = 0x5a };

/* All that a run needs on the device. */
typedef struct stage {
    const machine *m;
    const execution *e;
    placed in[AXLE_OP_MAX_IN], out[AXLE_OP_MAX_OUT];
    const axle_view *in_view[AXLE_OP_MAX_IN], *out_view[AXLE_OP_MAX_OUT];
    axle_be_buffer *workspace;
    uint64_t workspace_size;
    axle_be_op *op;
} stage;

/* ------------------------------------------------------------------ description */

typedef struct description {
    axle_op_desc desc;
    axle_view view[AXLE_OP_MAX_IN + AXLE_OP_MAX_OUT];
    const axle_view *in[AXLE_OP_MAX_IN], *out[AXLE_OP_MAX_OUT];
} description;

static void describe(const execution *e, description *d)
{
    *d = (description){.desc = {.struct_size = sizeof(d->desc),
                                .op = e->op,
                                .n_in = e->n_in,
                                .n_out = e->n_out,
                                .attrs = e->attrs,
                                .flags = e->twice ? AXLE_OPF_DETERMINISTIC : 0}};
    for (uint32_t k = 0; k < e->n_in; k++) {
        if (!e->in[k])
            continue;
        d->view[k] = operand_view(e->in[k], e->in_layout, e->expand);
        d->in[k] = &d->view[k];
    }
    for (uint32_t k = 0; k < e->n_out; k++) {
        axle_view *view = &d->view[AXLE_OP_MAX_IN + k];
        if (!e->out[k])
            continue;
        *view = operand_view(e->out[k], e->out_layout, 1);
        if (e->shares[k])
            *view = *d->in[e->shares[k] - 1];
        d->out[k] = view;
    }
    d->desc.in = d->in;
    d->desc.out = d->out;
}

/* ------------------------------------------------------------------ places */

static int place_operands(stage *s, note *n)
{
    const execution *e = s->e;
    for (uint32_t k = 0; k < e->n_in; k++) {
        if (!e->in[k])
            continue;
        if (!placed_create(s->m, s->m->queue, e->in[k], e->in_layout, e->expand, 1, &s->in[k], n))
            return 0;
        s->in_view[k] = &s->in[k].view;
    }
    for (uint32_t k = 0; k < e->n_out; k++) {
        if (!e->out[k])
            continue;
        s->out_view[k] = e->shares[k] ? &s->in[e->shares[k] - 1].view : &s->out[k].view;
        if (!e->shares[k] && !placed_create(s->m, s->m->queue, e->out[k], e->out_layout, 1,
                                            e->out[k]->spec.updated, &s->out[k], n))
            return 0;
    }
    return 1;
}

static int place_workspace(stage *s, uint64_t size, note *n)
{
    s->workspace_size = size;
    if (size == 0)
        return 1;
    const uint64_t bytes = size + 2 * WORKSPACE_MARGIN;
    unsigned char *image = malloc((size_t)bytes);
    if (!image)
        return note_fail(n, "no memory for a workspace of %" PRIu64 " bytes", size);
    memset(image, WORKSPACE_BYTE, (size_t)bytes);
    const int done = machine_buffer_create(s->m, AXLE_BUFFER_DEVICE, bytes, &s->workspace, n) &&
                     machine_write(s->m, s->m->queue, s->workspace, 0, image, bytes, n);
    free(image);
    return done;
}

static int margin_holds(const stage *s, uint64_t at, const char *where, note *n)
{
    unsigned char now[WORKSPACE_MARGIN];
    if (!machine_read(s->m, s->m->queue, s->workspace, at, now, sizeof(now), n))
        return 0;
    for (size_t k = 0; k < sizeof(now); k++)
        if (now[k] != WORKSPACE_BYTE)
            return note_fail(n, "bytes %s the workspace were written to", where);
    return 1;
}

static int workspace_holds(const stage *s, note *n)
{
    return !s->workspace || (margin_holds(s, 0, "before", n) &&
                             margin_holds(s, WORKSPACE_MARGIN + s->workspace_size, "behind", n));
}

static void stage_free(stage *s)
{
    if (s->op && MACHINE_HAS(s->m, op_release))
        s->m->api->op_release(s->op);
    for (int k = 0; k < AXLE_OP_MAX_IN; k++)
        placed_free(s->m, &s->in[k]);
    for (int k = 0; k < AXLE_OP_MAX_OUT; k++)
        placed_free(s->m, &s->out[k]);
    machine_buffer_destroy(s->m, s->workspace);
}

/* ------------------------------------------------------------------ running */

/* The expected status comes from the run or from the queue; the other one is then of no interest.
 */
static int run_once(const stage *s, note *n)
{
    const execution *e = s->e;
    const axle_op_args args = {.struct_size = sizeof(args),
                               .n_in = e->n_in,
                               .n_out = e->n_out,
                               .in = s->in_view,
                               .out = s->out_view,
                               .workspace = s->workspace,
                               .workspace_offset = s->workspace ? WORKSPACE_MARGIN : 0,
                               .rng_seed = e->rng_seed,
                               .rng_offset = e->rng_offset,
                               .scalars = e->scalars};
    error_room ran, finished;
    const axle_status run = s->m->api->op_run(s->m->queue, s->op, &args, error_room_init(&ran));
    const axle_status finish = machine_finish_status(s->m, s->m->queue, &finished);
    if (e->expected != AXLE_OK)
        return run == e->expected || finish == e->expected
                   ? 1
                   : note_fail(n, "op_run gives '%s' and queue_finish '%s' instead of '%s'",
                               axle_status_text(run), axle_status_text(finish),
                               axle_status_text(e->expected));
    if (run != AXLE_OK)
        return error_room_fail(n, &ran, "op_run", run);
    return finish == AXLE_OK ? 1 : error_room_fail(n, &finished, "queue_finish", finish);
}

static int is_shared(const execution *e, uint32_t input)
{
    for (uint32_t k = 0; k < e->n_out; k++)
        if (e->shares[k] == (int)input + 1)
            return 1;
    return 0;
}

static int inputs_hold(const stage *s, note *n)
{
    for (uint32_t k = 0; k < s->e->n_in; k++)
        if (s->e->in[k] && !is_shared(s->e, k) &&
            !placed_unchanged(s->m, s->m->queue, &s->in[k], n))
            return note_prefix(n, "input %u: ", k);
    return 1;
}

static int fetch_outputs(const stage *s, unsigned char *result[AXLE_OP_MAX_OUT], note *n)
{
    for (uint32_t k = 0; k < s->e->n_out; k++) {
        const operand *o = s->e->out[k];
        if (!o)
            continue;
        result[k] = malloc((size_t)(o->count + 1) * o->size);
        if (!result[k])
            return note_fail(n, "no memory for a result");
        const placed *p = s->e->shares[k] ? &s->in[s->e->shares[k] - 1] : &s->out[k];
        if (!placed_fetch(s->m, s->m->queue, p, result[k], n))
            return note_prefix(n, "output %u: ", k);
    }
    return 1;
}

static int reset_outputs(const stage *s, note *n)
{
    for (uint32_t k = 0; k < s->e->n_out; k++) {
        const placed *p = s->e->shares[k] ? &s->in[s->e->shares[k] - 1] : &s->out[k];
        if (s->e->out[k] && !placed_reset(s->m, s->m->queue, p, n))
            return 0;
    }
    return 1;
}

static int repeats(const stage *s, const outcome *first, note *n)
{
    outcome second = {0};
    int good = reset_outputs(s, n) && run_once(s, n) && fetch_outputs(s, second.result, n);
    for (uint32_t k = 0; k < s->e->n_out && good; k++) {
        const operand *o = s->e->out[k];
        if (o && memcmp(first->result[k], second.result[k], (size_t)o->count * o->size) != 0)
            good = note_fail(n,
                             "output %u: a second run gives other bits, although "
                             "AXLE_OPF_DETERMINISTIC was asked for",
                             k);
    }
    outcome_free(&second);
    return good;
}

static int run_stage(stage *s, uint64_t workspace, outcome *out, note *n)
{
    if (!place_operands(s, n) || !place_workspace(s, workspace, n) || !run_once(s, n))
        return 0;
    if (!workspace_holds(s, n) || !inputs_hold(s, n) || !fetch_outputs(s, out->result, n))
        return 0;
    return !s->e->twice || repeats(s, out, n);
}

static int prepare(stage *s, const axle_op_desc *desc, outcome *out, note *n)
{
    error_room room;
    const axle_status status =
        s->m->api->op_prepare(s->m->device, desc, &s->op, error_room_init(&room));
    if (status == AXLE_ERR_UNSUPPORTED && s->e->twice) {
        out->support = AXLE_SUPPORT_NO;
        return 1;
    }
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "op_query claims it, but op_prepare", status);
    return s->op ? 1 : note_fail(n, "op_prepare succeeds without an operator");
}

uint32_t execution_support(const machine *m, const execution *e)
{
    description d;
    describe(e, &d);
    return machine_query(m, &d.desc).support;
}

int execute(const machine *m, const execution *e, outcome *out, note *n)
{
    stage s = {.m = m, .e = e};
    description d;
    *out = (outcome){0};
    describe(e, &d);
    const axle_op_info info = machine_query(m, &d.desc);
    out->support = info.support;
    if (info.support == AXLE_SUPPORT_NO)
        return 1;
    if (info.support > AXLE_SUPPORT_CONTIGUOUS)
        return note_fail(n, "op_query answers %u, which is no AXLE_SUPPORT_*", info.support);
    if (info.support == AXLE_SUPPORT_CONTIGUOUS && (e->in_layout || e->out_layout || !e->expand))
        return 1;
    int good = prepare(&s, &d.desc, out, n);
    if (good && out->support != AXLE_SUPPORT_NO)
        good = run_stage(&s, info.workspace_size, out, n);
    stage_free(&s);
    if (!good)
        outcome_free(out);
    return good;
}

void outcome_free(outcome *out)
{
    for (int k = 0; k < AXLE_OP_MAX_OUT; k++) {
        free(out->result[k]);
        out->result[k] = NULL;
    }
}
