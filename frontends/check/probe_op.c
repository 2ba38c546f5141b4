/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_op.h"

#include <string.h>

static axle_view vector(void)
{
    return (axle_view){.dtype = AXLE_DTYPE_F32, .rank = 1, .dim = {PROBE_COUNT}, .stride = {1}};
}

void probe_op_describe(probe_op *p, double factor)
{
    *p = (probe_op){
        .attrs = {.struct_size = sizeof(p->attrs), .kind = AXLE_UNARY_AFFINE, .alpha = factor},
        .x = vector(),
        .y = vector(),
        .factor = factor};
    p->in[0] = &p->x;
    p->out[0] = &p->y;
    p->desc = (axle_op_desc){.struct_size = sizeof(p->desc),
                             .op = AXLE_OP_UNARY,
                             .n_in = 1,
                             .n_out = 1,
                             .in = p->in,
                             .out = p->out,
                             .attrs = &p->attrs};
}

int probe_op_offered(const machine *m)
{
    probe_op p;
    probe_op_describe(&p, 2.0);
    return machine_query(m, &p.desc).support != AXLE_SUPPORT_NO;
}

static int prepare(const machine *m, probe_op *p, note *n)
{
    error_room room;
    const axle_op_info info = machine_query(m, &p->desc);
    if (info.workspace_size &&
        !machine_buffer_create(m, AXLE_BUFFER_DEVICE, info.workspace_size, &p->workspace, n))
        return 0;
    const axle_status status =
        m->api->op_prepare(m->device, &p->desc, &p->op, error_room_init(&room));
    if (status == AXLE_OK)
        return 1;
    probe_op_release(m, p);
    return error_room_fail(n, &room, "op_prepare", status);
}

int probe_op_prepare(const machine *m, probe_op *p, double factor, note *n)
{
    probe_op_describe(p, factor);
    return prepare(m, p, n);
}

static axle_op_args args_of(const probe_op *p, const axle_view *const *in,
                            const axle_view *const *out)
{
    return (axle_op_args){.struct_size = sizeof(axle_op_args),
                          .n_in = 1,
                          .n_out = 1,
                          .in = in,
                          .out = out,
                          .workspace = p->workspace};
}

int probe_op_run(const machine *m, axle_be_queue *queue, const probe_op *p, axle_be_buffer *x,
                 axle_be_buffer *y, note *n)
{
    error_room room;
    axle_view from = p->x, to = p->y;
    const axle_view *in[] = {&from}, *out[] = {&to};
    from.buffer = x;
    to.buffer = y;
    const axle_op_args args = args_of(p, in, out);
    const axle_status status = m->api->op_run(queue, p->op, &args, error_room_init(&room));
    return status == AXLE_OK ? 1 : error_room_fail(n, &room, "op_run", status);
}

void probe_op_release(const machine *m, probe_op *p)
{
    if (p->op)
        m->api->op_release(p->op);
    machine_buffer_destroy(m, p->workspace);
    p->op = NULL;
    p->workspace = NULL;
}

int probe_buffers_create(const machine *m, axle_be_queue *queue, axle_be_buffer **x,
                         axle_be_buffer **y, note *n)
{
    float numbers[PROBE_COUNT];
    *x = *y = NULL;
    for (int k = 0; k < PROBE_COUNT; k++)
        numbers[k] = (float)(k + 1);
    if (machine_buffer_create(m, AXLE_BUFFER_DEVICE, sizeof(numbers), x, n) &&
        machine_buffer_create(m, AXLE_BUFFER_DEVICE, sizeof(numbers), y, n) &&
        machine_write(m, queue, *x, 0, numbers, sizeof(numbers), n))
        return 1;
    machine_buffer_destroy(m, *x);
    machine_buffer_destroy(m, *y);
    *x = *y = NULL;
    return 0;
}

int probe_result_holds(const machine *m, axle_be_queue *queue, axle_be_buffer *y, double factor,
                       note *n)
{
    float numbers[PROBE_COUNT];
    if (!machine_read(m, queue, y, 0, numbers, sizeof(numbers), n))
        return 0;
    for (int k = 0; k < PROBE_COUNT; k++)
        if (numbers[k] != (float)factor * (float)(k + 1))
            return note_fail(n, "%g times %d is %g", factor, k + 1, (double)numbers[k]);
    return 1;
}

static int works(const machine *m, probe_op *p, note *n)
{
    axle_be_buffer *x, *y;
    if (!probe_buffers_create(m, m->queue, &x, &y, n))
        return 0;
    int good = probe_result_holds(m, m->queue, x, 1.0, n);
    if (good && p->op)
        good = probe_op_run(m, m->queue, p, x, y, n) &&
               probe_result_holds(m, m->queue, y, p->factor, n);
    machine_buffer_destroy(m, x);
    machine_buffer_destroy(m, y);
    return good;
}

int probe_op_works(const machine *m, note *n)
{
    probe_op p;
    probe_op_describe(&p, 3.0);
    if (probe_op_offered(m) && !prepare(m, &p, n))
        return 0;
    const int good = works(m, &p, n);
    probe_op_release(m, &p);
    return good;
}

int probe_op_works_longer(const machine *m, note *n)
{
    probe_op p;
    struct {
        axle_unary_attrs attrs;
        double added[2];
    } longer;
    struct {
        axle_op_desc desc;
        uint64_t added[2];
    } described;
    probe_op_describe(&p, 3.0);
    memset(&longer, 0xff, sizeof(longer));
    memset(&described, 0xff, sizeof(described));
    longer.attrs = p.attrs;
    longer.attrs.struct_size = sizeof(longer);
    described.desc = p.desc;
    described.desc.struct_size = sizeof(described);
    described.desc.attrs = &longer;
    if (machine_query(m, &described.desc).support == AXLE_SUPPORT_NO)
        return note_fail(n, "op_query declines what it offers with shorter structs");
    error_room room;
    const axle_status status =
        m->api->op_prepare(m->device, &described.desc, &p.op, error_room_init(&room));
    if (status != AXLE_OK)
        return error_room_fail(n, &room, "op_prepare", status);
    const axle_op_info info = machine_query(m, &p.desc);
    const int good =
        (!info.workspace_size ||
         machine_buffer_create(m, AXLE_BUFFER_DEVICE, info.workspace_size, &p.workspace, n)) &&
        works(m, &p, n);
    probe_op_release(m, &p);
    return good;
}
