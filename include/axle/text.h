/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file text.h
 * Data sets of labelled texts for transformers (libaxle-models).
 *
 *     axle_dataset *set;
 *     axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
 *     axle_text_encoder encoder = axle_text_encoder_of(tokenizer);
 *     options.max_length = 128;
 *     axle_text_dataset_open("reviews.tsv", &options, &encoder, &set);
 *     axle_loader_create(set, &loader_options, &loader);
 *
 * Batches of such a set hold "input_ids" (N, T) i64, "attention_mask" (N, T) i64, "token_type_ids"
 * (N, T) i64 where there are pairs whose texts the encoder tells apart, and "labels" where there
 * are any. T is the length of the batch's longest row; shorter ones are padded at their end with
 * the encoder's padding token, mask 0 and type 0.
 */
#ifndef AXLE_TEXT_H
#define AXLE_TEXT_H

#include "axle/data.h"
#include "axle/records.h"
#include "axle/tokenizer.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ texts to tokens */

/** What makes token ids of texts. Starts from AXLE_TEXT_ENCODER_INIT. */
typedef struct axle_text_encoder {
    size_t struct_size;
    /**
     * Encode a text, or a pair of texts, special tokens included. Any thread may call it.
     * @param pair        second text; NULL: there is one.
     * @param max_length  most tokens that the result may have; 0: any number.
     * @param room        how many ids and types there is room for.
     * @param types       0, or 1 for tokens of the second text.
     * @return how many tokens there are, of which @p room at most were written: it is called again
     *         where that was too little; or an AXLE_ERR_....
     */
    int64_t (*encode)(void *user, const char *text, const char *pair, int64_t max_length,
                      int64_t room, int64_t *ids, int64_t *types);
    void *user;
    int64_t pad_id; /**< id of the token that rows are padded with */
} axle_text_encoder;
#define AXLE_TEXT_ENCODER_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_text_encoder), NULL, NULL, 0                                                   \
    }

/** A tokenizer as an encoder, with its special tokens; of pairs the longer text is cut first. The
 * tokenizer must live as long as the encoder is used. */
AXLE_API axle_text_encoder axle_text_encoder_of(axle_tokenizer *tokenizer);

/* ------------------------------------------------------------------ sets */

/** What labels are. */
enum {
    AXLE_TEXT_CLASSES = 0, /**< one class a row: "labels" (N) i64 */
    /** Any number of labels a row: "labels" (N, L) f32 of 0 and 1. A field is a JSON array or a
     * list with separators; an empty one has no label. */
    AXLE_TEXT_LABEL_SETS = 1,
    AXLE_TEXT_NUMBERS = 2 /**< regression: "labels" (N) f32 */
};

/** Starts from AXLE_TEXT_OPTIONS_INIT. */
typedef struct axle_text_options {
    size_t struct_size;
    /** Columns, by name or by number from 0. NULL: "text", "sentence" or "sentence1", else the
     * first. */
    const char *text;
    const char *text_pair; /**< NULL: "text_pair" or "sentence2" where there is one; "": none */
    /** NULL: "label" or "labels" where there is one; of a file without a header the last column,
     * where there are several; "": none. */
    const char *label;
    int kind; /**< AXLE_TEXT_... */
    /** Names of the labels, in the order of their numbers, NULL-terminated; copied. A field may
     * also be a number of them. NULL: those that are there, whole numbers by value, else names by
     * bytes. */
    const char *const *labels;
    char label_separator;                /**< in fields of AXLE_TEXT_LABEL_SETS */
    const axle_records_options *records; /**< how the file is read; NULL for the defaults */
    int64_t max_length;         /**< most tokens of a row, special ones included; 0: any number */
    int64_t pad_to_multiple_of; /**< T is a multiple of this; 0: as long as the longest */
    int threads;                /**< that encode; 0: as many as there are cores for this process */
} axle_text_options;
#define AXLE_TEXT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_text_options), NULL, NULL, NULL, AXLE_TEXT_CLASSES, NULL, '|', NULL, 512, 0, 0 \
    }

/**
 * Labelled texts of a file, as axle/records.h reads it. All rows are encoded at once; the set needs
 * the encoder no more.
 * @param options  NULL for the defaults.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND for a file or a column that there is not; AXLE_ERR_FORMAT,
 *         with file and line, for texts that are missing and labels that are none; the encoder's
 *         errors; AXLE_ERR_IO, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_text_dataset_open(const char *path, const axle_text_options *options,
                                    const axle_text_encoder *encoder, axle_dataset **out);
/**
 * The same for @p n texts of the caller's, which are copied. Columns and records of the options do
 * not count.
 * @param pairs   n texts, or NULL.
 * @param labels  n fields as a file would hold them, or NULL.
 */
AXLE_API int axle_text_dataset_create(int64_t n, const char *const *texts, const char *const *pairs,
                                      const char *const *labels, const axle_text_options *options,
                                      const axle_text_encoder *encoder, axle_dataset **out);

/* What a set of this header holds; others are AXLE_ERR_INVALID. */

/** How many labels there are; 1 for numbers; 0 without labels. */
AXLE_API int64_t axle_text_label_count(const axle_dataset *set);
/** Their names, NULL-terminated; borrowed. NULL, and no error, without labels and for numbers. */
AXLE_API const char *const *axle_text_label_names(const axle_dataset *set);
/** Text of a row; borrowed. AXLE_ERR_INDEX. @param pair  its second text, or NULL where there is
 * none; may be NULL. */
AXLE_API const char *axle_text_of(const axle_dataset *set, int64_t row, const char **pair);
/** Number of tokens of each row, special ones included. @param out  as many as the set has rows. */
AXLE_API int axle_text_lengths(const axle_dataset *set, int64_t *out);

/**
 * Pad rows, from now on, to the longest of the batch that they are in, also where fewer of it are
 * fetched at once: processes that share a batch then draw the dropout that one process would. For
 * samplers of batches, which have just made them; not while rows are fetched.
 * @param order, ends, count  as an axle_batches_fn gives them. Rows in no batch are as before.
 */
AXLE_API int axle_text_pad_batches(axle_dataset *set, const int64_t *order, const int64_t *ends,
                                   int64_t count);

/* ------------------------------------------------------------------ texts that are made up */

/**
 * A small, learnable set for demos: sentences about films, some of which say the opposite of their
 * adjective, each "positive" or "negative". A function of @p n, @p seed and nothing else.
 */
AXLE_API int axle_synthetic_text_dataset_create(int64_t n, uint64_t seed,
                                                const axle_text_options *options,
                                                const axle_text_encoder *encoder,
                                                axle_dataset **out);
/** The vocabulary of that set, NULL-terminated: [PAD], [UNK], [CLS], [SEP], [MASK], and all words
 * and marks, in lower case and separated by spaces in its texts. */
AXLE_API const char *const *axle_synthetic_text_words(void);
/** A WordPiece tokenizer of that vocabulary. AXLE_ERR_UNSUPPORTED where there are no tokenizers. */
AXLE_API int axle_synthetic_tokenizer_create(axle_tokenizer **out);

/* ------------------------------------------------------------------ batches of like lengths */

typedef struct axle_length_groups axle_length_groups;

/** Starts from AXLE_LENGTH_GROUPS_OPTIONS_INIT. */
typedef struct axle_length_groups_options {
    size_t struct_size;
    int64_t batch_size; /**< of all processes together */
    uint64_t seed;
    int64_t span; /**< batches whose samples are drawn together and then sorted by length */
} axle_length_groups_options;
#define AXLE_LENGTH_GROUPS_OPTIONS_INIT                                                            \
    {                                                                                              \
        sizeof(axle_length_groups_options), 1, 0, 50                                               \
    }

/**
 * Batches of samples of like lengths, so that little is padded. The samples are shuffled, cut into
 * spans, sorted within each and cut into batches, which are shuffled again; the one with the
 * longest sample comes first, so that memory runs out at once or never. A function of seed and
 * epoch alone.
 *
 *     axle_length_groups_create(lengths, n, &options, &groups);
 *     loader_options.batches = axle_length_groups_batches;
 *     loader_options.batches_user = groups;      which must live as long as the loader
 */
AXLE_API int axle_length_groups_create(const int64_t *lengths, int64_t n,
                                       const axle_length_groups_options *options,
                                       axle_length_groups **out);
/** NULL is fine. */
AXLE_API void axle_length_groups_release(axle_length_groups *groups);
/** An axle_batches_fn. @param groups  an axle_length_groups for as many samples. */
AXLE_API int64_t axle_length_groups_batches(int64_t epoch, int64_t n, int64_t *order, int64_t *ends,
                                            void *groups);

AXLE_END_DECLS

#endif
