/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives at the accelerator. */
#include "loop.h"

#define F64 AXLE_DTYPE_F64

/* Numbers of a tensor are from, from + 1, ... */
static int counts_from(axle_tensor *x, double from, int64_t count)
{
    double got[64];
    axle_tensor *wide = x ? axle_cast(x, F64) : NULL;
    EXPECT(wide && axle_tensor_count(wide) == count && count <= 64);
    EXPECT(axle_tensor_read(wide, got, (size_t)count * sizeof(*got)) == AXLE_OK);
    for (int64_t k = 0; k < count; k++)
        EXPECT(got[k] == from + (double)k);
    return 0;
}

/* P numbers of each of P processes are 1 to P * P; of other types and of every second column, too.
 */
static int gathers(void)
{
    static const int types[] = {AXLE_DTYPE_F32, AXLE_DTYPE_BF16, AXLE_DTYPE_I64, AXLE_DTYPE_U8};
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    int64_t n = loop_size;
    double first = 1.0 + loop_rank * (double)n;
    for (int k = 0; k < 4; k++) {
        axle_tensor *own = axle_arange(types[k], first, first + (double)n, 1.0);
        if (counts_from(axle_accelerator_gather(acc, own), 1.0, n * n))
            return 1;
        axle_tensor *wide = axle_concat((axle_tensor *[]){axle_reshape(own, AXLE_DIMS(n, 1)),
                                                          axle_reshape(own, AXLE_DIMS(n, 1))},
                                        2, 1);
        axle_tensor *column = axle_slice(wide, 1, 1, 2, 1);
        if (counts_from(axle_accelerator_gather(acc, column), 1.0, n * n))
            return 1;
    }
    axle_accelerator_release(acc);
    return 0;
}

/* Process k's text is k + 1 times its letter. */
static int gathers_objects(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    char own[64], expected[64 * 64] = "";
    size_t sizes[64], end = 0;
    void *all;
    memset(own, 'a' + loop_rank, sizeof(own));
    EXPECT(loop_size <= 26);
    EXPECT(axle_gather_objects(acc, own, (size_t)loop_rank + 1, &all, sizes) == AXLE_OK);
    for (int k = 0; k < loop_size; k++) {
        EXPECT(sizes[k] == (size_t)k + 1);
        memset(expected + end, 'a' + k, sizes[k]);
        end += sizes[k];
    }
    EXPECT(memcmp(all, expected, end) == 0 && ((char *)all)[end] == '\0');
    axle_free(all);
    EXPECT(axle_gather_objects(acc, own, 0, &all, sizes) == AXLE_OK && sizes[loop_size - 1] == 0);
    axle_free(all);
    axle_accelerator_release(acc);
    return 0;
}

static int broadcasts(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (int root = 0; root < loop_size; root++) {
        char own[32];
        void *bytes = own;
        size_t size = (size_t)snprintf(own, sizeof(own), "of rank %d", loop_rank) + 1;
        EXPECT(axle_broadcast_object(acc, &bytes, &size, root) == AXLE_OK);
        char expected[32];
        snprintf(expected, sizeof(expected), "of rank %d", root);
        EXPECT(size == strlen(expected) + 1 && strcmp(bytes, expected) == 0);
        if (bytes != own)
            axle_free(bytes);
        axle_tensor *x = axle_scalar(F64, loop_rank);
        EXPECT(axle_broadcast(axle_accelerator_group(acc), x, root) == AXLE_OK);
        EXPECT(loop_item(x) == root);
    }
    axle_accelerator_release(acc);
    return 0;
}

/* The main process has the longest row, or the shortest. */
static int pads(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (int longer = 0; longer < 2; longer++)
        for (int first = 0; first < 2; first++) {
            int64_t own = (loop_rank == 0) == longer ? 5 : 3, longest = longer ? 5 : 3;
            if (!longer)
                longest = loop_size > 1 ? 5 : 3;
            else if (loop_size == 1)
                longest = 5;
            axle_tensor *x = axle_ones(F64, AXLE_DIMS(2, own));
            axle_tensor *padded = axle_pad_across_processes(acc, x, 1, 7.0, first);
            EXPECT(padded && axle_tensor_dim(padded, 1) == longest);
            axle_tensor *all = axle_accelerator_gather(acc, padded);
            EXPECT(all && axle_tensor_dim(all, 0) == 2 * loop_size);
            double sum = loop_item(axle_sum(padded, 0, NULL, 0));
            EXPECT(sum == 2.0 * (double)own + 14.0 * (double)(longest - own));
            double edge = loop_item(axle_slice(axle_slice(padded, 0, 0, 1, 1), 1,
                                               first ? 0 : longest - 1, first ? 1 : longest, 1));
            EXPECT(edge == (own == longest ? 1.0 : 7.0));
        }
    axle_accelerator_release(acc);
    return 0;
}

/* [1, 2] of rank 0, [3, 4] of rank 1, ... */
static int reduces(void)
{
    axle_accelerator *acc;
    double got[2], p = loop_size;
    if (loop_open(NULL, &acc))
        return 1;
    axle_tensor *own = axle_arange(F64, 1 + 2 * loop_rank, 3 + 2 * loop_rank, 1);
    const struct {
        int op;
        double first, second;
    } cases[] = {
        {AXLE_REDUCE_SUM, p * p, p * p + p},
        {AXLE_REDUCE_MEAN, p, p + 1},
        {AXLE_REDUCE_MAX, 2 * p - 1, 2 * p},
        {AXLE_REDUCE_MIN, 1, 2},
    };
    for (int k = 0; k < 4; k++) {
        axle_tensor *all = axle_accelerator_reduce(acc, own, cases[k].op);
        EXPECT(all && axle_tensor_read(all, got, sizeof(got)) == AXLE_OK);
        EXPECT(got[0] == cases[k].first && got[1] == cases[k].second);
        EXPECT(axle_tensor_read(own, got, sizeof(got)) == AXLE_OK && got[0] == 1 + 2 * loop_rank);
    }
    axle_accelerator_release(acc);
    return 0;
}

/* Whatever differs is an error on all, and the next collective is fine. */
static int refuses(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    axle_group *group = axle_accelerator_group(acc);
    for (int k = 0; k < 4 && loop_size > 1; k++) {
        bool odd = loop_rank == loop_size - 1;
        axle_tensor *x = axle_ones(k == 1 && odd ? AXLE_DTYPE_I32 : AXLE_DTYPE_F32,
                                   AXLE_DIMS(k == 0 && odd ? 12 : 10));
        int status;
        if (k == 3)
            status = axle_broadcast(group, x, odd ? 1 : 0);
        else if (k == 2 && odd)
            status = axle_broadcast(group, x, 0);
        else
            status = axle_all_reduce(group, x, AXLE_REDUCE_SUM);
        EXPECT(status == AXLE_ERR_SHAPE || status == AXLE_ERR_STATE);
        EXPECT(strstr(axle_error_message(), "rank 0 ") || strstr(axle_error_message(), "ranks 0 "));
        axle_error_clear();
        EXPECT(loop_item(axle_mean(axle_cast(x, F64), 0, NULL, 0)) == 1.0);
    }
    EXPECT(axle_wait_for_everyone(acc) == AXLE_OK);
    axle_accelerator_release(acc);
    return 0;
}

/* ------------------------------------------------------------------ the user's collective */

static int plain_sum(const axle_comm_bucket *bucket, void *user)
{
    ++*(int *)user;
    return axle_all_reduce(bucket->group, bucket->gradients, AXLE_REDUCE_SUM);
}

/* Half the bits on the wire. */
static int half_sum(const axle_comm_bucket *bucket, void *user)
{
    ++*(int *)user;
    axle_tensor *half = axle_cast(bucket->gradients, AXLE_DTYPE_BF16);
    if (!half || axle_all_reduce(bucket->group, half, AXLE_REDUCE_SUM))
        return axle_error_code();
    int64_t n = axle_tensor_count(half);
    double *values = malloc((size_t)n * sizeof(*values));
    axle_tensor *wide = values ? axle_cast(half, F64) : NULL;
    int status = wide ? axle_tensor_read(wide, values, (size_t)n * sizeof(*values)) : 1;
    if (!status)
        status = axle_tensor_write(bucket->gradients, values, (size_t)n * sizeof(*values));
    free(values);
    return status;
}

static int refusing_sum(const axle_comm_bucket *bucket, void *user)
{
    (void)bucket;
    ++*(int *)user;
    return axle_error_set(AXLE_ERR_UNSUPPORTED, "the hook will not");
}

/* Two windows of two batches with an unused parameter; weights are those of the gradient rule. */
static int train(axle_comm_hook_fn hook, int shard, double *out, int *calls)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_tensor *w, *unused = axle_tensor_retain(axle_scalar(F64, 5.0));
    axle_optimizer *opt;
    o.accumulate = 2;
    o.shard_optimizer = shard;
    if (loop_open(&o, &acc) || loop_weight(1.0, 0.5, &w, &opt))
        return 1;
    EXPECT(axle_tensor_set_requires_grad(unused, 1) == AXLE_OK);
    EXPECT(axle_optimizer_add_group(opt, &unused, 1, NULL) == AXLE_OK);
    EXPECT(axle_accelerator_set_comm_hook(acc, hook, calls) == AXLE_OK);
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    for (int k = 0; k < 4; k++) {
        double rows = 1.0 + (loop_rank + k) % 3;
        EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
        EXPECT(axle_backward_weighted(acc, axle_mul(loop_product(w, 0.25 + loop_rank), w), rows) ==
               AXLE_OK);
        EXPECT(axle_optimizer_step(opt) == AXLE_OK);
    }
    *out = loop_item(w);
    EXPECT(loop_item(unused) == 5.0 && axle_optimizer_updates(opt) == 2);
    axle_accelerator_release(acc);
    axle_optimizer_release(opt);
    axle_tensor_release(w);
    axle_tensor_release(unused);
    return 0;
}

static int calls_hooks(void)
{
    double built_in, plain, half;
    for (int shard = 0; shard < 2; shard++) {
        int none = 0, calls = 0, narrow = 0;
        if (train(NULL, shard, &built_in, &none) || train(plain_sum, shard, &plain, &calls) ||
            train(half_sum, shard, &half, &narrow))
            return 1;
        EXPECT(none == 0 && calls == (loop_size > 1 ? 2 : 0) && narrow == calls);
        EXPECT(loop_near(plain, built_in, 1e-13) && loop_near(half, built_in, 2e-2));
        EXPECT(built_in != 1.0);
    }
    return 0;
}

static int reports_hooks(void)
{
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    axle_accelerator *acc;
    axle_tensor *w;
    axle_optimizer *opt;
    int calls = 0;
    o.wire_dtype = AXLE_DTYPE_BF16;
    if (loop_open(&o, &acc))
        return 1;
    EXPECT(loop_refused(axle_accelerator_set_comm_hook(acc, plain_sum, NULL), AXLE_ERR_INVALID,
                        "bf16"));
    axle_accelerator_release(acc);
    if (loop_open(NULL, &acc) || loop_weight(1.0, 0.0, &w, &opt))
        return 1;
    EXPECT(axle_accelerator_set_comm_hook(acc, refusing_sum, &calls) == AXLE_OK);
    EXPECT(axle_prepare(acc, opt) == AXLE_OK);
    int status = axle_backward(acc, loop_product(w, 1.0));
    EXPECT(loop_size == 1 ? status == AXLE_OK
                          : loop_refused(status, AXLE_ERR_UNSUPPORTED, "the hook will not"));
    EXPECT(calls == (loop_size > 1));
    EXPECT(axle_accelerator_set_comm_hook(acc, NULL, NULL) == AXLE_OK);
    EXPECT(axle_optimizer_zero_grad(opt) == AXLE_OK);
    EXPECT(axle_backward(acc, loop_product(w, 1.0)) == AXLE_OK && calls == (loop_size > 1));
    return loop_close(acc, opt, w);
}

const loop_check loop_collectives[] = {
    {"16", "gathering numbers, of any strides", gathers},
    {"16", "gathering objects", gathers_objects},
    {"16", "broadcasting objects and tensors, from every process", broadcasts},
    {"16", "padding, the main process longer and shorter", pads},
    {"16", "sums, means, largest and least", reduces},
    {"16", "what differs is an error on all", refuses},
    {"19", "a hook in place of the collective comes to its numbers", calls_hooks},
    {"19", "a hook's error is that of backward", reports_hooks},
    {NULL, NULL, NULL},
};
