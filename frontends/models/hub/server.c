/* SPDX-License-Identifier: Apache-2.0 */
/* What the server has, and bringing it. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "names.h"

enum { LONGEST_LISTING = 64 << 20 };

/* A file that is being brought. */
typedef struct transfer {
    axle__hub_request *request;
    axle__http *http;
    const char *commit, *path;
    char *url;
    char etag[160];
    int64_t size;
    char *blob, *part; /* blobs/ETAG, and that with ".incomplete" */
} transfer;

/* ---- the list */

int axle__hub_list(axle__hub_request *request, axle__hub_listing *out)
{
    axle__http *http = NULL;
    axle__http_answer answer = {0};
    char *revision = axle__hub_encode(request->revision, false), *url = NULL;
    int code = AXLE_OK;
    if (!revision || asprintf(&url, "%s/api/models/%s/revision/%s?blobs=true", request->endpoint,
                              request->model, revision) < 0)
        code = axle__hub_out_of_memory(request);
    if (!code)
        code = axle__http_open(request, &http);
    if (!code)
        code = axle__http_fetch(
            http,
            &(axle__http_ask){
                .url = url, .what = "its files", .file = -1, .length = LONGEST_LISTING},
            &answer);
    if (!code && answer.too_long)
        code = axle__hub_fail(request, AXLE_ERR_FORMAT, "%s: the list of files has no end",
                              request->model);
    if (!code)
        code = axle__hub_listing_parse(request, answer.body ? answer.body : "", answer.size, out);
    axle__http_answer_free(&answer);
    axle__http_close(http);
    free(revision);
    free(url);
    return code;
}

/* ---- a file: what the server says of it */

static int wrong(transfer *t, const char *what)
{
    return axle__hub_fail(t->request, AXLE_ERR_FORMAT, "%s, %s: %s", t->request->model, t->path,
                          what);
}

static int take_about(transfer *t, const axle__http_answer *about, int64_t listed)
{
    const char *etag = about->linked_etag[0] ? about->linked_etag : about->etag;
    if (about->commit[0] && strcmp(about->commit, t->commit) != 0)
        return wrong(t, "the server answers for another commit");
    if (!axle__hub_is_etag(etag))
        return wrong(t, "the server gives no ETag that can be the name of a file");
    strcpy(t->etag, etag);
    t->size = about->linked_size;
    if (t->size < 0 && about->status < 300)
        t->size = about->length;
    if (t->size < 0)
        t->size = listed;
    return t->size < 0 ? wrong(t, "the server does not say how long it is") : AXLE_OK;
}

static int ask_about(transfer *t, int64_t listed)
{
    axle__http_answer about = {0};
    int code = axle__http_fetch(
        t->http, &(axle__http_ask){.url = t->url, .what = t->path, .head = true, .file = -1},
        &about);
    if (!code)
        code = take_about(t, &about, listed);
    axle__http_answer_free(&about);
    if (!code && (asprintf(&t->blob, "%s/blobs/%s", t->request->folder, t->etag) < 0 ||
                  asprintf(&t->part, "%s.incomplete", t->blob) < 0))
        code = axle__hub_out_of_memory(t->request);
    return code;
}

/* ---- its content */

static int64_t length_of(int file)
{
    struct stat about;
    return fstat(file, &about) == 0 ? (int64_t)about.st_size : 0;
}

/* What an earlier attempt left beyond the end is none of this file's. */
static int seek_end(transfer *t, int file, int64_t *length)
{
    *length = length_of(file);
    if (*length > t->size && ftruncate(file, 0) == 0)
        *length = 0;
    t->request->progress.done = *length;
    return lseek(file, *length, SEEK_SET) < 0 ? axle__hub_io_error(t->request, t->part) : AXLE_OK;
}

static int append(transfer *t, int file, int64_t from)
{
    axle__http_answer answer = {0};
    int code = axle__http_fetch(
        t->http,
        &(axle__http_ask){
            .url = t->url, .what = t->path, .file = file, .offset = from, .length = t->size},
        &answer);
    if (!code && answer.too_long)
        code = wrong(t, "the server sends more than it announced");
    if (!code && answer.status == 416 && ftruncate(file, 0) != 0)
        code = axle__hub_io_error(t->request, t->part);
    axle__http_answer_free(&answer);
    return code;
}

/* Until all is there. The server may break off each time, but not without bringing more. */
static int fill(transfer *t, int file)
{
    int64_t length, most = -1;
    int code, idle = 0;
    while (!(code = seek_end(t, file, &length)) && length < t->size) {
        idle = length > most ? 0 : idle + 1;
        most = length > most ? length : most;
        if (idle > t->request->options.retries)
            return axle__hub_fail(
                t->request, AXLE_ERR_IO, "%s, %s: the server ends after %lld of %lld bytes",
                t->request->model, t->path, (long long)length, (long long)t->size);
        code = append(t, file, length);
        if (!code && idle > 0)
            code = axle__hub_wait(t->request, t->request->options.retry_wait);
        if (code)
            return code;
    }
    return code;
}

/* Whether the content is what the ETag says, where it is a sum that we know. */
static int verify(transfer *t, bool *good)
{
    char sum[65];
    *good = true;
    if (!axle__hub_is_sha256(t->etag))
        return AXLE_OK;
    int code = axle__hub_sha256(t->request, t->part, sum);
    *good = strcmp(sum, t->etag) == 0;
    return code;
}

static int fill_and_verify(transfer *t, int file)
{
    bool good = false, resumed = length_of(file) > 0;
    for (int k = 0; k < 2 && !good; k++) {
        int code = fill(t, file);
        if (!code)
            code = verify(t, &good);
        if (code)
            return code;
        if (!good && (ftruncate(file, 0) != 0 || !resumed))
            break;
    }
    return good ? AXLE_OK : wrong(t, "its SHA-256 is not the one that the server announced");
}

static int bring(transfer *t)
{
    int code = axle__hub_make_parents(t->request, t->part);
    int file = code ? -1 : open(t->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (!code && file < 0)
        code = axle__hub_io_error(t->request, t->part);
    if (!code)
        code = fill_and_verify(t, file);
    if (!code && (fsync(file) != 0 || rename(t->part, t->blob) != 0))
        code = axle__hub_io_error(t->request, t->blob);
    if (code == AXLE_ERR_FORMAT)
        unlink(t->part);
    if (file >= 0)
        close(file);
    return code;
}

/* What stands under a blob's name is complete; another process may have brought it meanwhile. */
static int bring_locked(transfer *t)
{
    int lock = -1;
    int code = axle__hub_lock(t->request, t->etag, &lock);
    if (!code && access(t->blob, R_OK) != 0)
        code = bring(t);
    if (!code)
        code = axle__hub_link(t->request, t->commit, t->path, t->etag);
    if (lock >= 0)
        close(lock);
    return code;
}

static int begin_transfer(transfer *t)
{
    char *path = axle__hub_encode(t->path, true);
    bool made = path && asprintf(&t->url, "%s/%s/resolve/%s/%s", t->request->endpoint,
                                 t->request->model, t->commit, path) >= 0;
    free(path);
    return made ? AXLE_OK : axle__hub_out_of_memory(t->request);
}

static int download_one(axle__hub_request *request, axle__http *http, const char *commit,
                        const axle__hub_file *file)
{
    transfer t = {.request = request, .http = http, .commit = commit, .path = file->path};
    request->progress.file = file->path;
    request->progress.done = 0;
    request->progress.total = file->size;
    int code = begin_transfer(&t);
    if (!code)
        code = ask_about(&t, file->size);
    request->progress.total = t.size;
    if (!code)
        code = bring_locked(&t);
    if (!code) {
        request->progress.done = t.size;
        code = axle__hub_tell(request);
    }
    free(t.url);
    free(t.blob);
    free(t.part);
    request->progress.file = "";
    return code;
}

/* ---- all of them */

static bool is_missing(axle__hub_request *request, const axle__hub_listing *listing, size_t k)
{
    return axle__hub_wants(request, listing->files[k].path) &&
           !axle__hub_has(request, listing->commit, listing->files[k].path);
}

int axle__hub_download(axle__hub_request *request, const axle__hub_listing *listing)
{
    axle__http *http = NULL;
    int code = axle__hub_write_tree(request, listing);
    request->progress.index = request->progress.count = 0;
    for (size_t k = 0; k < listing->count; k++)
        request->progress.count += is_missing(request, listing, k);
    if (!code && request->progress.count > 0)
        code = axle__http_open(request, &http);
    for (size_t k = 0; k < listing->count && !code; k++) {
        if (!is_missing(request, listing, k))
            continue;
        code = download_one(request, http, listing->commit, &listing->files[k]);
        request->progress.index++;
    }
    axle__http_close(http);
    return code ? code : axle__hub_write_ref(request, listing->commit);
}
