/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting between processes. */
#include "loop.h"

/* What number k of n items is. */
static int64_t mark(int64_t k)
{
    return 100 + 3 * k;
}

enum { MOST = 64 };

/* Gathered, the parts begin with the whole. */
static int gathers_to(axle_accelerator *acc, axle_tensor *part, int64_t n, bool padded)
{
    int64_t got[MOST], each = (n + loop_size - 1) / loop_size;
    axle_tensor *all = axle_accelerator_gather(acc, part);
    EXPECT(all && axle_tensor_dim(all, 0) == (padded ? each * loop_size : n));
    EXPECT(axle_tensor_count(all) <= MOST);
    EXPECT(axle_tensor_read(all, got, (size_t)axle_tensor_count(all) * sizeof(*got)) == AXLE_OK);
    for (int64_t k = 0; k < axle_tensor_count(all); k++)
        EXPECT(got[k] == mark(k < n ? k : n - 1));
    return 0;
}

/* How many items this process has. */
static int64_t share_of(int64_t n, bool padded)
{
    return padded ? (n + loop_size - 1) / loop_size : n / loop_size + (loop_rank < n % loop_size);
}

static axle_tensor *marks(int64_t n)
{
    int64_t all[MOST];
    for (int64_t k = 0; k < n; k++)
        all[k] = mark(k);
    return axle_from_data(AXLE_DTYPE_I64, 1, &n, all);
}

/* Twice as many as processes, one less, 17, fewer than processes. */
static int64_t count_of(int which)
{
    const int64_t counts[] = {2 * loop_size, 2 * loop_size - 1, 17, 1};
    return counts[which];
}

static int splits_items(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (int which = 0; which < 4; which++)
        for (int padded = 0; padded < 2; padded++) {
            int64_t n = count_of(which), own, items[MOST];
            void *part;
            for (int64_t k = 0; k < n; k++)
                items[k] = mark(k);
            EXPECT(axle_split_items(acc, items, n, sizeof(*items), padded, &part, &own) == AXLE_OK);
            EXPECT(own == share_of(n, padded));
            if (gathers_to(acc, axle_from_data(AXLE_DTYPE_I64, 1, &own, part), n, padded))
                return 1;
            axle_free(part);
        }
    axle_accelerator_release(acc);
    return 0;
}

static int splits_strings(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    const char *words[17];
    char text[17][8];
    void *part;
    int64_t own, first, count;
    for (int k = 0; k < 17; k++) {
        snprintf(text[k], sizeof(text[k]), "word%d", k);
        words[k] = text[k];
    }
    axle_split_between_processes(acc, 17, &first, &count);
    EXPECT(axle_split_items(acc, words, 17, sizeof(*words), 0, &part, &own) == AXLE_OK);
    EXPECT(own == count && own == share_of(17, false));
    for (int64_t k = 0; k < own; k++)
        EXPECT(((const char **)part)[k] == words[first + k]);
    axle_free(part);
    axle_accelerator_release(acc);
    return 0;
}

static int splits_rows(void)
{
    axle_accelerator *acc;
    if (loop_open(NULL, &acc))
        return 1;
    for (int which = 0; which < 4; which++)
        for (int padded = 0; padded < 2; padded++) {
            int64_t n = count_of(which);
            axle_tensor *part = axle_split_rows(acc, marks(n), padded);
            EXPECT(part && axle_tensor_dim(part, 0) == share_of(n, padded));
            if (gathers_to(acc, part, n, padded))
                return 1;
        }
    EXPECT(!axle_split_rows(acc, axle_scalar(AXLE_DTYPE_F32, 1.0), 0));
    EXPECT(loop_refused(axle_error_code(), AXLE_ERR_SHAPE, "no rows"));
    axle_accelerator_release(acc);
    return 0;
}

static int splits_batches(void)
{
    axle_accelerator *acc;
    axle_batch *whole, *part;
    if (loop_open(NULL, &acc))
        return 1;
    EXPECT(axle_batch_create(&whole) == AXLE_OK);
    EXPECT(axle_batch_set(whole, "ids", marks(17)) == AXLE_OK);
    EXPECT(axle_batch_set(whole, "pairs", axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(17, 2))) == AXLE_OK);
    for (int padded = 0; padded < 2; padded++) {
        EXPECT(axle_split_batch(acc, whole, padded, &part) == AXLE_OK);
        EXPECT(axle_batch_count(part) == 2 && axle_batch_rows(part) == share_of(17, padded));
        EXPECT(axle_tensor_dim(axle_batch_get(part, "pairs"), 0) == share_of(17, padded));
        EXPECT(axle_tensor_dim(axle_batch_get(part, "pairs"), 1) == 2);
        if (gathers_to(acc, axle_batch_get(part, "ids"), 17, padded))
            return 1;
        EXPECT(axle_batch_rows(whole) == 17 && axle_batch_count(whole) == 2);
        axle_batch_release(part);
    }
    axle_batch_release(whole);
    axle_accelerator_release(acc);
    return 0;
}

static int splits_data_sets(void)
{
    axle_accelerator *acc;
    axle_dataset *whole, *part;
    axle_batch *batch;
    const char *names[] = {"input"};
    if (loop_open(NULL, &acc))
        return 1;
    for (int which = 0; which < 4; which++)
        for (int padded = 0; padded < 2; padded++) {
            int64_t n = count_of(which), own = share_of(n, padded), all[MOST];
            axle_tensor *numbers = marks(n), *ids = NULL;
            EXPECT(axle_tensor_dataset_create(names, &numbers, 1, &whole) == AXLE_OK);
            EXPECT(axle_split_dataset(acc, whole, padded, &part) == AXLE_OK);
            axle_dataset_release(whole);
            EXPECT(axle_dataset_length(part) == own);
            for (int64_t k = 0; k < own; k++)
                all[k] = k;
            ids = axle_zeros(AXLE_DTYPE_I64, AXLE_DIMS(0));
            if (own > 0) {
                EXPECT(axle_dataset_fetch(part, all, own, &batch) == AXLE_OK);
                ids = axle_tensor_retain(axle_batch_get(batch, "input"));
                axle_batch_release(batch);
            }
            int wrong = gathers_to(acc, ids, n, padded);
            if (own > 0)
                axle_tensor_release(ids);
            axle_dataset_release(part);
            if (wrong)
                return 1;
        }
    axle_accelerator_release(acc);
    return 0;
}

const loop_check loop_split[] = {
    {"4", "items are split, the first processes have one more, or all as many", splits_items},
    {"4", "so are strings", splits_strings},
    {"4", "so are the rows of tensors", splits_rows},
    {"4", "so are batches, and the caller's is unchanged", splits_batches},
    {"4", "so are data sets", splits_data_sets},
    {NULL, NULL, NULL},
};
