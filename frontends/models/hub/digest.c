/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 through Nettle: the smallest of the libraries that have it, and with the instructions of
 * processors for it.
 */
#define _GNU_SOURCE 1
#include "hub.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 18 };

static void finish(struct sha256_ctx *context, uint8_t *digest)
{
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(context, digest);
#else
    sha256_digest(context, SHA256_DIGEST_SIZE, digest);
#endif
}

int axle__hub_sha256(axle__hub_request *request, const char *path, char out[65])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    uint8_t *piece = malloc(PIECE);
    int descriptor = piece ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = -1;
    int code = piece ? AXLE_OK : axle__hub_out_of_memory(request);
    sha256_init(&context);
    while (descriptor >= 0 && (got = read(descriptor, piece, PIECE)) > 0)
        sha256_update(&context, (size_t)got, piece);
    if (!code && got < 0)
        code = axle__hub_io_error(request, path);
    finish(&context, digest);
    for (size_t k = 0; k < sizeof(digest); k++)
        snprintf(out + 2 * k, 3, "%02x", digest[k]);
    if (descriptor >= 0)
        close(descriptor);
    free(piece);
    return code;
}
