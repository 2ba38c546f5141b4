/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the hub share. A request knows everything that was decided at the beginning:
 * options, else variables, else defaults.
 *
 * Trouble is kept in the request, not recorded as the thread's error: the server may be away and
 * the cache serve all the same. axle_hub_resolve() records what is left in the end.
 */
#ifndef AXLE_MODELS_HUB_HUB_H
#define AXLE_MODELS_HUB_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axle/hub.h"

typedef struct axle__hub_request {
    axle_hub_options options;
    const char *model, *revision;
    char *cache;    /* the folder of all models */
    char *folder;   /* CACHE/models--organisation--model */
    char *locks;    /* CACHE/.locks/models--organisation--model */
    char *endpoint; /* without slashes at its end */
    char *token;    /* NULL: none */
    bool offline;
    double timeout;
    axle_hub_progress progress; /* of the file under way */
    int code;                   /* what went wrong first */
    bool unreachable;           /* and whether it is that the server cannot be reached or answer */
    char message[1024];
} axle__hub_request;

/* Decide. AXLE_ERR_INVALID, AXLE_ERR_NOT_FOUND (no home), AXLE_ERR_NOMEM. */
int axle__hub_request_begin(axle__hub_request *request, const char *model,
                            const axle_hub_options *options);
void axle__hub_request_end(axle__hub_request *request);
/* Keep what went wrong, unless something did before. Returns the code that is kept. */
int axle__hub_fail(axle__hub_request *request, int code, const char *format, ...) AXLE_PRINTF(3, 4);
int axle__hub_out_of_memory(axle__hub_request *request);
/* AXLE_ERR_IO with the system's reason. */
int axle__hub_io_error(axle__hub_request *request, const char *path);
/* Forget what went wrong. */
void axle__hub_forgive(axle__hub_request *request);
/* Tell the program; AXLE_ERR_INTERRUPTED where it has enough. */
int axle__hub_tell(axle__hub_request *request);
/* Sleep, telling the program meanwhile. */
int axle__hub_wait(axle__hub_request *request, double seconds);

/* A file of a model. */
typedef struct axle__hub_file {
    char *path;
    int64_t size; /* -1: not known */
} axle__hub_file;
/* The files of a commit. Starts as {0}. */
typedef struct axle__hub_listing {
    char commit[41];
    char *tree; /* as the Python library keeps it, JSON; NULL where sizes are not known */
    axle__hub_file *files;
    size_t count;
} axle__hub_listing;
/* Parse the server's answer about a revision. */
int axle__hub_listing_parse(axle__hub_request *request, const char *text, size_t size,
                            axle__hub_listing *out);
/* Parse what is kept in the cache; false where it does not hold. */
bool axle__hub_listing_parse_tree(const char *text, size_t size, axle__hub_listing *out);
void axle__hub_listing_free(axle__hub_listing *listing);
/* Whether the program wants the file. */
bool axle__hub_wants(const axle__hub_request *request, const char *path);

/* ---- the cache. Paths are to be freed; NULL: out of memory */

char *axle__hub_pointer(const axle__hub_request *request, const char *commit, const char *path);
/* Whether the file is there, all of it. */
bool axle__hub_has(axle__hub_request *request, const char *commit, const char *path);
/* Where the commit stands that a revision was last time; false where there is none. */
bool axle__hub_read_ref(axle__hub_request *request, char commit[41]);
int axle__hub_write_ref(axle__hub_request *request, const char *commit);
bool axle__hub_read_tree(axle__hub_request *request, const char *commit, axle__hub_listing *out);
int axle__hub_write_tree(axle__hub_request *request, const axle__hub_listing *listing);
/* Make the link of a file to its blob. */
int axle__hub_link(axle__hub_request *request, const char *commit, const char *path,
                   const char *etag);
/* The folders above a path. */
int axle__hub_make_parents(axle__hub_request *request, const char *path);
/* Folder of a commit in the cache, all that is wanted in it, to be freed; NULL: it is not. Whether
 * it is all may be unknown; `surely`: that does not do. */
char *axle__hub_find(axle__hub_request *request, const char *commit, bool surely);

/* Other processes that want the same blob wait. *out is for close(). */
int axle__hub_lock(axle__hub_request *request, const char *etag, int *out);

/* The SHA-256 of a file, in hexadecimal digits. */
int axle__hub_sha256(axle__hub_request *request, const char *path, char out[65]);

/* ---- the server */

/* The files of the revision, as the server knows it. */
int axle__hub_list(axle__hub_request *request, axle__hub_listing *out);
/* Bring the wanted files of a commit into the cache. */
int axle__hub_download(axle__hub_request *request, const axle__hub_listing *listing);

/* One process: the folder of the model, and the commit it has ("" for a folder of this machine). */
int axle__hub_resolve_alone(const char *name, const axle_hub_options *options, char commit[41],
                            char **out);
/* What the processes of options->accelerator do together. */
int axle__hub_resolve_together(const char *name, const axle_hub_options *options, char **out);

#endif
