/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache as Hugging Face's Python library lays it out:
 *
 *     models--ORGANISATION--MODEL/refs/REVISION        the commit that it was last time
 *                                 blobs/ETAG           contents
 *                                 snapshots/COMMIT/... links to them, ../../blobs/ETAG
 *                                 trees/COMMIT.json    what files the commit has
 */
#define _GNU_SOURCE 1
#include "hub.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/folder.h"
#include "../../common/temporary.h"
#include "../../common/whole_file.h"
#include "names.h"

enum { LONGEST_TREE = 64 << 20 };

char *axle__hub_pointer(const axle__hub_request *request, const char *commit, const char *path)
{
    char *out;
    int length = asprintf(&out, "%s/snapshots/%s/%s", request->folder, commit, path);
    return length < 0 ? NULL : out;
}

bool axle__hub_has(axle__hub_request *request, const char *commit, const char *path)
{
    struct stat about;
    char *pointer = axle__hub_pointer(request, commit, path);
    bool there = pointer && stat(pointer, &about) == 0 && S_ISREG(about.st_mode);
    free(pointer);
    return there;
}

/* Content and a NUL; NULL where there is none to be had. */
static char *read_text(const char *path, size_t *size)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    char *text = NULL;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LONGEST_TREE)
        text = calloc((size_t)about.st_size + 1, 1);
    ssize_t got = 0;
    *size = 0;
    while (text && *size < (size_t)about.st_size &&
           (got = read(descriptor, text + *size, (size_t)about.st_size - *size)) > 0)
        *size += (size_t)got;
    close(descriptor);
    return text;
}

/* What a function of the library reported is the request's, which may forgive it. */
static int pass_on(axle__hub_request *request, int code)
{
    if (!code)
        return AXLE_OK;
    axle__hub_fail(request, code, "%s", axle_error_message());
    axle_error_clear();
    return request->code;
}

int axle__hub_make_parents(axle__hub_request *request, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return AXLE_OK;
    char *folder = strndup(path, (size_t)(slash - path));
    if (!folder)
        return axle__hub_out_of_memory(request);
    int code = pass_on(request, folder_make(folder, NULL));
    free(folder);
    return code;
}

static int write_text(axle__hub_request *request, const char *path, const char *text)
{
    int code = axle__hub_make_parents(request, path);
    return code ? code : pass_on(request, whole_file_write(path, text, strlen(text)));
}

/* ---- what a revision was, and what a commit has */

static char *in_folder(const axle__hub_request *request, const char *what, const char *name,
                       const char *suffix)
{
    char *path;
    int length = asprintf(&path, "%s/%s/%s%s", request->folder, what, name, suffix);
    return length < 0 ? NULL : path;
}

bool axle__hub_read_ref(axle__hub_request *request, char commit[41])
{
    size_t size = 0;
    char *path = in_folder(request, "refs", request->revision, "");
    char *text = path ? read_text(path, &size) : NULL;
    if (text)
        text[strcspn(text, " \r\n")] = '\0';
    bool good = text && axle__hub_is_commit(text);
    if (good)
        memcpy(commit, text, 41);
    free(text);
    free(path);
    return good;
}

int axle__hub_write_ref(axle__hub_request *request, const char *commit)
{
    char before[41];
    if (strcmp(request->revision, commit) == 0 ||
        (axle__hub_read_ref(request, before) && strcmp(before, commit) == 0))
        return AXLE_OK;
    char *path = in_folder(request, "refs", request->revision, "");
    int code = path ? write_text(request, path, commit) : axle__hub_out_of_memory(request);
    free(path);
    return code;
}

bool axle__hub_read_tree(axle__hub_request *request, const char *commit, axle__hub_listing *out)
{
    size_t size = 0;
    char *path = in_folder(request, "trees", commit, ".json");
    char *text = path ? read_text(path, &size) : NULL;
    bool good = text && axle__hub_listing_parse_tree(text, size, out);
    if (good)
        memcpy(out->commit, commit, 41);
    free(text);
    free(path);
    return good;
}

int axle__hub_write_tree(axle__hub_request *request, const axle__hub_listing *listing)
{
    char *path = in_folder(request, "trees", listing->commit, ".json");
    int code = path ? AXLE_OK : axle__hub_out_of_memory(request);
    if (!code && listing->tree && access(path, F_OK) != 0)
        code = write_text(request, path, listing->tree);
    free(path);
    return code;
}

/* ---- links */

/* "../../blobs/ETAG", and one more "../" for each folder that the path itself has. */
static char *link_text(const char *path, const char *etag)
{
    size_t deep = 2;
    for (const char *c = path; *c; c++)
        deep += *c == '/';
    char *text = malloc(3 * deep + sizeof("blobs/") + strlen(etag)), *end = text;
    if (!text)
        return NULL;
    for (size_t k = 0; k < deep; k++)
        end = stpcpy(end, "../");
    stpcpy(stpcpy(end, "blobs/"), etag);
    return text;
}

int axle__hub_link(axle__hub_request *request, const char *commit, const char *path,
                   const char *etag)
{
    char *pointer = axle__hub_pointer(request, commit, path), *text = link_text(path, etag);
    char *name = pointer ? temporary_name(pointer) : NULL;
    int code =
        name && text ? axle__hub_make_parents(request, pointer) : axle__hub_out_of_memory(request);
    if (!code) {
        unlink(name);
        if (symlink(text, name) != 0 || rename(name, pointer) != 0) {
            code = axle__hub_io_error(request, pointer);
            unlink(name);
        }
    }
    free(name);
    free(text);
    free(pointer);
    return code;
}

/* ---- what is there */

/* Without a list, as of a cache that an older library filled, a folder that is there has to do:
 * readers say what they miss. */
static bool has_folder(axle__hub_request *request, const char *commit)
{
    struct stat about;
    char *folder = axle__hub_pointer(request, commit, "");
    bool there = folder && stat(folder, &about) == 0 && S_ISDIR(about.st_mode);
    free(folder);
    return there;
}

static bool has_all(axle__hub_request *request, const axle__hub_listing *listing)
{
    for (size_t k = 0; k < listing->count; k++)
        if (axle__hub_wants(request, listing->files[k].path) &&
            !axle__hub_has(request, listing->commit, listing->files[k].path))
            return false;
    return true;
}

char *axle__hub_find(axle__hub_request *request, const char *commit, bool surely)
{
    axle__hub_listing listing = {.commit = ""};
    bool listed = axle__hub_read_tree(request, commit, &listing);
    bool there = listed ? has_all(request, &listing) : !surely && has_folder(request, commit);
    axle__hub_listing_free(&listing);
    char *folder = there ? axle__hub_pointer(request, commit, "") : NULL;
    if (folder)
        folder[strlen(folder) - 1] = '\0';
    return folder;
}
