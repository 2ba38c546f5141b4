/* SPDX-License-Identifier: Apache-2.0 */
/* Texts to encodings: one, or many on several threads. */
#include <sched.h>
#include <stdlib.h>

#include "axle/status.h"
#include "encoding.h"

enum { MOST_BYTES = INT32_MAX };

/* ---- options */

static int check(const axle_tokenizer *tokenizer, const axle_encode_options *options)
{
    if (options->truncation < AXLE_TRUNCATE_NONE || options->truncation > AXLE_TRUNCATE_ONLY_SECOND)
        return axle_error_set(AXLE_ERR_INVALID, "encode: %d is no way to truncate",
                              options->truncation);
    if (options->padding < AXLE_PAD_NONE || options->padding > AXLE_PAD_MAX_LENGTH)
        return axle_error_set(AXLE_ERR_INVALID, "encode: %d is no way to pad", options->padding);
    if (options->max_length < 0 || options->max_length > MOST_BYTES ||
        options->pad_to_multiple_of < 0 || options->pad_to_multiple_of > MOST_BYTES)
        return axle_error_set(AXLE_ERR_INVALID, "encode: lengths of %lld and %lld cannot be",
                              (long long)options->max_length,
                              (long long)options->pad_to_multiple_of);
    if (options->padding && tokenizer->roles[AXLE_TOKEN_PADDING] < 0)
        return axle_error_set(AXLE_ERR_STATE, "encode: this tokenizer has no padding token");
    return AXLE_OK;
}

int axle__encode_options_complete(const axle_tokenizer *tokenizer, const axle_encode_options *given,
                                  axle_encode_options *out)
{
    axle_encode_options options = AXLE_ENCODE_OPTIONS_INIT;
    if (given)
        memcpy(&options, given,
               given->struct_size < sizeof(options) ? given->struct_size : sizeof(options));
    int status = check(tokenizer, &options);
    if (status)
        return status;
    if (options.max_length == 0)
        options.max_length = tokenizer->max_length;
    *out = options;
    return AXLE_OK;
}

/* ---- one */

int axle__encode_one(const axle_tokenizer *tokenizer, axle__workspace *workspace,
                     const axle_encode_options *options, axle__tokenized *first,
                     axle__tokenized *second, axle_encoding **out)
{
    axle_encoding *encoding = NULL;
    bool as_text = options->specials_as_text;
    int status = axle__tokenize(tokenizer, workspace, first->text, first->length, as_text,
                                &workspace->first);
    if (!status && second)
        status = axle__tokenize(tokenizer, workspace, second->text, second->length, as_text,
                                &workspace->second);
    if (status)
        return status;
    first->tokens = workspace->first.items;
    first->count = workspace->first.count;
    if (second) {
        second->tokens = workspace->second.items;
        second->count = workspace->second.count;
    }
    status = axle__truncate(tokenizer, options, first, second);
    if (!status)
        status = axle__encoding_create(tokenizer, options, first, second, &encoding);
    if (!status && options->padding)
        status = axle__encoding_pad(
            tokenizer, options, options->padding == AXLE_PAD_MAX_LENGTH ? options->max_length : 0,
            &encoding);
    if (status) {
        axle_encoding_release(encoding);
        return status;
    }
    *out = encoding;
    return AXLE_OK;
}

static int measure(const char *text, int64_t length, axle__tokenized *out)
{
    size_t size = length < 0 ? strlen(text) : (size_t)length;
    if (size > MOST_BYTES)
        return axle_error_set(AXLE_ERR_INVALID, "encode: a text of %zu bytes is too long", size);
    *out = (axle__tokenized){text, size, NULL, 0};
    return AXLE_OK;
}

int axle_tokenizer_encode(const axle_tokenizer *tokenizer, const char *text, int64_t length,
                          const char *pair, int64_t pair_length, const axle_encode_options *options,
                          axle_encoding **out)
{
    axle_encode_options complete;
    axle__tokenized first, second;
    int status = axle__encode_options_complete(tokenizer, options, &complete);
    if (!status)
        status = measure(text, length, &first);
    if (!status && pair)
        status = measure(pair, pair_length, &second);
    if (status)
        return status;
    axle__workspace *workspace = axle__workspace_take(tokenizer);
    if (!workspace)
        return AXLE_ERR_NOMEM;
    status = axle__encode_one(tokenizer, workspace, &complete, &first, pair ? &second : NULL, out);
    axle__workspace_give(tokenizer, workspace);
    return status;
}

/* ---- many */

enum { BLOCK = 16, MOST_THREADS = 256 }; /* texts that a thread takes at a time */

typedef struct batch {
    const axle_tokenizer *tokenizer;
    const axle_encode_options *options;
    const char *const *texts, *const *pairs;
    int64_t n;
    axle_encoding **out;
    atomic_llong next;
    pthread_mutex_t lock; /* of the first error */
    int status;
    char message[256];
} batch;

static void report(batch *batch, int status)
{
    pthread_mutex_lock(&batch->lock);
    if (!batch->status) {
        batch->status = status;
        snprintf(batch->message, sizeof(batch->message), "%s", axle_error_message());
    }
    pthread_mutex_unlock(&batch->lock);
    atomic_store(&batch->next, batch->n);
}

static int encode_row(batch *batch, axle__workspace *workspace, int64_t k)
{
    axle__tokenized first, second;
    const char *pair = batch->pairs ? batch->pairs[k] : NULL;
    int status = measure(batch->texts[k], -1, &first);
    if (!status && pair)
        status = measure(pair, -1, &second);
    if (status)
        return status;
    return axle__encode_one(batch->tokenizer, workspace, batch->options, &first,
                            pair ? &second : NULL, &batch->out[k]);
}

static void *work(void *user)
{
    batch *batch = user;
    axle__workspace *workspace = axle__workspace_take(batch->tokenizer);
    int status = workspace ? AXLE_OK : AXLE_ERR_NOMEM;
    while (!status) {
        int64_t k = atomic_fetch_add(&batch->next, BLOCK);
        int64_t end = k + BLOCK < batch->n ? k + BLOCK : batch->n;
        if (k >= batch->n)
            break;
        for (; k < end && !status; k++)
            status = encode_row(batch, workspace, k);
    }
    if (status)
        report(batch, status);
    axle__workspace_give(batch->tokenizer, workspace);
    return NULL;
}

static int threads_of(int threads, int64_t n)
{
    cpu_set_t cpus;
    if (threads <= 0)
        threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    int64_t blocks = (n + BLOCK - 1) / BLOCK;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    return threads < blocks ? threads : (int)blocks;
}

/* The caller's thread works, too; so it does not matter if no other can be had. */
static void run(batch *batch, int threads)
{
    pthread_t others[MOST_THREADS];
    int count = 0;
    while (count + 1 < threads && pthread_create(&others[count], NULL, work, batch) == 0)
        count++;
    work(batch);
    while (count > 0)
        pthread_join(others[--count], NULL);
}

static int pad_all(const batch *batch)
{
    int64_t longest = 0;
    int status = AXLE_OK;
    for (int64_t k = 0; k < batch->n; k++)
        if (batch->out[k]->length > longest)
            longest = batch->out[k]->length;
    for (int64_t k = 0; k < batch->n && !status; k++)
        status = axle__encoding_pad(batch->tokenizer, batch->options, longest, &batch->out[k]);
    return status;
}

int axle_tokenizer_encode_batch(const axle_tokenizer *tokenizer, const char *const *texts,
                                const char *const *pairs, int64_t n,
                                const axle_encode_options *options, int threads,
                                axle_encoding ***out)
{
    axle_encode_options complete;
    int status = axle__encode_options_complete(tokenizer, options, &complete);
    if (status)
        return status;
    batch batch = {.tokenizer = tokenizer,
                   .options = &complete,
                   .texts = texts,
                   .pairs = pairs,
                   .n = n,
                   .lock = PTHREAD_MUTEX_INITIALIZER};
    batch.out = calloc(n > 0 ? (size_t)n : 1, sizeof(*batch.out));
    if (!batch.out)
        return axle__tokenizer_out_of_memory();
    run(&batch, threads_of(threads, n));
    status = batch.status;
    if (status)
        axle_error_set(status, "%s", batch.message);
    if (!status && complete.padding == AXLE_PAD_LONGEST)
        status = pad_all(&batch);
    if (status) {
        axle_encodings_release(batch.out, n);
        return status;
    }
    *out = batch.out;
    return AXLE_OK;
}
