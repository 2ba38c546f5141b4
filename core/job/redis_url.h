/* SPDX-License-Identifier: Apache-2.0 */
/* redis://[:password@]host[:port][/db]; an address of IPv6 stands in brackets, and what a URL
 * cannot hold as it is, is written as %hh in the password. */
#ifndef AXLE_JOB_REDIS_URL_H
#define AXLE_JOB_REDIS_URL_H

typedef struct axle__redis_url {
    char host[256];
    int port;           /* 6379 where none is given */
    char password[256]; /* "": none */
    char database[16];  /* digits; "0" where none is given */
} axle__redis_url;

/* AXLE_ERR_INVALID, with a message that does not show the password. */
int axle__redis_url_parse(const char *text, axle__redis_url *out);

#endif
