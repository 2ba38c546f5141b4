/* SPDX-License-Identifier: Apache-2.0 */
#include "job/redis_url.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "axle/status.h"
#include "base/text.h"

enum { USUAL_PORT = 6379 };

static int refuse(const char *why)
{
    return axle_error_set(AXLE_ERR_INVALID,
                          "AXLE_RENDEZVOUS is not redis://[:password@]host[:port][/db]: %s", why);
}

/* Copy `length` characters; false where they do not fit. */
static bool take(const char *text, size_t length, char *out, size_t size)
{
    if (length >= size)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* The value of a hexadecimal digit; -1 for anything else. */
static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Put characters in the place of %hh; false where that is none, or the end of the text. */
static bool decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        *to = *from;
        if (*from != '%')
            continue;
        int high = digit(from[1]), low = high < 0 ? -1 : digit(from[2]);
        if (low < 0 || high + low == 0)
            return false;
        *to = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return true;
}

/* A number up to `most`, of at least one digit. */
static bool number(const char *text, int64_t most, int64_t *out)
{
    return text[0] >= '0' && text[0] <= '9' && axle__parse_integer(text, out) && *out <= most;
}

/* host[:port], where `host` may stand in brackets. */
static int parse_place(const char *text, axle__redis_url *out)
{
    bool bracketed = text[0] == '[';
    size_t length = strcspn(text + bracketed, bracketed ? "]" : ":");
    const char *rest = text + bracketed + length;
    int64_t port = USUAL_PORT;
    if (bracketed && *rest != ']')
        return refuse("the bracket before the host is not closed");
    rest += bracketed;
    if (length == 0 || !take(text + bracketed, length, out->host, sizeof(out->host)))
        return refuse("there is no host, or it is too long");
    if (*rest && (*rest != ':' || !number(rest + 1, 65535, &port) || port == 0))
        return refuse("the port is not between 1 and 65535");
    out->port = (int)port;
    return AXLE_OK;
}

int axle__redis_url_parse(const char *text, axle__redis_url *out)
{
    char place[sizeof(out->host) + 16];
    int64_t database;
    axle__redis_url url = {.database = "0"};
    const char *start = text + strlen("redis://");
    size_t length = strcspn(start, "/");
    const char *slash = start + length;
    size_t before = length;
    while (before > 0 && start[before - 1] != '@')
        before--;
    if (before > 0 &&
        (start[0] != ':' || !take(start + 1, before - 2, url.password, sizeof(url.password)) ||
         !decode(url.password)))
        return refuse("before '@' stands no :password");
    if (!take(start + before, length - before, place, sizeof(place)))
        return refuse("the host is too long");
    if (slash[0] && slash[1] &&
        (!number(slash + 1, INT32_MAX, &database) ||
         !take(slash + 1, strlen(slash + 1), url.database, sizeof(url.database))))
        return refuse("the database is no number");
    int code = parse_place(place, &url);
    if (!code)
        *out = url;
    return code;
}
