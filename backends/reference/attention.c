/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention head by head, query row by query row:
 *
 *     s = scale * k . q,  p = softmax(s) under the masks,  y = v^T . dropout(p)
 *
 * Removed positions are skipped, never multiplied by 0, so that a NaN behind a mask stays there.
 */
#include "masking.h"
#include "operand.h"

#include <string.h>

/* Query rows of one head that are done together, with the head's keys and values at hand. */
enum { ROWS = 32 };

typedef struct attention_job {
    const ref_call *call;
    const axle_attention_attrs *attrs;
    const axle_view *q, *k, *v, *mask, *y, *lse;
    const axle_view *dy, *dq, *dk, *dv;
    int64_t heads, queries, keys, depth, width; /* B*H, L, S, D, E */
    int64_t each;                               /* numbers of scratch of a worker */
    double *scratch;
} attention_job;

/* A worker's scratch. */
typedef struct attention_memory {
    double *k, *v;             /* (S, D), (S, E) */
    double *q, *y;             /* (D), (E): a row */
    double *p, *mask, *factor; /* (S): probabilities, mask, what dropout multiplies by */
    double *ds, *dq, *dk, *dv; /* (S), (D), (S, D), (S, E): backward only */
} attention_memory;

static int64_t head_at(const axle_view *view, int64_t head)
{
    return ref_view_at(view, 0, 2, head);
}

static int64_t row_at(const axle_view *view, int64_t head, int64_t i)
{
    return head_at(view, head) + i * view->stride[2];
}

static attention_memory memory_of(const attention_job *job, int32_t worker)
{
    attention_memory m = {0};
    int64_t sd = job->keys * job->depth, se = job->keys * job->width;
    double *p = job->scratch + worker * job->each;
    m.k = p, p += sd;
    m.v = p, p += se;
    m.q = p, p += job->depth;
    m.y = p, p += job->width;
    m.p = p, p += job->keys;
    m.mask = p, p += job->keys;
    m.factor = p, p += job->keys;
    m.ds = p, p += job->keys;
    m.dq = p, p += job->depth;
    if (job->dy) {
        m.dk = p, p += sd;
        m.dv = p;
    }
    return m;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double s0 = 0, s1 = 0;
    int64_t i = 0;
    for (; i + 1 < n; i += 2) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
    }
    return s0 + s1 + (i < n ? a[i] * b[i] : 0);
}

static void add_scaled(double *restrict sum, double factor, const double *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += factor * x[i];
}

/* What dropout multiplies the probabilities of row i by: 0 or 1/(1-p). */
static void dropout_factors(const attention_job *job, int64_t head, int64_t i, double *factor)
{
    double drop = job->attrs->dropout;
    uint64_t first = job->call->args->rng_offset + (uint64_t)(head * job->queries + i) * job->keys;
    uint32_t block[4] = {0};
    for (int64_t j = 0; j < job->keys; j++) {
        uint64_t element = first + (uint64_t)j;
        if (j == 0 || element % 4 == 0)
            ref_philox(job->call->args->rng_seed, element / 4, block);
        double uniform = (block[element % 4] >> 8) * 0x1p-24;
        factor[j] = uniform >= drop ? 1 / (1 - drop) : 0;
    }
}

static ref_masking row_masking(const attention_job *job, int64_t head, int64_t i, double *mask)
{
    ref_masking masking = {.keep = ref_masking_order(job->attrs->causal != 0, i, job->keys)};
    if (job->mask) {
        ref_run_load(job->mask, row_at(job->mask, head, i), job->keys, job->mask->stride[3], mask);
        masking.mask = mask;
        masking.boolean = job->mask->dtype == AXLE_DTYPE_BOOL;
    }
    return masking;
}

/* The probabilities of row i in m->p, dropout's factors in m->factor, the query in m->q. Returns
 * log(sum(exp(s))). */
static double row_probabilities(const attention_job *job, const attention_memory *m, int64_t head,
                                int64_t i, const ref_masking *masking)
{
    ref_run_load(job->q, row_at(job->q, head, i), job->depth, job->q->stride[3], m->q);
    for (int64_t j = 0; j < job->keys; j++)
        if (ref_masking_keeps(masking, j))
            m->p[j] = job->attrs->scale * dot(m->q, m->k + j * job->depth, job->depth);
    if (job->attrs->dropout > 0)
        dropout_factors(job, head, i, m->factor);
    else
        for (int64_t j = 0; j < job->keys; j++)
            m->factor[j] = 1;
    return ref_masked_softmax(masking, m->p, job->keys);
}

static void attention_row(const attention_job *job, const attention_memory *m, int64_t head,
                          int64_t i)
{
    ref_masking masking = row_masking(job, head, i, m->mask);
    double lse = row_probabilities(job, m, head, i, &masking);
    memset(m->y, 0, (size_t)job->width * sizeof(double));
    for (int64_t j = 0; j < job->keys; j++)
        if (ref_masking_keeps(&masking, j))
            add_scaled(m->y, m->p[j] * m->factor[j], m->v + j * job->width, job->width);
    ref_run_store(job->y, row_at(job->y, head, i), job->width, job->y->stride[3], m->y);
    if (job->lse)
        ref_element_set(job->lse, row_at(job->lse, head, i), lse);
}

/* Items are (head, block of ROWS queries). */
static void attention_blocks(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const attention_job *job = arg;
    attention_memory m = memory_of(job, worker);
    int64_t blocks = (job->queries + ROWS - 1) / ROWS, loaded = -1;
    for (int64_t t = begin; t < end; t++) {
        int64_t head = t / blocks, first = t % blocks * ROWS;
        if (head != loaded) {
            ref_box_load(job->k, 2, head_at(job->k, head), m.k);
            ref_box_load(job->v, 2, head_at(job->v, head), m.v);
            loaded = head;
        }
        for (int64_t i = first; i < first + ROWS && i < job->queries; i++)
            attention_row(job, &m, head, i);
    }
}

static axle_status job_begin(const ref_call *call, attention_job *job)
{
    job->call = call;
    job->attrs = call->attrs;
    job->heads = job->q->dim[0] * job->q->dim[1];
    job->queries = job->q->dim[2];
    job->depth = job->q->dim[3];
    job->keys = job->k->dim[2];
    job->width = job->v->dim[3];
    int64_t pair = ref_count_times(job->keys, job->depth + job->width);
    job->each = ref_count_plus(ref_count_times(job->dy ? 2 : 1, pair),
                               4 * job->keys + 2 * job->depth + job->width);
    job->scratch = ref_reals(call, ref_count_times(ref_worker_count(call), job->each));
    if (!job->scratch)
        return AXLE_ERR_NOMEM;
    return AXLE_OK;
}

static axle_status attention(const ref_call *call)
{
    attention_job job = {.q = ref_operand_in(call, 0),
                         .k = ref_operand_in(call, 1),
                         .v = ref_operand_in(call, 2),
                         .mask = ref_operand_in(call, 3),
                         .y = ref_operand_out(call, 0),
                         .lse = ref_operand_out(call, 1)};
    axle_status status = job_begin(call, &job);
    if (status == AXLE_OK)
        ref_parallel(call, job.heads * ((job.queries + ROWS - 1) / ROWS), 1, attention_blocks,
                     &job);
    ref_scratch_free(call, job.scratch);
    return status;
}

/*
 * With g_j = factor_j * (dy . v_j), the gradient with respect to p_j:
 *     ds_j = p_j * (g_j - sum over j of p_j * g_j)
 *     dq = scale * sum over j of ds_j * k_j,  dk_j += scale * ds_j * q,  dv_j += p_j * factor_j *
 * dy The probabilities and the sum are computed anew rather than from lse and y, which were
 * rounded.
 */
static void backward_row(const attention_job *job, const attention_memory *m, int64_t head,
                         int64_t i)
{
    int64_t d = job->depth, e = job->width;
    ref_masking masking = row_masking(job, head, i, m->mask);
    double sum = 0;
    row_probabilities(job, m, head, i, &masking);
    ref_run_load(job->dy, row_at(job->dy, head, i), e, job->dy->stride[3], m->y);
    memset(m->dq, 0, (size_t)d * sizeof(double));
    for (int64_t j = 0; j < job->keys; j++)
        if (ref_masking_keeps(&masking, j)) {
            m->ds[j] = m->factor[j] * dot(m->y, m->v + j * e, e);
            sum += m->p[j] * m->ds[j];
        }
    for (int64_t j = 0; j < job->keys; j++)
        if (ref_masking_keeps(&masking, j)) {
            double ds = job->attrs->scale * m->p[j] * (m->ds[j] - sum);
            add_scaled(m->dq, ds, m->k + j * d, d);
            add_scaled(m->dk + j * d, ds, m->q, d);
            add_scaled(m->dv + j * e, m->p[j] * m->factor[j], m->y, e);
        }
    if (job->dq)
        ref_run_store(job->dq, row_at(job->dq, head, i), d, job->dq->stride[3], m->dq);
}

static void backward_heads(void *arg, int64_t begin, int64_t end, int32_t worker)
{
    const attention_job *job = arg;
    attention_memory m = memory_of(job, worker);
    for (int64_t head = begin; head < end; head++) {
        ref_box_load(job->k, 2, head_at(job->k, head), m.k);
        ref_box_load(job->v, 2, head_at(job->v, head), m.v);
        memset(m.dk, 0, (size_t)(job->keys * job->depth) * sizeof(double));
        memset(m.dv, 0, (size_t)(job->keys * job->width) * sizeof(double));
        for (int64_t i = 0; i < job->queries; i++)
            backward_row(job, &m, head, i);
        if (job->dk)
            ref_box_store(job->dk, 2, head_at(job->dk, head), m.dk);
        if (job->dv)
            ref_box_store(job->dv, 2, head_at(job->dv, head), m.dv);
    }
}

static axle_status attention_backward(const ref_call *call)
{
    attention_job job = {.dy = ref_operand_in(call, 0),
                         .q = ref_operand_in(call, 1),
                         .k = ref_operand_in(call, 2),
                         .v = ref_operand_in(call, 3),
                         .mask = ref_operand_in(call, 4),
                         .dq = ref_operand_out(call, 0),
                         .dk = ref_operand_out(call, 1),
                         .dv = ref_operand_out(call, 2)};
    axle_status status = job_begin(call, &job);
    if (status == AXLE_OK)
        ref_parallel(call, job.heads, 1, backward_heads, &job);
    ref_scratch_free(call, job.scratch);
    return status;
}

static int ranks_fit(const axle_op_desc *desc, uint32_t first)
{
    for (uint32_t k = first; k < first + 4 && k < desc->n_in; k++)
        if (desc->in[k] && desc->in[k]->rank != 4)
            return 0;
    return desc->attrs != NULL && desc->in[0]->rank == 4;
}

static int accepts_forward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "fffm?", "fs?") && ranks_fit(desc, 0);
}

static int accepts_backward(const axle_op_desc *desc)
{
    return ref_signature_fits(desc, "ffffm?fs", "f?f?f?") && ranks_fit(desc, 1);
}

const ref_entry ref_entries_attention[] = {
    {AXLE_OP_ATTENTION, attention, accepts_forward},
    {AXLE_OP_ATTENTION_BACKWARD, attention_backward, accepts_backward},
    {0},
};
