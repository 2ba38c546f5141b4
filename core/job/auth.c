/* SPDX-License-Identifier: Apache-2.0 */
#include "job/auth.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "axle/status.h"
#include "job/wire.h"

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* The sixteen words of a block, and 48 more made of them. */
static void schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    schedule(block, w);
    memcpy(s, state, sizeof(s));
    for (int t = 0; t < 64; t++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice +
                       round_constants[t] + w[t];
        uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += one;
        s[0] = one + two;
    }
    for (int k = 0; k < 8; k++)
        state[k] += s[k];
}

void axle__sha256_init(axle__sha256 *hash)
{
    /* Likewise of the square roots of the first eight primes. */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof(*hash));
    memcpy(hash->state, start, sizeof(start));
}

void axle__sha256_add(axle__sha256 *hash, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    for (size_t k = 0; k < size; k++) {
        hash->block[hash->size++ % AXLE__SHA256_BLOCK] = next[k];
        if (hash->size % AXLE__SHA256_BLOCK == 0)
            compress(hash->state, hash->block);
    }
}

void axle__sha256_end(axle__sha256 *hash, unsigned char digest[AXLE__SHA256_SIZE])
{
    static const unsigned char one = 0x80, zero = 0;
    uint64_t bits = 8 * hash->size;
    unsigned char length[8];
    for (int k = 0; k < 8; k++)
        length[k] = (unsigned char)(bits >> (56 - 8 * k));
    axle__sha256_add(hash, &one, 1);
    while (hash->size % AXLE__SHA256_BLOCK != AXLE__SHA256_BLOCK - sizeof(length))
        axle__sha256_add(hash, &zero, 1);
    axle__sha256_add(hash, length, sizeof(length));
    for (int k = 0; k < AXLE__SHA256_SIZE; k++)
        digest[k] = (unsigned char)(hash->state[k / 4] >> (24 - 8 * (k % 4)));
}

void axle__hmac_init(axle__hmac *mac, const void *key, size_t size)
{
    unsigned char block[AXLE__SHA256_BLOCK] = {0}, pad[AXLE__SHA256_BLOCK];
    if (size > sizeof(block)) {
        axle__sha256 hash;
        axle__sha256_init(&hash);
        axle__sha256_add(&hash, key, size);
        axle__sha256_end(&hash, block);
    } else if (size > 0) {
        memcpy(block, key, size);
    }
    for (size_t k = 0; k < sizeof(pad); k++)
        pad[k] = block[k] ^ 0x36;
    axle__sha256_init(&mac->inner);
    axle__sha256_add(&mac->inner, pad, sizeof(pad));
    for (size_t k = 0; k < sizeof(pad); k++)
        pad[k] = block[k] ^ 0x5c;
    axle__sha256_init(&mac->outer);
    axle__sha256_add(&mac->outer, pad, sizeof(pad));
}

void axle__hmac_add(axle__hmac *mac, const void *bytes, size_t size)
{
    axle__sha256_add(&mac->inner, bytes, size);
}

void axle__hmac_end(axle__hmac *mac, unsigned char proof[AXLE__SHA256_SIZE])
{
    unsigned char digest[AXLE__SHA256_SIZE];
    axle__sha256_end(&mac->inner, digest);
    axle__sha256_add(&mac->outer, digest, sizeof(digest));
    axle__sha256_end(&mac->outer, proof);
}

void axle__proof_make(const char *secret, char side, const unsigned char *client_nonce,
                      const unsigned char *server_nonce, const void *said, size_t size,
                      unsigned char proof[AXLE__SHA256_SIZE])
{
    axle__hmac mac;
    axle__hmac_init(&mac, secret, strlen(secret));
    axle__hmac_add(&mac, &side, 1);
    axle__hmac_add(&mac, client_nonce, AXLE__WIRE_NONCE);
    axle__hmac_add(&mac, server_nonce, AXLE__WIRE_NONCE);
    axle__hmac_add(&mac, said, size);
    axle__hmac_end(&mac, proof);
}

bool axle__proof_equal(const unsigned char *a, const unsigned char *b)
{
    unsigned difference = 0;
    for (int k = 0; k < AXLE__SHA256_SIZE; k++)
        difference |= (unsigned)(a[k] ^ b[k]);
    return difference == 0;
}

int axle__random_bytes(void *bytes, size_t size)
{
    unsigned char *next = bytes;
    while (size > 0) {
        ssize_t got = getrandom(next, size, 0);
        if (got < 0 && errno != EINTR)
            return axle_error_set(AXLE_ERR_IO, "the system has no random numbers: %s",
                                  strerror(errno));
        if (got > 0) {
            next += got;
            size -= (size_t)got;
        }
    }
    return AXLE_OK;
}
