/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What models differ in. A row of the table of architectures (architectures.c) holds all that is
 * particular about a model_type: names and defaults of its configuration's keys, how its network is
 * built and run, its tasks, and names in its files that are no parameters. One file a row.
 *
 * The encoders of BERT's family share their code (encoder.h, heads.h) and differ in tables alone.
 */
#ifndef AXLE_MODELS_TRANSFORMERS_ARCHITECTURE_H
#define AXLE_MODELS_TRANSFORMERS_ARCHITECTURE_H

#include <math.h>
#include <stdbool.h>

#include "axle/model.h"
#include "axle/ops.h"
#include "axle/transformers.h"

typedef struct axle__network axle__network;
typedef struct axle__builder axle__builder;

typedef enum axle__key_kind { AXLE__INTEGER, AXLE__REAL, AXLE__FLAG, AXLE__TEXT } axle__key_kind;

/* A key of config.json. */
typedef struct axle__key {
    const char *name; /* as BERT calls it */
    const char *key;  /* as this model does */
    axle__key_kind kind;
    double number;    /* default; NAN: null */
    const char *text; /* default of a text */
} axle__key;

typedef axle_tensor *(*axle__activation)(axle_tensor *x);

/* What configurations say of sizes and the like; a key that a model does not have is 0. */
typedef struct axle__sizes {
    int64_t vocabulary, positions, types;
    int64_t embedding; /* width of embeddings; hidden unless a key says something else */
    int64_t hidden, inner;
    int64_t layers, heads;
    int64_t padding; /* id of the padding token; -1: none */
    double dropout;  /* of hidden states */
    double embedding_dropout;
    double attention_dropout;
    double classifier_dropout;
    double eps;       /* of layer norms */
    double deviation; /* of initial values */
    axle__activation activation;
    bool tied; /* the vocabulary's projection is the embeddings' weight */
} axle__sizes;

/* What goes into a pass. */
typedef struct axle__inputs {
    axle_tensor *ids;   /* (N, T) */
    axle_tensor *mask;  /* (N, 1, 1, T) bool, true at what is seen; NULL: all is */
    axle_tensor *types; /* (N, T); NULL: all 0 */
    int64_t rows, length;
    struct axle__past *past; /* what generating keeps (past.h); NULL: nothing */
} axle__inputs;

/* What follows the body. Members are NULL for the body alone. */
typedef struct axle__head {
    void (*build)(axle__builder *builder, axle__network *network);
    axle_tensor *(*run)(const axle__network *network, axle_tensor *hidden); /* to logits */
    axle_tensor *(*loss)(const axle__network *network, axle_tensor *logits, axle_tensor *labels);
    /* Number of terms of the loss; NULL: the rows. */
    int (*weigh)(axle_tensor *labels, double *out);
} axle__head;

/* A task that a model has. */
typedef struct axle__task {
    const char *name;
    const char *class_name; /* in config.json's list of architectures */
    const axle__head *head;
    const void *details; /* the head's own */
} axle__task;

typedef struct axle__architecture {
    const char *model_type;
    const char *prefix;         /* child that holds the body where there is a head */
    const axle__key *keys;      /* ends with a NULL name */
    const axle__task *tasks;    /* ends with a NULL name */
    const char *const *ignored; /* shell patterns of names in files that are no parameters */
    void (*build)(axle__builder *builder, axle__network *network);             /* the body */
    axle_tensor *(*run)(const axle__network *network, const axle__inputs *in); /* (N, T, H) */
    /* Change initial values of a parameter that are no usual ones; NULL: there are none. */
    int (*adjust)(const axle__network *network, const char *path, axle_tensor *tensor);
    /* Refuse what the original can and this cannot; NULL: nothing more. */
    int (*check)(const axle_transformer_config *config);
    const void *details; /* the body's own */
} axle__architecture;

/* All of them: X(model_type), each a row axle__MODEL_TYPE. */
#define AXLE__ARCHITECTURE_LIST(X)                                                                 \
    X(bert)                                                                                        \
    X(distilbert)                                                                                  \
    X(electra)                                                                                     \
    X(gpt2)                                                                                        \
    X(roberta)
#define AXLE__DECLARE_ROW(name) extern const axle__architecture axle__##name;
AXLE__ARCHITECTURE_LIST(AXLE__DECLARE_ROW)
#undef AXLE__DECLARE_ROW

/* NULL, and no error, where there is none. */
const axle__architecture *axle__architecture_find(const char *model_type);

#endif
