/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the messages of the control connection are made of: a header of twelve bytes (magic,
 * version, kind, length) and a payload. Numbers are little-endian; texts and values stand after
 * their length. Writers and readers carry a sticky failure, so that one check at the end is enough.
 */
#ifndef AXLE_JOB_WIRE_H
#define AXLE_JOB_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AXLE__WIRE_VERSION = 1,
    AXLE__WIRE_HEADER = 12,
    AXLE__WIRE_KEY = 256,       /* bytes of a key of the store, with its NUL */
    AXLE__WIRE_VALUE = 1 << 20, /* most bytes of a value */
    AXLE__WIRE_STRANGER = 1024, /* longest payload from who has not proved to belong here */
    AXLE__WIRE_LONGEST = (1 << 20) + 1024,
    AXLE__WIRE_NONCE = 16,
    AXLE__WIRE_PROOF = 32,
    AXLE__WIRE_REASON = 512, /* bytes of a reason in words, with its NUL */
};

/*
 * Kinds of messages. C: from a client, S: from the server.
 *
 * HELLO     C  nonce                                       the first word
 * CHALLENGE S  nonce, proof                                the server knows the secret
 * JOIN      C  rank, size, job, who, proof                 so does the client
 * WELCOME   S                                              taken in; the others are awaited
 * MET       S  address                                     all are there; where rank 0 was reached
 * REFUSE    S  code, reason                                the end of this connection
 * PING      C  [sequence, what]   S  [who is missing]      a sign of life
 * SET       C  request, key, value                         answered by DONE
 * GET       C  request, nanoseconds, key                   answered by VALUE or DONE
 * DONE      S  request, code, reason
 * VALUE     S  request, value
 * SURVEY    C  request, nanoseconds                        answered by TABLE
 * ASK       S  round                                       answered by REPORT
 * REPORT    C  round, sequence, what
 * TABLE     S  request, size, then lost, silent, sequence, what of each
 * LOST      S  rank, reason
 * FAIL      C  reason
 * LEAVE     C                                              answered by BYE
 * BYE       S
 */
enum {
    AXLE__WIRE_HELLO = 1,
    AXLE__WIRE_CHALLENGE,
    AXLE__WIRE_JOIN,
    AXLE__WIRE_WELCOME,
    AXLE__WIRE_MET,
    AXLE__WIRE_REFUSE,
    AXLE__WIRE_PING,
    AXLE__WIRE_SET,
    AXLE__WIRE_GET,
    AXLE__WIRE_DONE,
    AXLE__WIRE_VALUE_IS,
    AXLE__WIRE_SURVEY,
    AXLE__WIRE_ASK,
    AXLE__WIRE_REPORT,
    AXLE__WIRE_TABLE,
    AXLE__WIRE_LOST,
    AXLE__WIRE_FAIL,
    AXLE__WIRE_LEAVE,
    AXLE__WIRE_BYE,
    AXLE__WIRE_KINDS
};

/* A growing payload. Starts zeroed. */
typedef struct axle__wire_writer {
    unsigned char *data;
    size_t size, capacity;
    bool failed; /* memory ran out */
} axle__wire_writer;
void axle__wire_put(axle__wire_writer *writer, const void *bytes, size_t size);
void axle__wire_put_u8(axle__wire_writer *writer, uint8_t value);
void axle__wire_put_u32(axle__wire_writer *writer, uint32_t value);
void axle__wire_put_u64(axle__wire_writer *writer, uint64_t value);
void axle__wire_put_text(axle__wire_writer *writer, const char *text);
void axle__wire_put_value(axle__wire_writer *writer, const void *bytes, size_t size);
void axle__wire_free(axle__wire_writer *writer);

typedef struct axle__wire_reader {
    const unsigned char *next, *end;
    bool failed; /* there was less than what was asked for */
} axle__wire_reader;
/* The next `size` bytes, where they lie; NULL if there are fewer. */
const unsigned char *axle__wire_get(axle__wire_reader *reader, size_t size);
uint8_t axle__wire_get_u8(axle__wire_reader *reader);
uint32_t axle__wire_get_u32(axle__wire_reader *reader);
uint64_t axle__wire_get_u64(axle__wire_reader *reader);
/* A text without control characters; what does not fit is a failure. */
void axle__wire_get_text(axle__wire_reader *reader, char *text, size_t size);
const unsigned char *axle__wire_get_value(axle__wire_reader *reader, size_t *size);
/* Whether all was there and nothing is left. */
bool axle__wire_done(const axle__wire_reader *reader);

/* The header before a payload of `size` bytes. */
void axle__wire_header(unsigned char *header, int kind, size_t size);
/* What a header says; false where it is none of ours. */
bool axle__wire_parse_header(const unsigned char *header, int *kind, size_t *size);

#endif
