/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduce and reduce-scatter. Each process combines one piece of the vector: it receives that
 * piece from all others, adds in the order of ranks, and sends the sum back. That moves as many
 * bytes as a ring, in two hops, and every process gets the same bits. Pieces are cut into segments,
 * so that sums and transfers overlap. A small vector goes to all as a whole, in one hop, and all
 * combine it alike.
 */
#include "base/memory.h"
#include "group/combine.h"
#include "group/group.h"

/* Segments are large enough for the cost of a message not to matter, small enough to stay in the
 * cache; a block's number of segments bounds the tags. */
enum { SEGMENT_BYTES = 1 << 20, SEGMENTS_MAX = 1 << 12, DEPTH = 2 };
/* Numbers of messages: contributions, then results. */
enum { CONTRIBUTION = 0, RESULT = SEGMENTS_MAX };
/* Up to so many bytes from each process a hop costs more than they do. */
enum { SMALL_BYTES = 1 << 17 };

typedef struct reduction {
    axle_group *group;
    const axle__task *task;
    const unsigned char *in;
    unsigned char *out;
    size_t item;         /* bytes of an element */
    uint64_t count;      /* elements */
    uint64_t segment;    /* elements of one */
    uint32_t segments;   /* of the longest piece */
    unsigned char *room; /* DEPTH * size segments for contributions */
    axle__messages contributions, others;
} reduction;

axle__range axle__piece_of(uint64_t count, int rank, int size)
{
    uint64_t n = (uint64_t)size, k = (uint64_t)rank, share = count / n, longer = count % n;
    return (axle__range){k * share + (k < longer ? k : longer), share + (k < longer)};
}

static axle__range piece_of(const reduction *r, int rank)
{
    return axle__piece_of(r->count, rank, r->group->size);
}

static axle__range segment_of(const reduction *r, int rank, uint32_t number)
{
    axle__range piece = piece_of(r, rank);
    uint64_t first = (uint64_t)number * r->segment;
    if (first >= piece.count)
        return (axle__range){piece.first, 0};
    uint64_t left = piece.count - first;
    return (axle__range){piece.first + first, left < r->segment ? left : r->segment};
}

static unsigned char *room_of(const reduction *r, int rank, uint32_t number)
{
    uint64_t place = (uint64_t)(number % DEPTH) * (uint64_t)r->group->size + (uint64_t)rank;
    return r->room + place * r->segment * r->item;
}

/* One whose loop is over brings nothing, and combines its piece for the others. */
static bool brings(const axle_group *group, int rank)
{
    return !group->headers[rank].shadow;
}

static int expect_contributions(reduction *r, uint32_t number)
{
    int status = AXLE_OK, me = r->group->rank;
    uint64_t bytes = segment_of(r, me, number).count * r->item;
    for (int rank = 0; rank < r->group->size && !status; rank++)
        if (rank != me && brings(r->group, rank))
            status = axle__recv_start(r->group, &r->contributions, rank,
                                      axle__tag(r->group, CONTRIBUTION + number),
                                      room_of(r, rank, number), bytes);
    return status;
}

static int send_contributions(reduction *r)
{
    int status = AXLE_OK, me = r->group->rank, size = r->group->size;
    for (uint32_t number = 0; number < r->segments && brings(r->group, me); number++)
        for (int k = 1; k < size && !status; k++) {
            int rank = (me + k) % size;
            axle__range s = segment_of(r, rank, number);
            status = axle__send_start(r->group, &r->others, rank,
                                      axle__tag(r->group, CONTRIBUTION + number),
                                      r->in + s.first * r->item, s.count * r->item);
        }
    return status;
}

static int expect_results(reduction *r)
{
    int status = AXLE_OK, me = r->group->rank, size = r->group->size;
    for (uint32_t number = 0; number < r->segments; number++)
        for (int k = 1; k < size && !status; k++) {
            int rank = (me + k) % size;
            axle__range s = segment_of(r, rank, number);
            status =
                axle__recv_start(r->group, &r->others, rank, axle__tag(r->group, RESULT + number),
                                 r->out + s.first * r->item, s.count * r->item);
        }
    return status;
}

static int send_results(reduction *r, uint32_t number)
{
    int status = AXLE_OK, me = r->group->rank, size = r->group->size;
    axle__range s = segment_of(r, me, number);
    for (int k = 1; k < size && !status; k++)
        status = axle__send_start(r->group, &r->others, (me + k) % size,
                                  axle__tag(r->group, RESULT + number), r->out + s.first * r->item,
                                  s.count * r->item);
    return status;
}

/* Combine a segment into `to`. */
static int combine_segment(reduction *r, uint32_t number, unsigned char *to)
{
    const axle__header *header = &r->task->header;
    int size = r->group->size, count = 0;
    axle__range s = segment_of(r, r->group->rank, number);
    const void **parts = axle__alloc((size_t)size, sizeof(*parts));
    if (!parts)
        return axle_error_code();
    for (int rank = 0; rank < size; rank++)
        if (brings(r->group, rank))
            parts[count++] =
                rank == r->group->rank ? r->in + s.first * r->item : room_of(r, rank, number);
    int status =
        axle__combine(header->reduction, header->dtype, parts, count, r->task->scale, to, s.count);
    axle__free(parts);
    return status;
}

/* Contributions of a segment are waited for in the order in which they were expected. */
static int take_segment(reduction *r, uint32_t number, unsigned char *to)
{
    size_t each = (size_t)(axle__active_count(r->group) - brings(r->group, r->group->rank));
    size_t due = segment_of(r, r->group->rank, number).count ? r->contributions.waited + each
                                                             : r->contributions.waited;
    int status = axle__messages_wait(r->group, &r->contributions, due);
    if (!status)
        status = combine_segment(r, number, to);
    if (!status && number + DEPTH < r->segments)
        status = expect_contributions(r, number + DEPTH);
    return status;
}

static int set_up(reduction *r, axle_group *group, const axle__task *task)
{
    *r = (reduction){.group = group, .task = task, .in = task->in, .out = task->out};
    r->item = axle_dtype_size(task->header.dtype);
    r->count = task->header.count;
    uint64_t piece = piece_of(r, 0).count;
    r->segment = SEGMENT_BYTES / r->item;
    if (piece / SEGMENTS_MAX >= r->segment)
        r->segment = piece / SEGMENTS_MAX + 1;
    if (piece < r->segment)
        r->segment = piece ? piece : 1;
    r->segments = (uint32_t)((piece + r->segment - 1) / r->segment);
    r->room = axle__scratch(group, DEPTH * (size_t)group->size * (size_t)r->segment * r->item);
    return r->room ? AXLE_OK : axle_error_code();
}

static int expect_first(reduction *r)
{
    int status = AXLE_OK;
    for (uint32_t number = 0; number < DEPTH && number < r->segments && !status; number++)
        status = expect_contributions(r, number);
    return status;
}

static int end(reduction *r, int status)
{
    axle__messages_drop(&r->contributions);
    return axle__messages_finish(r->group, &r->others, status);
}

static int exchange(axle_group *group, const axle__task *task, unsigned char *room, size_t bytes)
{
    axle__messages messages = {0};
    int status = AXLE_OK, me = group->rank, size = group->size;
    uint64_t tag = axle__tag(group, CONTRIBUTION);
    for (int k = 1; k < size && !status; k++) {
        int rank = (me + k) % size;
        if (brings(group, rank))
            status =
                axle__recv_start(group, &messages, rank, tag, room + (size_t)rank * bytes, bytes);
    }
    for (int k = 1; k < size && !status; k++) {
        int rank = (me + k) % size;
        if (brings(group, rank))
            status = axle__send_start(group, &messages, rank, tag, task->in, bytes);
    }
    return axle__messages_finish(group, &messages, status);
}

static int all_reduce_small(axle_group *group, const axle__task *task, size_t bytes)
{
    const axle__header *header = &task->header;
    size_t size = (size_t)group->size;
    int count = 0;
    if (!brings(group, group->rank)) /* the others need nobody for it */
        return AXLE_OK;
    unsigned char *room = axle__scratch(group, size * bytes + 1);
    const void **parts = axle__alloc(size, sizeof(*parts));
    int status = room && parts ? exchange(group, task, room, bytes) : axle_error_code();
    for (size_t k = 0; k < size && !status; k++)
        if (brings(group, (int)k))
            parts[count++] = (int)k == group->rank ? task->in : room + k * bytes;
    if (!status)
        status = axle__combine(header->reduction, header->dtype, parts, count, task->scale,
                               task->out, header->count);
    axle__free(parts);
    return status;
}

int axle__all_reduce_data(axle_group *group, axle__task *task)
{
    reduction r;
    if (group->size == 1 && task->scale == 1.0 && task->in == task->out)
        return AXLE_OK;
    uint64_t bytes = task->header.count * axle_dtype_size(task->header.dtype);
    if (group->size > 1 && bytes * (uint64_t)(group->size - 1) <= SMALL_BYTES)
        return all_reduce_small(group, task, (size_t)bytes);
    int status = set_up(&r, group, task);
    if (!status)
        status = expect_first(&r);
    if (!status)
        status = expect_results(&r);
    if (!status)
        status = send_contributions(&r);
    for (uint32_t number = 0; number < r.segments && !status; number++) {
        status =
            take_segment(&r, number, r.out + segment_of(&r, group->rank, number).first * r.item);
        if (!status)
            status = send_results(&r, number);
    }
    return end(&r, status);
}

int axle__reduce_scatter_data(axle_group *group, axle__task *task)
{
    reduction r;
    int status = set_up(&r, group, task);
    if (!status)
        status = expect_first(&r);
    if (!status)
        status = send_contributions(&r);
    for (uint32_t number = 0; number < r.segments && !status; number++)
        status = take_segment(&r, number, r.out + (uint64_t)number * r.segment * r.item);
    return end(&r, status);
}
