/* SPDX-License-Identifier: Apache-2.0 */
/* Heads: what makes a body's hidden states into a task's logits and loss. */
#ifndef AXLE_MODELS_TRANSFORMERS_HEADS_H
#define AXLE_MODELS_TRANSFORMERS_HEADS_H

#include "network.h"

/* Details of axle__sequence_head: (dropout,) product, activation, dropout and a second product, of
 * the first token. */
typedef struct axle__sequence_details {
    const char *dense, *out;
    axle__activation activation;
    bool drops_first;
} axle__sequence_details;

/* Details of axle__token_head: dropout and a product. */
typedef struct axle__token_details {
    bool as_hidden; /* with the dropout of hidden states */
} axle__token_details;

/* Details of axle__masked_head: product, activation, norm, and the projection to the vocabulary. */
typedef struct axle__masked_details {
    const char *dense, *norm, *decoder;
    const char *bias; /* path of the module whose bias is the decoder's, too; NULL: its own alone */
    axle__activation activation; /* NULL: that of the layers */
} axle__masked_details;

/* Details of axle__causal_head: the projection to the vocabulary. */
typedef struct axle__causal_details {
    const char *decoder;
} axle__causal_details;

extern const axle__head axle__sequence_head, axle__token_head, axle__masked_head, axle__causal_head;

/* The tasks of an encoder whose classes in Python begin with `name`; details are a file's sequence,
 * token and masked. */
#define AXLE__ENCODER_TASKS(name)                                                                  \
    {"base", name "Model", NULL, NULL},                                                            \
        {"sequence-classification", name "ForSequenceClassification", &axle__sequence_head,        \
         &sequence},                                                                               \
        {"token-classification", name "ForTokenClassification", &axle__token_head, &token},        \
        {"masked-lm", name "ForMaskedLM", &axle__masked_head, &masked},                            \
    {                                                                                              \
        NULL, NULL, NULL, NULL                                                                     \
    }

/* The projection to the vocabulary, whose weight is the embeddings' where the model ties them. */
axle_module *axle__decoder_build(axle__builder *b, axle__network *network, const char *path,
                                 const char *bias, int64_t width);

/* Losses as transformers has them; the mean. */
axle_tensor *axle__sequence_loss(const axle__network *network, axle_tensor *logits,
                                 axle_tensor *labels);
axle_tensor *axle__token_loss(const axle__network *network, axle_tensor *logits,
                              axle_tensor *labels);
/* Number of labels that count. */
int axle__token_weight(axle_tensor *labels, double *out);
/* Each token's logits are for the next one: the first label counts for nothing. */
axle_tensor *axle__causal_loss(const axle__network *network, axle_tensor *logits,
                               axle_tensor *labels);
int axle__causal_weight(axle_tensor *labels, double *out);

#endif
