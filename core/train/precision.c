/* SPDX-License-Identifier: Apache-2.0 */
#include "train/precision.h"

#include <pthread.h>
#include <string.h>

#include "axle/status.h"
#include "base/settings.h"

static const struct name {
    const char *text;
    int dtype;
} names[] = {
    {"no", 0},
    {"f32", 0},
    {"bf16", AXLE_DTYPE_BF16},
    {"fp16", AXLE_DTYPE_F16},
    {"f16", AXLE_DTYPE_F16},
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int current, users;

static int parse(const char *who, const char *text, int *dtype)
{
    for (int k = 0; k < NAMES; k++) {
        if (strcmp(names[k].text, text) != 0)
            continue;
        *dtype = names[k].dtype;
        return AXLE_OK;
    }
    return axle_error_set(AXLE_ERR_INVALID, "%s: '%s' is no precision; there are no, bf16 and fp16",
                          who, text);
}

/* The first of its names. */
static const char *name_of(int dtype)
{
    int k = 0;
    while (names[k].dtype != dtype)
        k++;
    return names[k].text;
}

/* With the lock held. */
static int join(int dtype)
{
    if (users > 0 && dtype != current)
        return axle_error_set(AXLE_ERR_STATE,
                              "axle_accelerator_create: precision %s conflicts with precision %s "
                              "of an accelerator that lives in this process",
                              name_of(dtype), name_of(current));
    current = dtype;
    users++;
    return AXLE_OK;
}

int axle__precision_join(const char *text, int *dtype)
{
    const char *setting = axle__setting(AXLE_SETTING_PRECISION);
    bool asked = text && *text;
    int wanted = 0, status = AXLE_OK;
    if (asked || *setting)
        status = parse(asked ? "axle_accelerator_create" : "AXLE_PRECISION", asked ? text : setting,
                       &wanted);
    if (status)
        return status;
    pthread_mutex_lock(&lock);
    if (!asked && !*setting && users > 0)
        wanted = current;
    status = join(wanted);
    pthread_mutex_unlock(&lock);
    if (!status)
        *dtype = wanted;
    return status;
}

void axle__precision_leave(void)
{
    pthread_mutex_lock(&lock);
    users--;
    pthread_mutex_unlock(&lock);
}
