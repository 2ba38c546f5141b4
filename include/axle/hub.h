/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hub.h
 * Folders of pretrained models by name (libaxle-models).
 *
 *     char *folder;
 *     if (axle_hub_resolve("distilbert-base-cased", NULL, &folder))
 *         fprintf(stderr, "%s\n", axle_error_message());
 *     ...
 *     axle_free(folder);
 *
 * A name is first a folder of this machine; else that of a model in the cache that Hugging Face's
 * Python library keeps, too; else the model is downloaded into that cache, where the library finds
 * it. These variables mean what they mean there; an empty one counts as none:
 *
 *   HF_HUB_CACHE     the cache; default $HF_HOME/hub
 *   HF_HOME          default $XDG_CACHE_HOME/huggingface or ~/.cache/huggingface
 *   HF_ENDPOINT      the server; default https://huggingface.co
 *   HF_TOKEN         who asks; else the first line of HF_TOKEN_PATH, by default $HF_HOME/token, but
 *                    for HF_HUB_DISABLE_IMPLICIT_TOKEN=1. It is sent to the server alone, and not
 *                    to where that redirects to
 *   HF_HUB_OFFLINE   1: never ask the server. TRANSFORMERS_OFFLINE likewise
 *   HF_HUB_DOWNLOAD_TIMEOUT  seconds of silence until a connection is given up; default 10
 */
#ifndef AXLE_HUB_H
#define AXLE_HUB_H

#include "axle/accelerator.h"
#include "axle/status.h"

AXLE_BEGIN_DECLS

/** How far the download of a file is. Borrowed. */
typedef struct axle_hub_progress {
    size_t struct_size;
    const char *model, *file; /**< as the server calls them */
    int index, count;         /**< of the file, from 0, among those to be downloaded */
    int64_t done, total;      /**< bytes; done begins beyond 0 where a download is resumed */
} axle_hub_progress;

/** Called several times a second while there is something to wait for.
 *  @return 0 to go on; else the call ends with AXLE_ERR_INTERRUPTED, and what came stays for the
 *  next one to resume. */
typedef int (*axle_hub_progress_fn)(const axle_hub_progress *progress, void *user);

/** Starts from AXLE_HUB_OPTIONS_INIT. NULL: as the variables above say. */
typedef struct axle_hub_options {
    size_t struct_size;
    const char *revision; /**< branch, tag or commit; NULL: main */
    const char *token;    /**< "": none, whatever the variables say */
    const char *cache;    /**< folder of the cache */
    const char *endpoint; /**< http:// or https:// */
    int offline;          /**< never ask the server */
    /** Shell patterns of the files wanted, NULL-terminated; '*' matches no slash. NULL:
     * config.json, files of tokenizers, *.safetensors and their index. */
    const char *const *files;
    axle_hub_progress_fn progress;
    void *user;
    int retries;       /**< attempts in a row that bring nothing before a download fails */
    double retry_wait; /**< seconds before the first of them; doubled each time, up to 8 s */
    double timeout;    /**< seconds of silence; 0: as the variable says */
    /** Of a job of several processes: all call, the first of each host downloads, and all get the
     * same commit, or an error. NULL: this process is alone, or others may come, too, and wait. */
    axle_accelerator *accelerator;
} axle_hub_options;
#define AXLE_HUB_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(axle_hub_options), NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 5, 1.0, 0.0, NULL   \
    }

/**
 * The folder that holds a model's files.
 *
 * What is in the cache is complete: files appear in it when their length, and for large ones their
 * SHA-256, is the one that the server announced. Of processes that want the same file, one
 * downloads it while the others wait. If the server cannot be reached, a model that is in the cache
 * is used, with a warning in the log.
 *
 * @param name     a folder, "organisation/model" or "model".
 * @param options  NULL for the defaults.
 * @param out      path, for axle_free(); files in it may be symbolic links.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND for a folder, model, revision or file that is not there, and
 *         offline for what is not in the cache; AXLE_ERR_STATE where the server wants another token
 *         or a licence accepted; AXLE_ERR_BUSY where it wants fewer requests; AXLE_ERR_TIMEOUT;
 *         AXLE_ERR_FORMAT for content that is not what was announced; AXLE_ERR_INVALID for names
 *         that cannot be; AXLE_ERR_UNSUPPORTED where this build cannot download; AXLE_ERR_IO,
 *         AXLE_ERR_INTERRUPTED, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_hub_resolve(const char *name, const axle_hub_options *options, char **out);

AXLE_END_DECLS

#endif
