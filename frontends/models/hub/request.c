/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked for: options, else the variables of Hugging Face's library, else defaults. */
#define _GNU_SOURCE 1
#include "hub.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "names.h"

static const double default_timeout = 10.0, tick = 0.1;

int axle__hub_fail(axle__hub_request *request, int code, const char *format, ...)
{
    if (request->code)
        return request->code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(request->message, sizeof(request->message), format, arguments);
    va_end(arguments);
    return request->code = code;
}

int axle__hub_out_of_memory(axle__hub_request *request)
{
    return axle__hub_fail(request, AXLE_ERR_NOMEM, "hub: out of memory");
}

int axle__hub_io_error(axle__hub_request *request, const char *path)
{
    return axle__hub_fail(request, AXLE_ERR_IO, "%s: %s", path, strerror(errno));
}

void axle__hub_forgive(axle__hub_request *request)
{
    request->code = AXLE_OK;
    request->unreachable = false;
}

int axle__hub_tell(axle__hub_request *request)
{
    if (!request->options.progress ||
        request->options.progress(&request->progress, request->options.user) == 0)
        return AXLE_OK;
    return axle__hub_fail(request, AXLE_ERR_INTERRUPTED, "%s: the download was interrupted",
                          request->model);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int axle__hub_wait(axle__hub_request *request, double seconds)
{
    double end = now() + seconds;
    for (double left = seconds; left > 0.0; left = end - now()) {
        double nap = left < tick ? left : tick;
        nanosleep(&(struct timespec){0, (long)(nap * 1e9)}, NULL);
        int code = axle__hub_tell(request);
        if (code)
            return code;
    }
    return AXLE_OK;
}

/* ---- variables */

/* An empty variable counts as none; a program with raised privileges has none. */
static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && value[0] ? value : NULL;
}

/* As the library reads them. */
static bool is_true(const char *name)
{
    static const char *const words[] = {"1", "ON", "YES", "TRUE"};
    const char *value = variable(name);
    for (size_t k = 0; value && k < sizeof(words) / sizeof(words[0]); k++)
        if (strcasecmp(value, words[k]) == 0)
            return true;
    return false;
}

static char *format(const char *how, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, how);
    int length = vasprintf(&text, how, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

/* A folder that a variable names, "~" being home; NULL where it is not set. */
static char *folder_in(const char *name)
{
    const char *value = variable(name), *home = variable("HOME");
    if (!value)
        return NULL;
    if (value[0] == '~' && (value[1] == '/' || !value[1]) && home)
        return format("%s%s", home, value + 1);
    return strdup(value);
}

/* NULL where there is none. */
static char *hub_home(void)
{
    char *set = folder_in("HF_HOME"), *cache = set ? NULL : folder_in("XDG_CACHE_HOME");
    const char *home = variable("HOME");
    char *found = set;
    if (!set && cache)
        found = format("%s/huggingface", cache);
    else if (!set && home)
        found = format("%s/.cache/huggingface", home);
    free(cache);
    return found;
}

static char *cache_folder(const axle_hub_options *options, const char *home)
{
    if (options->cache)
        return strdup(options->cache);
    char *set = folder_in("HF_HUB_CACHE");
    return set || !home ? set : format("%s/hub", home);
}

/* The first word of a file, NULL where there is none. */
static char *word_in(const char *path)
{
    char line[1024] = "";
    FILE *file = path ? fopen(path, "re") : NULL;
    bool read = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    const char *start = line + strspn(line, " \t\r\n");
    size_t length = strcspn(start, " \t\r\n");
    return read && length > 0 ? strndup(start, length) : NULL;
}

static char *find_token(const axle_hub_options *options, const char *home)
{
    if (options->token)
        return options->token[0] ? strdup(options->token) : NULL;
    if (is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN"))
        return NULL;
    const char *set = variable("HF_TOKEN");
    if (set)
        return strndup(set + strspn(set, " \t\r\n"),
                       strcspn(set + strspn(set, " \t\r\n"), " \t\r\n"));
    char *path = folder_in("HF_TOKEN_PATH");
    if (!path && home)
        path = format("%s/token", home);
    char *token = word_in(path);
    free(path);
    return token;
}

static char *find_endpoint(const axle_hub_options *options)
{
    const char *set = options->endpoint ? options->endpoint : variable("HF_ENDPOINT");
    char *endpoint = strdup(set ? set : "https://huggingface.co");
    for (size_t length = endpoint ? strlen(endpoint) : 0; length > 0 && endpoint[length - 1] == '/';
         length--)
        endpoint[length - 1] = '\0';
    return endpoint;
}

static double find_timeout(const axle_hub_options *options)
{
    const char *set = variable("HF_HUB_DOWNLOAD_TIMEOUT");
    double seconds = options->timeout > 0.0 ? options->timeout : set ? strtod(set, NULL) : 0.0;
    return isfinite(seconds) && seconds > 0.0 ? seconds : default_timeout;
}

/* ---- the request */

static int check(axle__hub_request *request)
{
    const char *endpoint = request->endpoint;
    if (!axle__hub_is_model(request->model))
        return axle__hub_fail(
            request, strchr(request->model, '/') ? AXLE_ERR_NOT_FOUND : AXLE_ERR_INVALID,
            "'%s': there is no such folder, and no model can have that name", request->model);
    if (!axle__hub_is_path(request->revision))
        return axle__hub_fail(request, AXLE_ERR_INVALID, "%s: no revision can be called '%s'",
                              request->model, request->revision);
    if (strncasecmp(endpoint, "https://", 8) != 0 && strncasecmp(endpoint, "http://", 7) != 0)
        return axle__hub_fail(request, AXLE_ERR_INVALID,
                              "the endpoint '%s' begins with neither https:// nor http://",
                              endpoint);
    for (const char *c = request->token ? request->token : ""; *c; c++)
        if (*c <= ' ' || *c > '~')
            return axle__hub_fail(request, AXLE_ERR_INVALID,
                                  "%s: the token holds a character that no token has",
                                  request->model);
    return AXLE_OK;
}

/* "models--organisation--model" */
static char *folder_of(const char *model)
{
    const char *slash = strchr(model, '/');
    return slash ? format("models--%.*s--%s", (int)(slash - model), model, slash + 1)
                 : format("models--%s", model);
}

static int place(axle__hub_request *request, const char *home)
{
    request->cache = cache_folder(&request->options, home);
    if (!request->cache)
        return axle__hub_fail(request, AXLE_ERR_NOT_FOUND,
                              "there is no folder for a cache: neither HF_HOME nor HOME is set");
    char *name = folder_of(request->model);
    if (name) {
        request->folder = format("%s/%s", request->cache, name);
        request->locks = format("%s/.locks/%s", request->cache, name);
    }
    free(name);
    return request->folder && request->locks ? AXLE_OK : axle__hub_out_of_memory(request);
}

int axle__hub_request_begin(axle__hub_request *request, const char *model,
                            const axle_hub_options *options)
{
    char *home = hub_home();
    *request = (axle__hub_request){.options = *options, .model = model};
    request->revision = options->revision ? options->revision : "main";
    request->offline =
        options->offline || is_true("HF_HUB_OFFLINE") || is_true("TRANSFORMERS_OFFLINE");
    request->timeout = find_timeout(options);
    request->token = find_token(options, home);
    request->endpoint = find_endpoint(options);
    request->progress =
        (axle_hub_progress){.struct_size = sizeof(axle_hub_progress), .model = model, .file = ""};
    int code = request->endpoint ? check(request) : axle__hub_out_of_memory(request);
    if (!code)
        code = place(request, home);
    free(home);
    return code;
}

void axle__hub_request_end(axle__hub_request *request)
{
    free(request->cache);
    free(request->folder);
    free(request->locks);
    free(request->endpoint);
    free(request->token);
}
