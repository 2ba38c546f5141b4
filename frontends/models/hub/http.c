/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "http.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "curl.h"
#include "names.h"

enum { MOST_REDIRECTIONS = 10, PATIENCE = 300 };
static const double longest_wait = 8.0;

struct axle__http {
    axle__hub_request *request;
    const axle__curl *curl;
    CURL *handle;
    char reason[CURL_ERROR_SIZE];
    /* of the request under way */
    const axle__http_ask *ask;
    axle__http_answer *answer;
    bool failed_here; /* our own trouble, kept in the request */
};

int axle__http_open(axle__hub_request *request, axle__http **out)
{
    const char *why;
    const axle__curl *curl = axle__curl_open(&why);
    if (!curl)
        return axle__hub_fail(request, AXLE_ERR_UNSUPPORTED,
                              "%s: there is no libcurl to download it with: %s", request->model,
                              why);
    axle__http *http = calloc(1, sizeof(*http));
    if (http)
        http->handle = curl->easy_init();
    if (!http || !http->handle) {
        free(http);
        return axle__hub_out_of_memory(request);
    }
    http->request = request;
    http->curl = curl;
    *out = http;
    return AXLE_OK;
}

void axle__http_close(axle__http *http)
{
    if (http)
        http->curl->easy_cleanup(http->handle);
    free(http);
}

void axle__http_answer_free(axle__http_answer *answer)
{
    free(answer->body);
    *answer = (axle__http_answer){0};
}

/* ---- what libcurl calls */

/* The value of a header, cut at the ends of its room; false where the line is another one. */
static bool take(const char *line, size_t size, const char *name, char *out, size_t room)
{
    size_t length = strlen(name);
    if (size <= length || strncasecmp(line, name, length) != 0 || line[length] != ':')
        return false;
    const char *start = line + length + 1, *end = line + size;
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    while (end > start && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' '))
        end--;
    size_t kept = (size_t)(end - start) < room ? (size_t)(end - start) : room - 1;
    memcpy(out, start, kept);
    out[kept] = '\0';
    return true;
}

/* W/"abc" and "abc" are abc. */
static void unquote(char *etag)
{
    char *start = strncmp(etag, "W/", 2) == 0 ? etag + 2 : etag;
    start += *start == '"';
    size_t length = strlen(start);
    length -= length > 0 && start[length - 1] == '"';
    memmove(etag, start, length);
    etag[length] = '\0';
}

static size_t on_header(char *line, size_t one, size_t size, void *user)
{
    axle__http_answer *out = ((axle__http *)user)->answer;
    char number[64];
    (void)one;
    if (take(line, size, "etag", out->etag, sizeof(out->etag)))
        unquote(out->etag);
    if (take(line, size, "x-linked-etag", out->linked_etag, sizeof(out->linked_etag)))
        unquote(out->linked_etag);
    if (take(line, size, "x-linked-size", number, sizeof(number)))
        out->linked_size = strtoll(number, NULL, 10);
    if (take(line, size, "content-length", number, sizeof(number)))
        out->length = strtoll(number, NULL, 10);
    if (take(line, size, "content-range", number, sizeof(number)) &&
        strncasecmp(number, "bytes ", 6) == 0)
        out->range_start = strtoll(number + 6, NULL, 10);
    take(line, size, "x-repo-commit", out->commit, sizeof(out->commit));
    take(line, size, "x-error-code", out->error_code, sizeof(out->error_code));
    return size;
}

static size_t to_memory(axle__http *http, const char *data, size_t size)
{
    axle__http_answer *out = http->answer;
    if ((int64_t)(out->size + size) > http->ask->length) {
        out->too_long = true;
        return 0;
    }
    char *body = realloc(out->body, out->size + size + 1);
    if (!body) {
        http->failed_here = true;
        axle__hub_out_of_memory(http->request);
        return 0;
    }
    memcpy(body + out->size, data, size);
    out->body = body;
    out->size += size;
    return size;
}

/* The server may ignore that only the rest is wanted, and send all. */
static bool prepare_file(axle__http *http)
{
    axle__http_answer *out = http->answer;
    const axle__http_ask *ask = http->ask;
    if (out->written > 0 || out->from_start || ask->offset == 0)
        return true;
    if (out->status == 206 && out->range_start == ask->offset)
        return true;
    out->from_start = ftruncate(ask->file, 0) == 0 && lseek(ask->file, 0, SEEK_SET) == 0;
    return out->from_start && out->status == 200;
}

static size_t to_file(axle__http *http, const char *data, size_t size)
{
    axle__http_answer *out = http->answer;
    if (!prepare_file(http))
        return 0;
    int64_t before = out->written + (out->from_start ? 0 : http->ask->offset);
    if (http->ask->length >= 0 && before + (int64_t)size > http->ask->length) {
        out->too_long = true;
        return 0;
    }
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(http->ask->file, data + done, size - done);
        if (wrote < 0 && errno != EINTR) {
            http->failed_here = true;
            axle__hub_io_error(http->request, http->request->cache);
            return 0;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    out->written += (int64_t)size;
    http->request->progress.done = before + (int64_t)size;
    http->failed_here = axle__hub_tell(http->request) != AXLE_OK;
    return http->failed_here ? 0 : size;
}

static size_t on_data(char *data, size_t one, size_t size, void *user)
{
    axle__http *http = user;
    (void)one;
    if (http->answer->status == 0)
        http->curl->easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE, &http->answer->status);
    /* What a redirection or an error says is for people with browsers. */
    if (http->answer->status >= 300)
        return size;
    return http->ask->file >= 0 ? to_file(http, data, size) : to_memory(http, data, size);
}

static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    axle__http *http = user;
    (void)a, (void)b, (void)c, (void)d;
    http->failed_here = axle__hub_tell(http->request) != AXLE_OK;
    return http->failed_here;
}

/* ---- one request */

#define SET(option, value) http->curl->easy_setopt(http->handle, CURLOPT_##option, value)

static struct curl_slist *headers(axle__http *http, const char *url)
{
    const axle__hub_request *request = http->request;
    struct curl_slist *list = NULL;
    char *line = NULL;
    if (request->token && axle__hub_same_origin(url, request->endpoint) &&
        asprintf(&line, "Authorization: Bearer %s", request->token) >= 0)
        list = http->curl->slist_append(NULL, line);
    free(line);
    return list;
}

static void set_up(axle__http *http, const char *url)
{
    char range[32] = "";
    double timeout = http->request->timeout;
    if (http->ask->offset > 0)
        snprintf(range, sizeof(range), "%lld-", (long long)http->ask->offset);
    SET(URL, url);
    SET(ERRORBUFFER, http->reason);
    SET(USERAGENT, "axle");
    SET(NOSIGNAL, 1L);
    if (http->ask->head)
        SET(NOBODY, 1L);
    else
        SET(HTTPGET, 1L);
    SET(RANGE, range[0] ? range : NULL);
    SET(FOLLOWLOCATION, 0L);
    SET(CONNECTTIMEOUT_MS, (long)(timeout * 1000.0));
    SET(LOW_SPEED_LIMIT, 1L);
    SET(LOW_SPEED_TIME, (long)ceil(timeout));
    SET(WRITEFUNCTION, on_data);
    SET(WRITEDATA, http);
    SET(HEADERFUNCTION, on_header);
    SET(HEADERDATA, http);
    SET(XFERINFOFUNCTION, on_progress);
    SET(XFERINFODATA, http);
    SET(NOPROGRESS, 0L);
}

static CURLcode perform(axle__http *http, const char *url)
{
    struct curl_slist *list = headers(http, url);
    http->reason[0] = '\0';
    http->failed_here = false;
    axle__http_answer_free(http->answer);
    http->answer->linked_size = http->answer->length = http->answer->range_start = -1;
    set_up(http, url);
    SET(HTTPHEADER, list);
    CURLcode result = http->curl->easy_perform(http->handle);
    http->curl->easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE, &http->answer->status);
    SET(HTTPHEADER, NULL);
    http->curl->slist_free_all(list);
    return result;
}

static bool is_redirection(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Where to go on, to be freed; NULL where this answer is the last. */
static char *next_place(axle__http *http, const char *url)
{
    const char *next = NULL;
    if (!is_redirection(http->answer->status))
        return NULL;
    http->curl->easy_getinfo(http->handle, CURLINFO_REDIRECT_URL, &next);
    if (!next || (http->ask->head && !axle__hub_same_origin(next, url)))
        return NULL;
    bool secure = strncasecmp(next, "https://", 8) == 0;
    bool plain = strncasecmp(next, "http://", 7) == 0;
    return secure || (plain && strncasecmp(url, "http://", 7) == 0) ? strdup(next) : NULL;
}

static CURLcode follow(axle__http *http)
{
    char *url = strdup(http->ask->url);
    CURLcode result = CURLE_OUT_OF_MEMORY;
    for (int k = 0; url && k <= MOST_REDIRECTIONS; k++) {
        result = perform(http, url);
        char *next = result == CURLE_OK ? next_place(http, url) : NULL;
        if (!next)
            break;
        free(url);
        url = next;
    }
    free(url);
    return result;
}

/* ---- what is wrong, and whether to try again */

static int refusal(axle__http *http)
{
    static const struct {
        const char *error;
        long status;
        int code;
        const char *text;
    } table[] = {
        {"RevisionNotFound", 0, AXLE_ERR_NOT_FOUND, "the server has no such revision"},
        {"EntryNotFound", 0, AXLE_ERR_NOT_FOUND, "the server has no such file"},
        {"GatedRepo", 0, AXLE_ERR_STATE,
         "the model is gated: ask for access on its page, and set HF_TOKEN"},
        {"RepoNotFound", 0, AXLE_ERR_NOT_FOUND,
         "the server has no such model, or only for the owner of a token (HF_TOKEN)"},
        {NULL, 401, AXLE_ERR_STATE, "the server wants a valid token (HF_TOKEN)"},
        {NULL, 403, AXLE_ERR_STATE, "the server refuses it to the owner of this token"},
        {NULL, 404, AXLE_ERR_NOT_FOUND, "the server has no such thing"},
        {NULL, 429, AXLE_ERR_BUSY, "the server wants fewer requests"},
        {NULL, 0, AXLE_ERR_IO, "the server fails"},
    };
    axle__hub_request *request = http->request;
    long status = http->answer->status;
    size_t k = 0;
    while (table[k].error ? strcmp(table[k].error, http->answer->error_code) != 0
                          : table[k].status && table[k].status != status)
        k++;
    /* The cache may serve, also where a token is not valid any more. */
    request->unreachable =
        status >= 500 || status == 429 || status == 408 || status == 401 || status == 403;
    return axle__hub_fail(request, table[k].code, "%s, revision %s, %s: %s (HTTP %ld from %s)",
                          request->model, request->revision, http->ask->what, table[k].text, status,
                          request->endpoint);
}

static int broken(axle__http *http, CURLcode result)
{
    axle__hub_request *request = http->request;
    bool late = result == CURLE_OPERATION_TIMEDOUT;
    request->unreachable = true;
    return axle__hub_fail(request, late ? AXLE_ERR_TIMEOUT : AXLE_ERR_IO, "%s, %s: %s: %s",
                          request->model, http->ask->what, request->endpoint,
                          http->reason[0] ? http->reason : http->curl->easy_strerror(result));
}

static bool is_passing(long status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

/* Seconds to wait before attempt `k`, from 0; negative where the server asks for too long. */
static double pause_before(axle__http *http, int k)
{
    double wait = http->request->options.retry_wait * exp2(k);
    curl_off_t asked = 0;
    if (is_passing(http->answer->status))
        http->curl->easy_getinfo(http->handle, CURLINFO_RETRY_AFTER, &asked);
    if (asked > PATIENCE)
        return -1.0;
    wait = wait > longest_wait ? longest_wait : wait;
    return (double)asked > wait ? (double)asked : wait;
}

/* Certificates that do not hold and addresses that cannot be do not get better. */
static bool is_final(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_URL_MALFORMAT ||
           result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_OUT_OF_MEMORY;
}

int axle__http_fetch(axle__http *http, const axle__http_ask *ask, axle__http_answer *out)
{
    http->ask = ask;
    http->answer = out;
    for (int k = 0;; k++) {
        CURLcode result = follow(http);
        bool head = ask->head && is_redirection(out->status);
        if (http->failed_here)
            return http->request->code;
        if (out->too_long)
            return AXLE_OK;
        if (result == CURLE_OK && (out->status < 300 || head))
            return AXLE_OK;
        if (ask->file >= 0 && (out->written > 0 || out->from_start || out->status == 416))
            return AXLE_OK;
        bool again = result == CURLE_OK ? is_passing(out->status) : !is_final(result);
        double wait = pause_before(http, k);
        if (!again || k >= http->request->options.retries || wait < 0.0)
            return result == CURLE_OK ? refusal(http) : broken(http, result);
        axle_log_write(0, "hub", "%s, %s: HTTP %ld %s; again in %.1f s", http->request->model,
                       ask->what, out->status, http->reason, wait);
        int code = axle__hub_wait(http->request, wait);
        if (code)
            return code;
    }
}
