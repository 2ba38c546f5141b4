/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_MODEL = 96, LONGEST_PART = 255, LONGEST_ETAG = 128, LONGEST_PATH = 1024 };

static bool is_word(const char *text, size_t length, const char *more)
{
    for (size_t k = 0; k < length; k++)
        if (!isascii((unsigned char)text[k]) ||
            (!isalnum((unsigned char)text[k]) && !strchr(more, text[k])))
            return false;
    return length > 0;
}

static bool is_model_part(const char *text, size_t length)
{
    return is_word(text, length, "-_.") && text[0] != '.' && text[0] != '-' &&
           text[length - 1] != '.' && text[length - 1] != '-';
}

bool axle__hub_is_model(const char *name)
{
    const char *slash = strchr(name, '/');
    if (strlen(name) > LONGEST_MODEL || strstr(name, "--") || strstr(name, ".."))
        return false;
    if (!slash)
        return is_model_part(name, strlen(name));
    return is_model_part(name, (size_t)(slash - name)) &&
           is_model_part(slash + 1, strlen(slash + 1));
}

static bool is_path_part(const char *text, size_t length)
{
    if (length == 0 || length > LONGEST_PART || text[0] == '~')
        return false;
    if (strncmp(text, "..", length) == 0 && length <= 2)
        return false;
    for (size_t k = 0; k < length; k++)
        if (iscntrl((unsigned char)text[k]) || text[k] == '\\')
            return false;
    return true;
}

bool axle__hub_is_path(const char *path)
{
    if (strlen(path) > LONGEST_PATH)
        return false;
    for (;; path++) {
        size_t length = strcspn(path, "/");
        if (!is_path_part(path, length))
            return false;
        path += length;
        if (!*path)
            return true;
    }
}

static bool is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

bool axle__hub_is_commit(const char *text)
{
    return is_hex(text, 40);
}

bool axle__hub_is_sha256(const char *text)
{
    return is_hex(text, 64);
}

bool axle__hub_is_etag(const char *text)
{
    return strlen(text) <= LONGEST_ETAG && is_word(text, strlen(text), "-_");
}

char *axle__hub_encode(const char *text, bool slashes)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = malloc(3 * strlen(text) + 1), *end = out;
    for (; out && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((isascii(c) && isalnum(c)) || strchr("-._~", c) || (slashes && c == '/')) {
            *end++ = (char)c;
        } else {
            *end++ = '%';
            *end++ = digits[c >> 4];
            *end++ = digits[c & 15];
        }
    }
    if (out)
        *end = '\0';
    return out;
}

/* Length of "scheme://host:port"; 0 where it is no such address. */
static size_t origin_length(const char *address)
{
    const char *host = strstr(address, "://");
    return host ? (size_t)(host + 3 - address) + strcspn(host + 3, "/?#\\") : 0;
}

bool axle__hub_same_origin(const char *a, const char *b)
{
    size_t length = origin_length(a);
    return length > 0 && length == origin_length(b) && strncasecmp(a, b, length) == 0;
}
