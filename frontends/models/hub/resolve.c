/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../common/options_copy.h"
#include "hub.h"
#include "names.h"

static bool is_folder(const char *name)
{
    struct stat about;
    return stat(name, &about) == 0 && S_ISDIR(about.st_mode);
}

/* ---- from the cache */

static bool known_commit(axle__hub_request *request, char commit[41])
{
    if (!axle__hub_is_commit(request->revision))
        return axle__hub_read_ref(request, commit);
    memcpy(commit, request->revision, 41);
    return true;
}

/* NULL where it is not there. `surely`: all of it. */
static char *from_cache(axle__hub_request *request, bool surely, char commit[41])
{
    return known_commit(request, commit) ? axle__hub_find(request, commit, surely) : NULL;
}

static int offline(axle__hub_request *request, char commit[41], char **out)
{
    *out = from_cache(request, false, commit);
    if (*out)
        return AXLE_OK;
    return axle__hub_fail(
        request, AXLE_ERR_NOT_FOUND,
        "%s, revision %s: not all of it is in the cache %s, and the server is not "
        "to be asked (HF_HUB_OFFLINE)",
        request->model, request->revision, request->cache);
}

/* ---- from the server */

/* A model that only PyTorch's own format has deserves a word here: what follows misses a file. */
static void warn_of_pickles(axle__hub_request *request, const axle__hub_listing *listing)
{
    bool pickled = false;
    for (size_t k = 0; k < listing->count; k++) {
        const char *path = listing->files[k].path, *end = strrchr(path, '.');
        if (end && strcmp(end, ".safetensors") == 0)
            return;
        pickled = pickled || strcmp(path, "pytorch_model.bin") == 0;
    }
    if (pickled)
        axle_log_write(2, "hub",
                       "%s has its weights as pytorch_model.bin only, which is not downloaded: "
                       "convert it to safetensors",
                       request->model);
}

static int take_listing(axle__hub_request *request, const axle__hub_listing *listing,
                        char commit[41], char **out)
{
    size_t wanted = 0;
    for (size_t k = 0; k < listing->count; k++)
        wanted += axle__hub_wants(request, listing->files[k].path);
    if (wanted == 0)
        return axle__hub_fail(request, AXLE_ERR_NOT_FOUND,
                              "%s, revision %s: it has none of the files that are wanted",
                              request->model, request->revision);
    if (!request->options.files)
        warn_of_pickles(request, listing);
    int code = axle__hub_download(request, listing);
    if (code)
        return code;
    memcpy(commit, listing->commit, 41);
    *out = axle__hub_pointer(request, commit, "");
    if (!*out)
        return axle__hub_out_of_memory(request);
    (*out)[strlen(*out) - 1] = '\0';
    return AXLE_OK;
}

static int from_server(axle__hub_request *request, char commit[41], char **out)
{
    axle__hub_listing listing = {.commit = ""};
    int code = axle__hub_list(request, &listing);
    if (!code)
        code = take_listing(request, &listing, commit, out);
    axle__hub_listing_free(&listing);
    return code;
}

/* A server that is away is no reason to stop where the cache has it all. */
static int online(axle__hub_request *request, char commit[41], char **out)
{
    bool fixed = axle__hub_is_commit(request->revision);
    *out = fixed ? from_cache(request, true, commit) : NULL;
    if (*out)
        return AXLE_OK;
    int code = from_server(request, commit, out);
    bool away = code == AXLE_ERR_UNSUPPORTED || request->unreachable;
    if (!code || !away || !(*out = from_cache(request, false, commit)))
        return code;
    axle_log_write(2, "hub", "%s; what is in the cache is used", request->message);
    axle__hub_forgive(request);
    return AXLE_OK;
}

/* ---- the door */

int axle__hub_resolve_alone(const char *name, const axle_hub_options *options, char commit[41],
                            char **out)
{
    axle__hub_request request;
    char *folder = NULL;
    commit[0] = '\0';
    if (is_folder(name)) {
        folder = strdup(name);
        if (!folder)
            return axle_error_set(AXLE_ERR_NOMEM, "hub: out of memory");
        *out = folder;
        return AXLE_OK;
    }
    int code = axle__hub_request_begin(&request, name, options);
    if (!code)
        code = request.offline ? offline(&request, commit, &folder)
                               : online(&request, commit, &folder);
    if (code)
        axle_error_set(code, "%s", request.message);
    else
        *out = folder;
    axle__hub_request_end(&request);
    return code;
}

static int check(const char *name, const axle_hub_options *options)
{
    if (!name || !name[0])
        return axle_error_set(AXLE_ERR_INVALID, "axle_hub_resolve: the name is %s",
                              name ? "empty" : "NULL");
    if (options->retries < 0 || !(options->retry_wait >= 0.0) || !(options->timeout >= 0.0))
        return axle_error_set(
            AXLE_ERR_INVALID,
            "axle_hub_resolve: retries %d, retry_wait %g and timeout %g: none may "
            "be negative",
            options->retries, options->retry_wait, options->timeout);
    return AXLE_OK;
}

int axle_hub_resolve(const char *name, const axle_hub_options *options, char **out)
{
    axle_hub_options all = AXLE_HUB_OPTIONS_INIT;
    char commit[41];
    int code = options_copy("axle_hub_resolve", options, &all, sizeof(all));
    if (!code)
        code = check(name, &all);
    if (code)
        return code;
    if (all.accelerator && axle_process_count(all.accelerator) > 1)
        return axle__hub_resolve_together(name, &all, out);
    return axle__hub_resolve_alone(name, &all, commit, out);
}
