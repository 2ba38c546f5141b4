/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook "delay": random waits before and after everything, so that what rests on luck fails
 * more often. The waits of a thread are a function of the seed and of the order in which threads
 * came here first.
 */
#define _GNU_SOURCE 1
#include "device/hook.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/settings.h"
#include "base/text.h"

enum { LONGEST_US = 10000000 };

static int64_t max_us, seed;
static _Atomic uint64_t threads, run_number;

static _Thread_local struct {
    uint64_t run, state;
} generator;

/* Number `*out` that is the whole of the item. */
static bool parse_number(const char *item, size_t length, int64_t *out)
{
    char text[32];
    if (length == 0 || length >= sizeof(text))
        return false;
    memcpy(text, item, length);
    text[length] = '\0';
    return axle__parse_integer(text, out);
}

/* An item is a number, meaning max_us first and the seed second, or key=number. */
static bool parse_item(const char *item, size_t length, int position)
{
    static const struct {
        const char *key;
        int64_t *value;
    } keys[] = {{"max_us", &max_us}, {"seed", &seed}};
    for (int k = 0; k < 2; k++) {
        size_t size = strlen(keys[k].key);
        if (length > size && item[size] == '=' && strncmp(item, keys[k].key, size) == 0)
            return parse_number(item + size + 1, length - size - 1, keys[k].value);
    }
    return position < 2 && parse_number(item, length, keys[position].value);
}

static int start(void)
{
    const char *setting = axle__setting(AXLE_SETTING_HOOK_DELAY), *item = setting;
    seed = 0;
    for (int position = 0; *item; position++) {
        size_t length = strcspn(item, ",");
        if (!parse_item(item, length, position))
            return axle_error_set(AXLE_ERR_INVALID,
                                  "AXLE_HOOK_DELAY=%s: it is max_us[,seed], or max_us=N,seed=N",
                                  setting);
        item += length + (item[length] != '\0');
    }
    if (max_us < 0 || max_us > LONGEST_US)
        return axle_error_set(AXLE_ERR_INVALID, "AXLE_HOOK_DELAY=%s: max_us lies in [0, %d]",
                              setting, LONGEST_US);
    atomic_store(&threads, 0);
    atomic_fetch_add(&run_number, 1);
    return AXLE_OK;
}

/* SplitMix64 (Steele, Lea, Flood 2014); a stream for each thread. */
static uint64_t draw(void)
{
    uint64_t run = atomic_load_explicit(&run_number, memory_order_relaxed);
    if (generator.run != run) {
        generator.run = run;
        generator.state =
            (uint64_t)seed * UINT64_C(0xd1342543de82ef95) + (atomic_fetch_add(&threads, 1) << 32);
    }
    uint64_t z = generator.state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A quarter of the time nothing, a quarter a yield, else up to max_us microseconds. */
static void wait_a_while(void)
{
    uint64_t bits = draw(), what = bits & 3;
    if (what == 0)
        return;
    if (what == 1 || max_us == 0) {
        sched_yield();
        return;
    }
    int64_t ns = (int64_t)((bits >> 2) % ((uint64_t)max_us * 1000 + 1));
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

static int before(const axle__hook_point *point, axle__hook_state *state)
{
    (void)point, (void)state;
    wait_a_while();
    return AXLE_OK;
}

static int after(const axle__hook_point *point, axle__hook_state *state, int status)
{
    (void)point, (void)state;
    wait_a_while();
    return status;
}

const axle__hook axle__hook_delay = {
    .name = "delay", .start = start, .before = before, .after = after};
