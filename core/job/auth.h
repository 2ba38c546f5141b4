/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs of knowing the job's secret: HMAC-SHA-256 (FIPS 180-4 and RFC 2104) over what is said and
 * over numbers that both sides drew, so that no proof serves twice.
 */
#ifndef AXLE_JOB_AUTH_H
#define AXLE_JOB_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AXLE__SHA256_SIZE = 32, AXLE__SHA256_BLOCK = 64 };

typedef struct axle__sha256 {
    uint32_t state[8];
    uint64_t size;
    unsigned char block[AXLE__SHA256_BLOCK];
} axle__sha256;
void axle__sha256_init(axle__sha256 *hash);
void axle__sha256_add(axle__sha256 *hash, const void *bytes, size_t size);
void axle__sha256_end(axle__sha256 *hash, unsigned char digest[AXLE__SHA256_SIZE]);

typedef struct axle__hmac {
    axle__sha256 inner, outer;
} axle__hmac;
void axle__hmac_init(axle__hmac *mac, const void *key, size_t size);
void axle__hmac_add(axle__hmac *mac, const void *bytes, size_t size);
void axle__hmac_end(axle__hmac *mac, unsigned char proof[AXLE__SHA256_SIZE]);

/* The proof of one side, 'C' or 'S', over both nonces and what it says. */
void axle__proof_make(const char *secret, char side, const unsigned char *client_nonce,
                      const unsigned char *server_nonce, const void *said, size_t size,
                      unsigned char proof[AXLE__SHA256_SIZE]);
/* Compare proofs, in a time that does not depend on where they differ. */
bool axle__proof_equal(const unsigned char *a, const unsigned char *b);
/* Bytes that nobody can foretell; AXLE_ERR_IO where the system has none. */
int axle__random_bytes(void *bytes, size_t size);

#endif
