/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test asks of the fake backend: words `key` or `key=value`, separated by any of ",;| ",
 * in the option "fake" or, without one, in the environment variable AXLE_FAKE. They are read when
 * the plugin is initialised; set_option() of an open device changes them one at a time.
 */
#ifndef AXLE_FAKE_SETTINGS_H
#define AXLE_FAKE_SETTINGS_H

#include "axle/backend.h"

/* Numbers: X(key, value at the start, meaning). A word without value means 1. */
#define FAKE_NUMBERS(X)                                                                            \
    X(abi, AXLE_ABI_MAJOR, "major version of the interface that the plugin claims")                \
    X(minor, AXLE_ABI_MINOR, "minor version that it claims")                                       \
    X(score, 5, "what probe answers")                                                              \
    X(devices, 1, "number of devices")                                                             \
    X(kind, AXLE_DEVICE_ACCELERATOR, "their kind, an AXLE_DEVICE_*")                               \
    X(short_table, 0, "the plugin's table ends before the slot extension")                         \
    X(missing_slots, 0, "only what a device cannot do without is there")                           \
    X(visible, 0, "memory is visible to the host")                                                 \
    X(alloc_fail_after, -1, "so many buffers can be created, then memory is out")                  \
    X(max_alloc, 0, "bytes of the largest buffer; 0 is no limit")                                  \
    X(mem_total, 0, "bytes that all buffers may have; 0 is no limit")                              \
    X(op_fail_after, 0, "so many matching runs work before op_fail begins")                        \
    X(fail_code, AXLE_ERR_DEVICE, "what a failing operator returns")                               \
    X(sticky, 0, "and whether it takes the queue with it")                                         \
    X(delay_ms, 0, "what an operator takes longer")                                                \
    X(leak, 0, "a device that closes keeps a block of the host's memory")                          \
    X(lazy, 0, "queues do nothing until something waits for them")

/* Words: X(key, meaning). */
#define FAKE_WORDS(X)                                                                              \
    X(init, "decline or crash when the plugin is initialised")                                     \
    X(probe, "crash, abort, slow (half a second) or hang")                                         \
    X(info, "fail: device_info does")                                                              \
    X(open, "fail: device_open does")                                                              \
    X(op_fail, "name of an operator or function whose runs fail, or all")                          \
    X(op_wrong, "the same for those whose first element comes out wrong")                          \
    X(op_overrun, "the same for those that write an element too many")                             \
    X(op_drift, "the same for those whose first element differs from run to run")                  \
    X(op_crash, "the same for those that crash")                                                   \
    X(op_hang, "the same for those that hang")                                                     \
    X(prepare_fail, "the same for preparation")                                                    \
    X(without, "slots of the device that are absent, joined by +")

enum { FAKE_WORD_SIZE = 96 };

typedef struct fake_settings {
#define FAKE_NUMBER_FIELD(key, value, meaning) int64_t key;
    FAKE_NUMBERS(FAKE_NUMBER_FIELD)
#undef FAKE_NUMBER_FIELD
#define FAKE_WORD_FIELD(key, meaning) char key[FAKE_WORD_SIZE];
    FAKE_WORDS(FAKE_WORD_FIELD)
#undef FAKE_WORD_FIELD
} fake_settings;

extern fake_settings fake;

/* Start afresh from a list of words, which may be NULL. */
void fake_settings_read(const char *text);
/* Change one; 0 if there is no such key. */
int fake_settings_set(const char *key, const char *value);
/* Whether `list`, of words joined by +, names `word`. */
int fake_lists(const char *list, const char *word);

#endif
