/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lora.h
 * Low-rank adapters of linear layers (LoRA; Hu et al., 2021, arXiv:2106.09685).
 *
 *     axle_lora_options options = AXLE_LORA_OPTIONS_INIT;
 *     options.targets = "query,value";
 *     axle_lora_apply(net, &options);          then make the optimizer, prepare and train
 *     axle_lora_save(net, "adapter");
 *     axle_lora_merge(net);                    the weights hold what was learned
 *
 * An adapted layer computes x W^T + bias + alpha / rank * dropout(x) A^T B^T. A (rank, in) and
 * B (out, rank) are parameters of new children, `lora_A.weight` and `lora_B.weight`; B starts at
 * zero, so that nothing changes at first. All other parameters are frozen: thaw what else is to
 * learn, as a new head, with axle_module_freeze(). Weights are (out, in), as everywhere in Axle.
 *
 * Names, initial values and files are those of PEFT's lora.Linear and save_pretrained(), with
 * bias "none" and without its variants (https://huggingface.co/docs/peft, "PEFT checkpoint
 * format").
 */
#ifndef AXLE_LORA_H
#define AXLE_LORA_H

#include "axle/nn.h"

AXLE_BEGIN_DECLS

/** Starts from AXLE_LORA_OPTIONS_INIT. */
typedef struct axle_lora_options {
    size_t struct_size;
    int64_t rank;
    double alpha;
    double dropout; /**< of the adapter's input, in training */
    /** Which layers: patterns as of a shell, separated by commas. One matches a layer's path or its
     * end after a dot: "query" matches "encoder.layer.0.attention.self.query". */
    const char *targets;
    int64_t seed; /**< of A's initial values; -1: the thread's random stream */
} axle_lora_options;
#define AXLE_LORA_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_lora_options), 8, 8.0, 0.0, "*", -1                                            \
    }

/**
 * Adapt linear layers in place, before optimizers are made and axle_prepare(). A is uniform in
 * +-1/sqrt(in), which is He's initialisation with a = sqrt(5).
 * @param options  NULL for the defaults: all linear layers, rank 8.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND where a pattern matches no linear layer; AXLE_ERR_STATE where
 *         the module has adapters already. Nothing changes on failure.
 */
AXLE_API int axle_lora_apply(axle_module *module, const axle_lora_options *options);
/** Number of adapted layers. */
AXLE_API int axle_lora_count(axle_module *module);

/** Write the folder's adapter_model.safetensors and adapter_config.json; it is made if needed.
 * AXLE_ERR_STATE where there are no adapters. */
AXLE_API int axle_lora_save(axle_module *module, const char *folder);
/**
 * Read such a folder. A module without adapters gets those of the file, with everything else
 * frozen; one that has adapters must have the same.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND for a missing file or layer; AXLE_ERR_FORMAT,
 *         AXLE_ERR_SHAPE, AXLE_ERR_UNSUPPORTED (variants of LoRA). Nothing changes on failure.
 */
AXLE_API int axle_lora_load(axle_module *module, const char *folder);

/** Add alpha / rank * B A to the weights; forward then costs what it did without adapters. Merging
 * again changes nothing. AXLE_ERR_STATE where a weight is tied to another parameter. */
AXLE_API int axle_lora_merge(axle_module *module);
/** Bring the weights back as they were, bit by bit: they were kept. */
AXLE_API int axle_lora_unmerge(axle_module *module);
/** Take the adapters away. Merged weights stay merged; frozen parameters stay frozen. */
AXLE_API int axle_lora_remove(axle_module *module);

AXLE_END_DECLS

#endif
