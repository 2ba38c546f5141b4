/* SPDX-License-Identifier: Apache-2.0 */
/* What a tokenizer is made of. */
#ifndef AXLE_TOKENIZERS_TOKENIZER_H
#define AXLE_TOKENIZERS_TOKENIZER_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "added.h"
#include "axle/tokenizer.h"
#include "model.h"
#include "normalizer.h"
#include "splitter.h"
#include "template.h"

typedef enum axle__decoder {
    AXLE__DECODE_WORDS, /* joined with spaces */
    AXLE__DECODE_WORDPIECE,
    AXLE__DECODE_BYTE_LEVEL
} axle__decoder;

typedef struct axle__workspace axle__workspace;

struct axle_tokenizer {
    atomic_int references;
    axle__normalizer normalizer;
    axle__split_fn *split;
    bool prefix_space; /* each part of a text begins with one */
    axle__model model;
    axle__vocabulary extra; /* added tokens that are not in the model's, by id */
    axle__added added;
    axle__layout layout;
    axle__decoder decoder;
    char *decoder_prefix;
    bool decoder_cleans;
    int32_t roles[AXLE_TOKEN_ROLES];
    int64_t max_length; /* 0: not known */
    bool pads_left, truncates_left;
    /* The files as they were, for saving: tokenizer.json without vocabulary and merges, and
     * tokenizer_config.json. */
    json_t *description, *config;
    pthread_mutex_t lock; /* of what follows */
    axle__workspace *idle;
};

/* Its id, added tokens included; -1: there is none. */
int32_t axle__token_id(const axle_tokenizer *tokenizer, const char *text);
/* Text of an id; NULL: none has it. */
const char *axle__token_text(const axle_tokenizer *tokenizer, int64_t id);

/* Make a tokenizer of a tokenizer.json and a tokenizer_config.json (an object), both of which are
 * taken, even on failure. `name` is what messages call the former. */
int axle__tokenizer_build(json_t *description, json_t *config, const char *name,
                          axle_tokenizer **out);

#endif
