/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tokenizer.h
 * Texts to the token ids of pretrained language models, with the files of Hugging Face's
 * transformers (libaxle-models).
 *
 *     axle_tokenizer *tokenizer;
 *     axle_encoding *encoding;
 *     axle_encode_options options = AXLE_ENCODE_OPTIONS_INIT;
 *     options.max_length = 128;
 *     options.truncation = AXLE_TRUNCATE_LONGEST_FIRST;
 *     axle_tokenizer_open("distilbert-base-cased", &tokenizer);
 *     axle_tokenizer_encode(tokenizer, "Hello!", -1, NULL, 0, &options, &encoding);
 *     ... encoding->ids ...
 *     axle_encoding_release(encoding);
 *     axle_tokenizer_release(tokenizer);
 *
 * There are WordPiece, as of BERT, DistilBERT and ELECTRA, and byte-level BPE, as of GPT-2 and
 * RoBERTa. Ids, offsets and masks are those of the library `tokenizers`, which "Fast" tokenizers of
 * transformers stand on. What a tokenizer.json asks for and Axle does not have is an error that
 * names it.
 *
 * Texts are UTF-8 of up to 2 GiB. What is not well-formed counts as U+FFFD, one for each maximal
 * part of a character, as Python's errors="replace" has it.
 *
 * Unicode: letters, numbers and cases are those of the utf8proc that Axle was built with; code
 * points that it does not know yet are neither. Punctuation, marks and format characters of BERT
 * are those that `tokenizers` knows, which is an older Unicode. Unassigned code points are kept
 * and are parts of words; those for private use are removed by BERT.
 *
 * A tokenizer does not change: any thread may use it, also several at once. Where Axle was built
 * without utf8proc, opening and creating one is AXLE_ERR_UNSUPPORTED.
 */
#ifndef AXLE_TOKENIZER_H
#define AXLE_TOKENIZER_H

#include "axle/status.h"

AXLE_BEGIN_DECLS

typedef struct axle_tokenizer axle_tokenizer;

/* ------------------------------------------------------------------ making and keeping them */

/**
 * Read a tokenizer from a folder; axle_hub_resolve() finds that of a name.
 *
 * It holds tokenizer.json; or else vocab.txt, or vocab.json and merges.txt, and any of
 * tokenizer_config.json, special_tokens_map.json, added_tokens.json. Lines of vocab.txt end with LF
 * or CRLF, the number of a line is the id, and of equal lines the last one counts. Where
 * tokenizer_config.json says do_lower_case, strip_accents or tokenize_chinese_chars, that counts,
 * whatever tokenizer.json says.
 *
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND where there are no such files; AXLE_ERR_FORMAT for malformed
 *         ones, for a special token that the vocabulary lacks, and for more tokens than the
 *         vocab_size of a config.json beside them; AXLE_ERR_UNSUPPORTED, AXLE_ERR_IO,
 *         AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tokenizer_open(const char *directory, axle_tokenizer **out);

/** Starts from AXLE_WORDPIECE_OPTIONS_INIT. Special tokens are NULL where there is none. */
typedef struct axle_wordpiece_options {
    size_t struct_size;
    int lower_case;
    int strip_accents;      /**< 1, 0, or -1: as lower_case */
    int chinese_characters; /**< each is a word */
    const char *unknown;    /**< what words become that the vocabulary does not make up; needed */
    const char *cls, *sep;  /**< placed around texts; both or none */
    const char *pad, *mask;
    int64_t max_length; /**< that the model takes; 0: any */
} axle_wordpiece_options;
#define AXLE_WORDPIECE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(axle_wordpiece_options), 1, -1, 1, "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", 0  \
    }
/**
 * A WordPiece tokenizer of @p n tokens, whose ids are their positions; "##" begins those that
 * continue a word. Of equal ones the last counts.
 * @param options  NULL for the defaults. Special tokens must be among the words.
 */
AXLE_API int axle_tokenizer_create_wordpiece(const char *const *words, int64_t n,
                                             const axle_wordpiece_options *options,
                                             axle_tokenizer **out);
/**
 * Write tokenizer.json, tokenizer_config.json, special_tokens_map.json and vocab.txt, or vocab.json
 * and merges.txt, so that AutoTokenizer of transformers reads them. Keys of the configuration that
 * Axle does not know are written as they were read.
 * @param directory  is there already.
 */
AXLE_API int axle_tokenizer_save(const axle_tokenizer *tokenizer, const char *directory);
AXLE_API axle_tokenizer *axle_tokenizer_retain(axle_tokenizer *tokenizer);
/** NULL is fine. */
AXLE_API void axle_tokenizer_release(axle_tokenizer *tokenizer);

/* ------------------------------------------------------------------ the vocabulary */

/** Number of ids, added tokens included: one more than the largest. */
AXLE_API int64_t axle_tokenizer_vocab_size(const axle_tokenizer *tokenizer);
/** Id of a token as the vocabulary writes it ("##ing", or of byte-level BPE as "\u0120the"); -1,
 * and no error, if there is none. */
AXLE_API int64_t axle_tokenizer_token_id(const axle_tokenizer *tokenizer, const char *token);
/** The reverse; borrowed; NULL, and no error, if no token has that id. */
AXLE_API const char *axle_tokenizer_token(const axle_tokenizer *tokenizer, int64_t id);

/** What special tokens are for: X(NAME, key of tokenizer_config.json). */
#define AXLE_TOKEN_ROLE_LIST(X)                                                                    \
    X(UNKNOWN, "unk_token")                                                                        \
    X(BEGIN, "bos_token")                                                                          \
    X(END, "eos_token")                                                                            \
    X(SEPARATOR, "sep_token")                                                                      \
    X(PADDING, "pad_token")                                                                        \
    X(CLASS, "cls_token")                                                                          \
    X(MASK, "mask_token")

enum {
#define AXLE_TOKEN_ROLE_ENUM(name, key) AXLE_TOKEN_##name,
    AXLE_TOKEN_ROLE_LIST(AXLE_TOKEN_ROLE_ENUM)
#undef AXLE_TOKEN_ROLE_ENUM
        AXLE_TOKEN_ROLES
};

/** Id of the token with that role, AXLE_TOKEN_...; -1, and no error, if there is none. */
AXLE_API int64_t axle_tokenizer_special_id(const axle_tokenizer *tokenizer, int role);
/** The same for AXLE_TOKEN_PADDING. */
AXLE_API int64_t axle_tokenizer_pad_id(const axle_tokenizer *tokenizer);
/** Most tokens that the model takes, model_max_length; 0 where that is not known. */
AXLE_API int64_t axle_tokenizer_max_length(const axle_tokenizer *tokenizer);

/* ------------------------------------------------------------------ texts to ids */

enum {
    AXLE_TRUNCATE_NONE = 0,
    /** The longer text first, until both are as long; an odd token is the longer one's. */
    AXLE_TRUNCATE_LONGEST_FIRST = 1,
    AXLE_TRUNCATE_ONLY_FIRST = 2,
    AXLE_TRUNCATE_ONLY_SECOND = 3
};

enum {
    AXLE_PAD_NONE = 0,
    AXLE_PAD_LONGEST = 1,   /**< of the batch */
    AXLE_PAD_MAX_LENGTH = 2 /**< to max_length */
};

/** Starts from AXLE_ENCODE_OPTIONS_INIT. */
typedef struct axle_encode_options {
    size_t struct_size;
    int add_special_tokens; /**< those that the model expects around texts */
    int64_t max_length;     /**< special tokens included; 0: that of the model, where it is known */
    int truncation;         /**< AXLE_TRUNCATE_... */
    int padding;            /**< AXLE_PAD_... */
    int64_t pad_to_multiple_of; /**< with padding: lengths are multiples of it; 0: any */
    /** Take special tokens that stand in the text for plain text, as is wise for texts of
     * strangers. Added tokens that are not special stay tokens. */
    int specials_as_text;
} axle_encode_options;
#define AXLE_ENCODE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(axle_encode_options), 1, 0, AXLE_TRUNCATE_NONE, AXLE_PAD_NONE, 0, 0                 \
    }

/** One text, or pair of texts; each array has `length` items. */
typedef struct axle_encoding {
    int64_t length;
    int64_t *ids;
    int64_t *type_ids;       /**< 0, or 1 for the second text where the model tells them apart */
    int64_t *attention_mask; /**< 0 for padding, else 1 */
    /** 1 for padding and special tokens that were placed around texts; 0 for those that stood in
     * a text. */
    int64_t *special_mask;
    int64_t *words; /**< which word of its text the token is part of, from 0; -1: of none */
    /** First byte and end of what the token stands for in its text, always between characters;
     * of special tokens and padding 0, 0. */
    int64_t (*offsets)[2];
} axle_encoding;

/**
 * @param text         @p length bytes, or up to its NUL where length is -1.
 * @param pair         second text of a pair, or NULL.
 * @param options      NULL for the defaults. Texts are truncated and padded on the side that
 *                     truncation_side and padding_side of tokenizer_config.json say.
 * @return AXLE_OK; AXLE_ERR_INVALID where max_length leaves no room for special tokens, or
 *         truncating one text alone would not do; AXLE_ERR_STATE for padding where there is no
 *         padding token; AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tokenizer_encode(const axle_tokenizer *tokenizer, const char *text,
                                   int64_t length, const char *pair, int64_t pair_length,
                                   const axle_encode_options *options, axle_encoding **out);
/** NULL is fine. */
AXLE_API void axle_encoding_release(axle_encoding *encoding);
/**
 * The same for @p n texts, each up to its NUL.
 * @param pairs    n second texts, any of which may be NULL; or NULL.
 * @param threads  that share the work; 0: as many as there are cores for this process.
 * @param out      n encodings, for axle_encodings_release().
 */
AXLE_API int axle_tokenizer_encode_batch(const axle_tokenizer *tokenizer, const char *const *texts,
                                         const char *const *pairs, int64_t n,
                                         const axle_encode_options *options, int threads,
                                         axle_encoding ***out);
/** NULL is fine. */
AXLE_API void axle_encodings_release(axle_encoding **encodings, int64_t n);

/**
 * The text of ids, as the tokenizer's decoder puts it together. Bytes that are no UTF-8 become
 * U+FFFD.
 * @param skip_special  leave special tokens out.
 * @param out           for axle_free().
 * @return AXLE_OK; AXLE_ERR_INDEX for an id that no token has; AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tokenizer_decode(const axle_tokenizer *tokenizer, const int64_t *ids, int64_t n,
                                   int skip_special, char **out);

AXLE_END_DECLS

#endif
