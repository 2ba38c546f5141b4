/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the server and to where it redirects to. The token goes to the endpoint's own scheme,
 * host and port alone; redirections are followed by us, one at a time, to be sure of that.
 */
#ifndef AXLE_MODELS_HUB_HTTP_H
#define AXLE_MODELS_HUB_HTTP_H

#include "hub.h"

typedef struct axle__http axle__http; /* a session, which keeps connections */

/* What is wanted. */
typedef struct axle__http_ask {
    const char *url;
    const char *what; /* for messages: "config.json" */
    bool head;        /* the headers alone; redirections to other hosts are not followed */
    int file;         /* where the content is appended; -1: memory */
    int64_t offset;   /* bytes of the file that are there already */
    int64_t length;   /* most bytes of the whole file, or of what goes to memory */
} axle__http_ask;

/* What came; starts as {0}. */
typedef struct axle__http_answer {
    long status; /* 200, 206, ... */
    char *body;
    size_t size;
    int64_t written; /* bytes appended to the file */
    bool from_start; /* the file was emptied, since the server sends it from its beginning */
    bool too_long;   /* more came than was announced */
    int64_t length;  /* Content-Length; -1 */
    int64_t linked_size, range_start;
    char etag[160], linked_etag[160], commit[64], error_code[64];
} axle__http_answer;

int axle__http_open(axle__hub_request *request, axle__http **out);
void axle__http_close(axle__http *http);
/*
 * Ask, again where the server is busy or out of order or the connection breaks, for as often as the
 * request says. AXLE_OK with what came, which is a success (status below 300, or a redirection of
 * `head`); else what is wrong is kept in the request. With a file, a connection that breaks after
 * it brought something is AXLE_OK, too: written tells.
 */
int axle__http_fetch(axle__http *http, const axle__http_ask *ask, axle__http_answer *out);
void axle__http_answer_free(axle__http_answer *answer);

#endif
