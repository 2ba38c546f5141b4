/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/axle.h"
#include "axle/safetensors.h"
#include "axle/text.h"
#include "axle/tokenizer.h"
#include "axle/transformers.h"

enum { MOST_ELEMENTS = 1 << 16, MOST_ROWS = 64 };

/* ------------------------------------------------------------------ tensors */

static void read_tensor(const axle_stored_tensor *stored)
{
    axle_tensor *tensor;
    int64_t count = 1;
    for (int k = 0; k < stored->rank; k++)
        if (stored->dims[k] > MOST_ELEMENTS || (count *= stored->dims[k]) > MOST_ELEMENTS)
            return;
    if (axle_tensor_create(axle_device_host(), stored->dtype, stored->rank, stored->dims, &tensor))
        return;
    axle_tensor_file_read(stored, tensor);
    axle_tensor_release(tensor);
}

static void read_tensors(const char *folder, const char *path)
{
    axle_tensor_file *file;
    (void)path;
    if (axle_tensor_file_open(folder, NULL, &file))
        return;
    for (int64_t k = 0; k < axle_tensor_file_count(file); k++)
        read_tensor(axle_tensor_file_at(file, k));
    axle_tensor_file_metadata(file, "format");
    axle_tensor_file_close(file);
}

/* ------------------------------------------------------------------ configurations */

static void read_config(const char *folder, const char *path)
{
    axle_transformer_config *config;
    int64_t hidden;
    double dropout;
    (void)path;
    if (axle_transformer_config_read(folder, &config))
        return;
    axle_transformer_config_get_int(config, "hidden_size", &hidden);
    axle_transformer_config_get_double(config, "hidden_dropout_prob", &dropout);
    axle_transformer_config_get_string(config, "problem_type");
    for (int64_t k = 0; k < axle_transformer_config_label_count(config) && k < MOST_ROWS; k++)
        axle_transformer_config_label(config, k);
    axle_transformer_config_label_id(config, "positive");
    axle_transformer_config_release(config);
}

/* ------------------------------------------------------------------ tokenizers */

static void use_tokenizer(const axle_tokenizer *tokenizer, const char *text, int64_t length)
{
    axle_encode_options options = AXLE_ENCODE_OPTIONS_INIT;
    axle_encoding *encoding;
    char *back;
    options.truncation = AXLE_TRUNCATE_LONGEST_FIRST;
    options.max_length = 12;
    if (axle_tokenizer_encode(tokenizer, text, length, "and a pair", -1, &options, &encoding))
        return;
    if (axle_tokenizer_decode(tokenizer, encoding->ids, encoding->length, 0, &back) == AXLE_OK)
        axle_free(back);
    axle_encoding_release(encoding);
}

static void read_tokenizer(const char *folder, const char *path)
{
    static const char text[] = "Hello, w\xC3\xB6rld! [MASK] \xE4\xB8\xAD it's 42  <mask>";
    axle_tokenizer *tokenizer;
    (void)path;
    if (axle_tokenizer_open(folder, &tokenizer))
        return;
    use_tokenizer(tokenizer, text, -1);
    axle_tokenizer_release(tokenizer);
}

/* The folder's tokenizer takes any bytes. */
static void read_text(const char *folder, const char *path)
{
    static char text[1 << 16];
    axle_tokenizer *tokenizer;
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    size_t length = fread(text, 1, sizeof(text), file);
    fclose(file);
    if (axle_tokenizer_open(folder, &tokenizer))
        return;
    use_tokenizer(tokenizer, text, (int64_t)length);
    axle_tokenizer_release(tokenizer);
}

/* ------------------------------------------------------------------ labelled texts */

static axle_tokenizer *word_tokenizer(void)
{
    static const char *const words[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
                                        "a",     "##b",   "good",  "bad",   "."};
    axle_tokenizer *tokenizer = NULL;
    if (axle_tokenizer_create_wordpiece(words, sizeof(words) / sizeof(words[0]), NULL, &tokenizer))
        return NULL;
    return tokenizer;
}

static void fetch(axle_dataset *set)
{
    int64_t rows[MOST_ROWS], n = axle_dataset_length(set);
    axle_batch *batch;
    n = n < MOST_ROWS ? n : MOST_ROWS;
    for (int64_t k = 0; k < n; k++)
        rows[k] = k;
    if (n > 0 && axle_dataset_fetch(set, rows, n, &batch) == AXLE_OK)
        axle_batch_release(batch);
}

static void read_records(const char *folder, const char *path)
{
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_tokenizer *tokenizer = word_tokenizer();
    axle_dataset *set;
    (void)folder;
    if (!tokenizer)
        return;
    axle_text_encoder encoder = axle_text_encoder_of(tokenizer);
    options.threads = 1;
    if (axle_text_dataset_open(path, &options, &encoder, &set) == AXLE_OK) {
        fetch(set);
        axle_dataset_release(set);
    }
    axle_tokenizer_release(tokenizer);
}

/* ------------------------------------------------------------------ the table */

const fuzz_target fuzz_targets[] = {
    {"safetensors", "model.safetensors", read_tensors},
    {"index", "model.safetensors.index.json", read_tensors},
    {"config", "config.json", read_config},
    {"tokenizer", "tokenizer.json", read_tokenizer},
    {"tokenizer_config", "tokenizer_config.json", read_tokenizer},
    {"vocab", "vocab.txt", read_tokenizer},
    {"merges", "merges.txt", read_tokenizer},
    {"wordpiece_text", "text", read_text},
    {"byte_text", "text", read_text},
    {"tsv", "texts.tsv", read_records},
    {"csv", "texts.csv", read_records},
    {"jsonl", "texts.jsonl", read_records},
    {NULL, NULL, NULL},
};

const fuzz_target *fuzz_target_find(const char *name)
{
    for (const fuzz_target *target = fuzz_targets; target->name; target++)
        if (strcmp(target->name, name) == 0)
            return target;
    return NULL;
}
