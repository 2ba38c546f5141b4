/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl, opened when the first download needs it: with the thirty libraries that it brings along,
 * linking it would make every program that uses a model start four milliseconds later. Included by
 * what is built with libcurl only.
 */
#ifndef AXLE_MODELS_HUB_CURL_H
#define AXLE_MODELS_HUB_CURL_H

#include <curl/curl.h>

/* The functions used, without the macros that check types: they would call libcurl directly. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#define AXLE__CURL_FUNCTIONS(X)                                                                    \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_perform)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(slist_append)                                                                                \
    X(slist_free_all)

typedef struct axle__curl {
#define AXLE__CURL_MEMBER(name) __typeof__(curl_##name) *name;
    AXLE__CURL_FUNCTIONS(AXLE__CURL_MEMBER)
#undef AXLE__CURL_MEMBER
} axle__curl;

/* NULL where it cannot be opened: *why is the linker's reason. Any thread. */
const axle__curl *axle__curl_open(const char **why);

#endif
