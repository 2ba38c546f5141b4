/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_lines FOLDER FILE [REPEATS]
 *
 * Encode each line of a file on one thread, for tests/golden/compare_tokenizers.py. Without
 * REPEATS, print for each line its ids, offsets in bytes, and words:
 *
 *     101 7592 102|0,0 0,5 0,0|-1 0 -1
 *
 * With it, print how many seconds encoding all lines so often takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "axle/tokenizer.h"

typedef struct lines {
    char *text;
    char **line;
    size_t *length;
    size_t count;
} lines;

static int fail(const char *what)
{
    fprintf(stderr, "encode_lines: %s\n", what);
    return 1;
}

static int read_lines(const char *path, lines *out)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return fail(path);
    size_t size = (size_t)ftell(file), count = 0;
    rewind(file);
    out->text = malloc(size + 1);
    if (!out->text || fread(out->text, 1, size, file) != size)
        return fail(path);
    fclose(file);
    for (size_t k = 0; k < size; k++)
        count += out->text[k] == '\n';
    out->line = malloc((count + 1) * sizeof(*out->line));
    out->length = malloc((count + 1) * sizeof(*out->length));
    if (!out->line || !out->length)
        return fail("out of memory");
    for (char *begin = out->text, *end; (end = memchr(begin, '\n', size)); begin = end + 1) {
        out->line[out->count] = begin;
        out->length[out->count++] = (size_t)(end - begin);
        size -= (size_t)(end - begin) + 1;
    }
    return 0;
}

static axle_encoding *encode(const axle_tokenizer *tokenizer, const lines *lines, size_t k)
{
    axle_encoding *encoding;
    if (axle_tokenizer_encode(tokenizer, lines->line[k], (int64_t)lines->length[k], NULL, 0, NULL,
                              &encoding) == AXLE_OK)
        return encoding;
    fail(axle_error_message());
    exit(1);
}

static void print_lines(const axle_tokenizer *tokenizer, const lines *lines)
{
    for (size_t k = 0; k < lines->count; k++) {
        axle_encoding *encoding = encode(tokenizer, lines, k);
        for (int64_t j = 0; j < encoding->length; j++)
            printf(j ? " %lld" : "%lld", (long long)encoding->ids[j]);
        for (int64_t j = 0; j < encoding->length; j++)
            printf(j ? " %lld,%lld" : "|%lld,%lld", (long long)encoding->offsets[j][0],
                   (long long)encoding->offsets[j][1]);
        for (int64_t j = 0; j < encoding->length; j++)
            printf(j ? " %lld" : "|%lld", (long long)encoding->words[j]);
        puts(encoding->length ? "" : "||");
        axle_encoding_release(encoding);
    }
}

static void time_lines(const axle_tokenizer *tokenizer, const lines *lines, long repeats)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long r = 0; r < repeats; r++)
        for (size_t k = 0; k < lines->count; k++)
            axle_encoding_release(encode(tokenizer, lines, k));
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n",
           (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
}

int main(int argc, char **argv)
{
    axle_tokenizer *tokenizer;
    lines lines = {NULL, NULL, NULL, 0};
    if (argc < 3)
        return fail("usage: encode_lines FOLDER FILE [REPEATS]");
    if (axle_tokenizer_open(argv[1], &tokenizer) != AXLE_OK)
        return fail(axle_error_message());
    if (read_lines(argv[2], &lines) != 0)
        return 1;
    if (argc > 3)
        time_lines(tokenizer, &lines, atol(argv[3]));
    else
        print_lines(tokenizer, &lines);
    axle_tokenizer_release(tokenizer);
    free(lines.line);
    free(lines.length);
    free(lines.text);
    return 0;
}
