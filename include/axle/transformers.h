/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file transformers.h
 * Pretrained language models, with the files of Hugging Face's transformers (libaxle-models).
 *
 *     axle_model *model;
 *     axle_pretrained_options options = AXLE_PRETRAINED_OPTIONS_INIT;
 *     options.num_labels = 2;
 *     axle_transformer_from_pretrained("distilbert-base-cased", "sequence-classification",
 *                                      &options, &model);
 *     ... train as any model ...
 *     axle_transformer_save_pretrained(model, "out", NULL);
 *
 * A model is named by a folder with config.json and safetensors files; axle_hub_resolve() finds
 * that of a name. Parameters have the names that they have there, so that files go both ways, and
 * so have the checkpoints of an accelerator.
 *
 * Batches have these fields; T is the longest sequence of the batch:
 *
 *     input_ids        (N, T) i64 or i32
 *     attention_mask   (N, T) i64, i32 or bool, optional: 0 where there is nothing but padding
 *     token_type_ids   (N, T) i64 or i32, optional: 0 or 1, of models that tell pairs apart
 *     labels           optional; without it there is no loss
 *
 * and tasks are
 *
 *     task                      logits     labels, and the loss
 *     base                      (N, T, H)  none: what the last layer gives
 *     sequence-classification   (N, L)     problem_type single_label_classification: (N) integers,
 *                                          cross-entropy; multi_label_classification: (N, L),
 *                                          binary cross-entropy; regression: (N) or (N, L), mean
 *                                          squared error. Where config.json names none, one label
 *                                          means regression, integers (N) single and others multi
 *     token-classification      (N, T, L)  (N, T) integers, -100 where nothing is asked
 *     masked-lm                 (N, T, V)  (N, T) integers, -100 where nothing is asked
 *     causal-lm                 (N, T, V)  (N, T) integers, usually input_ids: the logits of each
 *                                          position are compared with the next label
 *
 * Dropout is where the original has it. Padding that covers a whole row gives zeros in attention.
 */
#ifndef AXLE_TRANSFORMERS_H
#define AXLE_TRANSFORMERS_H

#include "axle/model.h"
#include "axle/status.h"

AXLE_BEGIN_DECLS

/* ------------------------------------------------------------------ configurations */

/** What config.json says. Keys that Axle does not know are kept and written back. */
typedef struct axle_transformer_config axle_transformer_config;

/** The values of `model_type` that there are, NULL-terminated: "bert", "distilbert" ... */
AXLE_API const char *const *axle_transformer_model_types(void);
/** Tasks, NULL-terminated. Not every model has each. */
AXLE_API const char *const *axle_transformer_tasks(void);

/** A configuration with the defaults that transformers has for this type. AXLE_ERR_NOT_FOUND. */
AXLE_API int axle_transformer_config_create(const char *model_type, axle_transformer_config **out);
/**
 * @param path  a folder with config.json, or such a file.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND, AXLE_ERR_FORMAT, AXLE_ERR_UNSUPPORTED for a model_type that
 *         there is not.
 */
AXLE_API int axle_transformer_config_read(const char *path, axle_transformer_config **out);
/** Write config.json into a folder that is there. */
AXLE_API int axle_transformer_config_write(const axle_transformer_config *config,
                                           const char *directory);
AXLE_API axle_transformer_config *axle_transformer_config_retain(axle_transformer_config *config);
/** NULL is fine. */
AXLE_API void axle_transformer_config_release(axle_transformer_config *config);
AXLE_API const char *axle_transformer_config_model_type(const axle_transformer_config *config);

/**
 * Keys are those of config.json. Names that BERT has for them do for all models: "hidden_size" is
 * distilbert's "dim". What a value may be is checked when a model is made of it.
 */
AXLE_API int axle_transformer_config_set_int(axle_transformer_config *config, const char *key,
                                             int64_t value);
AXLE_API int axle_transformer_config_set_double(axle_transformer_config *config, const char *key,
                                                double value);
AXLE_API int axle_transformer_config_set_bool(axle_transformer_config *config, const char *key,
                                              int value);
/** @param value  NULL: JSON's null. */
AXLE_API int axle_transformer_config_set_string(axle_transformer_config *config, const char *key,
                                                const char *value);
/** The value, or else the default of the type. AXLE_ERR_NOT_FOUND where there is neither, or it is
 * null; AXLE_ERR_DTYPE where it is no number. */
AXLE_API int axle_transformer_config_get_int(const axle_transformer_config *config, const char *key,
                                             int64_t *out);
AXLE_API int axle_transformer_config_get_double(const axle_transformer_config *config,
                                                const char *key, double *out);
/** Borrowed; NULL, and no error, where there is none. */
AXLE_API const char *axle_transformer_config_get_string(const axle_transformer_config *config,
                                                        const char *key);

/** Number and names of labels. @param names  n of them, copied; NULL: LABEL_0, LABEL_1 ... */
AXLE_API int axle_transformer_config_set_labels(axle_transformer_config *config,
                                                const char *const *names, int64_t n);
/** 2 where the configuration does not tell. */
AXLE_API int64_t axle_transformer_config_label_count(const axle_transformer_config *config);
/** Borrowed; NULL, and no error, where label @p k has no name. */
AXLE_API const char *axle_transformer_config_label(const axle_transformer_config *config,
                                                   int64_t k);
/** Number of the label of that name; -1, and no error, where there is none. */
AXLE_API int64_t axle_transformer_config_label_id(const axle_transformer_config *config,
                                                  const char *name);

/* ------------------------------------------------------------------ models */

/**
 * A model with random parameters, initialised as transformers does it, from the thread's random
 * stream.
 * @param config  copied.
 * @param task    see above. AXLE_ERR_NOT_FOUND for one that the model does not have.
 * @return AXLE_OK; AXLE_ERR_INVALID, AXLE_ERR_DTYPE, AXLE_ERR_FORMAT for values that cannot be;
 *         AXLE_ERR_UNSUPPORTED for what the original can and Axle cannot, as an unknown hidden_act.
 */
AXLE_API int axle_transformer_create(const axle_transformer_config *config, const char *task,
                                     axle_model **out);
/** The model's own configuration; borrowed. NULL, and no error, for models of other kinds. */
AXLE_API const axle_transformer_config *axle_transformer_config_of(const axle_model *model);
/** What the model was made for; NULL as above. */
AXLE_API const char *axle_transformer_task_of(const axle_model *model);
/** Number of labels that the loss of this batch is the mean of, for axle_backward_weighted(): rows
 * of sequences, or else labels that are not -100. */
AXLE_API int axle_transformer_loss_weight(const axle_model *model, axle_batch *batch, double *out);

/* ------------------------------------------------------------------ files */

/** Names of tensors, each list NULL-terminated. */
typedef struct axle_load_report {
    const char *const *missing;    /**< of the model, in no file: they have random values */
    const char *const *unexpected; /**< of the files, nothing of the model's */
    const char *const *mismatched; /**< of other dims in the files: random values, too */
} axle_load_report;
/** NULL is fine. */
AXLE_API void axle_load_report_release(axle_load_report *report);

/** Starts from AXLE_PRETRAINED_OPTIONS_INIT. */
typedef struct axle_pretrained_options {
    size_t struct_size;
    int64_t num_labels;        /**< 0: as config.json says */
    const char *const *labels; /**< num_labels names; NULL: those of config.json, or LABEL_0 ... */
    const char *problem_type;  /**< NULL: as config.json says */
    double dropout;            /**< all probabilities of dropout; negative: as config.json says */
    int ignore_mismatched_sizes; /**< give tensors of other dims random values: no error */
    axle_load_report **report;   /**< set where the model is made, for axle_load_report_release();
                                    NULL: not wanted */
} axle_pretrained_options;
#define AXLE_PRETRAINED_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(axle_pretrained_options), 0, NULL, NULL, -1.0, 0, NULL                              \
    }

/**
 * A model with the parameters of a folder's model.safetensors, or of the files that
 * model.safetensors.index.json names.
 *
 * Names match with and without the prefix of the base model ("bert."), also under names of old
 * files (LayerNorm.gamma and .beta; the new name wins where both are there). Buffers of old files
 * (position_ids) do not count. Of tied tensors either name will do; copies that differ are
 * AXLE_ERR_FORMAT. Parameters are f32, whatever the files hold. What is in no file has random
 * values, and a line of the log tells which.
 *
 * @param task     NULL: that of the first of config.json's `architectures`.
 * @param options  NULL for the defaults.
 * @return AXLE_OK; as axle_transformer_config_read() and axle_transformer_create();
 *         AXLE_ERR_NOT_FOUND where no tensor matches, too; AXLE_ERR_SHAPE for other dims;
 *         AXLE_ERR_UNSUPPORTED where there is only PyTorch's own format, with how to convert it.
 */
AXLE_API int axle_transformer_from_pretrained(const char *directory, const char *task,
                                              const axle_pretrained_options *options,
                                              axle_model **out);

/** Starts from AXLE_SAVE_PRETRAINED_OPTIONS_INIT. */
typedef struct axle_save_pretrained_options {
    size_t struct_size;
    int dtype;           /**< of the tensors in the files; 0: that of the parameters */
    uint64_t shard_size; /**< most bytes of a file; 0: one file */
} axle_save_pretrained_options;
#define AXLE_SAVE_PRETRAINED_OPTIONS_INIT                                                          \
    {                                                                                              \
        sizeof(axle_save_pretrained_options), 0, UINT64_C(5) << 30                                 \
    }
/** Write config.json and model.safetensors (see axle_tensor_file_write()), which transformers
 * loads, too. Of a job's processes one does. @param directory  made if needed. */
AXLE_API int axle_transformer_save_pretrained(const axle_model *model, const char *directory,
                                              const axle_save_pretrained_options *options);

/* ------------------------------------------------------------------ texts */

/** Starts from AXLE_GENERATE_OPTIONS_INIT. */
typedef struct axle_generate_options {
    size_t struct_size;
    int64_t max_new_tokens;
    /** 0: the likeliest token each time, of equal ones the first. 1: draw, from the distribution
     * that temperature, top_k and top_p, in this order, make of the model's. */
    int sample;
    double temperature; /**< logits are divided by it; above 0 */
    int64_t top_k;      /**< only the likeliest so many; 0: all */
    double top_p;       /**< only the likeliest that together reach this probability; 1: all */
    uint64_t seed;      /**< of draws; equal seeds draw equal tokens */
    int64_t end;        /**< token that ends the text; -1: that of config.json; -2: none */
    /** Called with each new token, the ending one included; another result than 0 ends the text.
     * NULL: not wanted. */
    int (*token)(void *user, int64_t id);
    void *user;
} axle_generate_options;
#define AXLE_GENERATE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(axle_generate_options), 20, 0, 1.0, 0, 1.0, 0, -1, NULL, NULL                       \
    }

/**
 * Continue a text with a model of the task causal-lm, which is used without dropout and gradients.
 * Keys and values of what came before are kept, so that each token costs one pass of one token.
 * @param ids  the @p n > 0 tokens that the text begins with.
 * @param out  the new tokens, for axle_free(). Fewer than asked for where the text ended or the
 * model has no more positions. @param count  how many they are.
 * @return AXLE_OK; AXLE_ERR_INVALID for options or another model; AXLE_ERR_SHAPE where the
 * beginning is too long; AXLE_ERR_INDEX for tokens that are none.
 */
AXLE_API int axle_transformer_generate(axle_model *model, const int64_t *ids, int64_t n,
                                       const axle_generate_options *options, int64_t **out,
                                       int64_t *count);

AXLE_END_DECLS

#endif
