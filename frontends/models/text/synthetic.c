/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences about films. Row k is a function of the seed and k. A quarter says the opposite of its
 * adjective ("not very good"), so that counting adjectives is not enough.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/options_copy.h"
#include "axle/random.h"
#include "axle/status.h"
#include "axle/text.h"

/* Parts of a sentence, in their order, each chosen at random; "" leaves it out. */
static const char *const openings[] = {"", "", "honestly , ", "i think ", "to me ", "well , "};
static const char *const subjects[] = {"the film ", "this movie ", "the story ",  "the acting ",
                                       "the plot ", "the music ",  "the ending ", "this comedy "};
static const char *const verbs[] = {"is ", "was ", "seems ", "felt "};
static const char *const negations[] = {"", "", "", "not "};
static const char *const intensities[] = {"", "", "very ", "really ", "quite ", "so "};
static const char *const adjectives[2][8] = {
    {"bad", "awful", "boring", "dull", "terrible", "weak", "tedious", "poor"},
    {"good", "great", "wonderful", "funny", "moving", "brilliant", "charming", "clever"}};
static const char *const closings[] = {" .", " !", " from start to end .",
                                       " for a film like this .", " and that is all ."};

static const char *const words[] = {
    "[PAD]",    "[UNK]",     "[CLS]",  "[SEP]",  "[MASK]", ".",        "!",       ",",
    "a",        "acting",    "all",    "and",    "awful",  "bad",      "boring",  "brilliant",
    "charming", "clever",    "comedy", "dull",   "end",    "ending",   "felt",    "film",
    "for",      "from",      "funny",  "good",   "great",  "honestly", "i",       "is",
    "like",     "me",        "movie",  "moving", "music",  "not",      "plot",    "poor",
    "quite",    "really",    "seems",  "so",     "start",  "story",    "tedious", "terrible",
    "that",     "the",       "think",  "this",   "to",     "very",     "was",     "weak",
    "well",     "wonderful", NULL};

static const char *const labels[] = {"negative", "positive", NULL};

enum { LONGEST = 128, BLOCKS = 2, DRAWS = 4 * BLOCKS };

#define CHOOSE(list, draw) (list)[(draw) % (sizeof(list) / sizeof((list)[0]))]

/* Write a sentence of LONGEST bytes at most; returns its label. */
static int write_sentence(uint64_t seed, int64_t row, char *text)
{
    uint32_t draw[DRAWS];
    for (int k = 0; k < BLOCKS; k++)
        axle_random_block(seed, (uint64_t)row * BLOCKS + (uint64_t)k, draw + 4 * k);
    const char *negation = CHOOSE(negations, draw[3]);
    int praises = draw[5] & 1, negated = *negation != '\0';
    snprintf(text, LONGEST, "%s%s%s%s%s%s%s", CHOOSE(openings, draw[0]), CHOOSE(subjects, draw[1]),
             CHOOSE(verbs, draw[2]), negation, CHOOSE(intensities, draw[4]),
             CHOOSE(adjectives[praises], draw[5] >> 1), CHOOSE(closings, draw[6]));
    return praises ^ negated;
}

const char *const *axle_synthetic_text_words(void)
{
    return words;
}

int axle_synthetic_text_dataset_create(int64_t n, uint64_t seed, const axle_text_options *options,
                                       const axle_text_encoder *encoder, axle_dataset **out)
{
    if (n < 1 || n > INT32_MAX)
        return axle_error_set(AXLE_ERR_INVALID, "texts: %" PRId64 " of them", n);
    char *store = malloc((size_t)n * LONGEST);
    const char **texts = malloc(2 * (size_t)n * sizeof(*texts));
    int code = store && texts ? AXLE_OK : axle_error_set(AXLE_ERR_NOMEM, "texts: out of memory");
    for (int64_t k = 0; k < n && !code; k++) {
        char *text = store + (size_t)k * LONGEST;
        texts[n + k] = labels[write_sentence(seed, k, text)];
        texts[k] = text;
    }
    axle_text_options named = AXLE_TEXT_OPTIONS_INIT;
    if (!code)
        code = options_copy("texts", options, &named, sizeof(named));
    named.kind = AXLE_TEXT_CLASSES;
    if (!named.labels)
        named.labels = labels;
    if (!code)
        code = axle_text_dataset_create(n, texts, NULL, texts + n, &named, encoder, out);
    free(texts);
    free(store);
    return code;
}
