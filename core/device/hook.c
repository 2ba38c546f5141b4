/* SPDX-License-Identifier: Apache-2.0 */
#include "device/hook.h"

#include <string.h>

#include "base/settings.h"

/* In the order in which they stand around the work: the last is nearest to it, so that a trace
 * times the work alone. */
static const axle__hook *const hooks[AXLE__HOOKS] = {
    [AXLE__HOOK_CHECK] = &axle__hook_check,
    [AXLE__HOOK_DELAY] = &axle__hook_delay,
    [AXLE__HOOK_TRACE] = &axle__hook_trace,
};

uint32_t axle__hooks_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool read_setting;

/* Inside a hook, whose own work is no point; and the phases of this thread. */
static _Thread_local bool inside;
static _Thread_local const axle__hook_point *phase;

const char *axle__hook_kind_name(axle__hook_kind kind)
{
    static const char *const names[AXLE__HOOK_KINDS] = {
#define NAME(name, text) text,
        AXLE__HOOK_KIND_LIST(NAME)
#undef NAME
    };
    return names[kind];
}

/* ------------------------------------------------------------------ on and off */

static bool is_on(int hook)
{
    return (__atomic_load_n(&axle__hooks_on, __ATOMIC_RELAXED) >> hook & 1) != 0;
}

static int start_locked(int hook)
{
    if (is_on(hook))
        return AXLE_OK;
    int status = hooks[hook]->start ? hooks[hook]->start() : AXLE_OK;
    if (!status)
        __atomic_fetch_or(&axle__hooks_on, UINT32_C(1) << hook, __ATOMIC_RELEASE);
    return status;
}

static void stop_locked(int hook)
{
    if (!is_on(hook))
        return;
    __atomic_fetch_and(&axle__hooks_on, ~(UINT32_C(1) << hook), __ATOMIC_RELEASE);
    if (hooks[hook]->stop)
        hooks[hook]->stop();
}

/* Number of a hook; -1 and an error where there is none of that name. */
static int hook_named(const char *name, size_t length)
{
    for (int k = 0; k < AXLE__HOOKS; k++)
        if (strlen(hooks[k]->name) == length && strncmp(hooks[k]->name, name, length) == 0)
            return k;
    axle_error_set(AXLE_ERR_INVALID,
                   "AXLE_HOOK: there is no hook '%.*s'; there are check, trace and delay",
                   (int)length, name);
    return -1;
}

/* All names are looked at before any hook starts. */
static int start_listed(const char *list)
{
    uint32_t wanted = 0;
    while (*list) {
        list += strspn(list, ", \t");
        size_t length = strcspn(list, ", \t");
        int hook = length ? hook_named(list, length) : 0;
        if (hook < 0)
            return axle_error_code();
        if (length)
            wanted |= UINT32_C(1) << hook;
        list += length;
    }
    int status = AXLE_OK;
    for (int k = 0; k < AXLE__HOOKS && !status; k++)
        if (wanted >> k & 1)
            status = start_locked(k);
    return status;
}

int axle__hooks_start(void)
{
    pthread_mutex_lock(&lock);
    int status = read_setting ? AXLE_OK : start_listed(axle__setting(AXLE_SETTING_HOOK));
    read_setting = !status;
    pthread_mutex_unlock(&lock);
    return status;
}

int axle__hook_start(int hook)
{
    pthread_mutex_lock(&lock);
    int status = start_locked(hook);
    pthread_mutex_unlock(&lock);
    return status;
}

void axle__hook_stop(int hook)
{
    pthread_mutex_lock(&lock);
    stop_locked(hook);
    pthread_mutex_unlock(&lock);
}

void axle__hooks_stop(void)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < AXLE__HOOKS; k++)
        stop_locked(k);
    read_setting = false;
    pthread_mutex_unlock(&lock);
}

void axle__hooks_forget(axle_device *device)
{
    for (int k = 0; k < AXLE__HOOKS; k++)
        if (is_on(k) && hooks[k]->forget)
            hooks[k]->forget(device);
}

/* ------------------------------------------------------------------ points */

int axle__hook_before(axle__hook_point *point)
{
    uint32_t on = __atomic_load_n(&axle__hooks_on, __ATOMIC_ACQUIRE);
    int status = AXLE_OK;
    point->seen = 0;
    if (inside)
        return AXLE_OK;
    inside = true;
    for (int k = 0; k < AXLE__HOOKS && !status; k++) {
        if (!(on >> k & 1))
            continue;
        if (hooks[k]->before)
            status = hooks[k]->before(point, &point->state[k]);
        point->seen |= status ? 0 : UINT32_C(1) << k;
    }
    inside = false;
    return status;
}

int axle__hook_after(axle__hook_point *point, int status)
{
    if (!point->seen)
        return status;
    inside = true;
    for (int k = AXLE__HOOKS - 1; k >= 0; k--)
        if ((point->seen >> k & 1) && hooks[k]->after)
            status = hooks[k]->after(point, &point->state[k], status);
    inside = false;
    return status;
}

void axle__phase_enter(axle__hook_point *point, const char *name)
{
    *point = (axle__hook_point){.kind = AXLE__HOOK_PHASE, .name = name, .outer = phase};
    phase = point;
    axle__hook_before(point);
}

void axle__phase_leave(axle__hook_point *point)
{
    axle__hook_after(point, AXLE_OK);
    phase = point->outer;
}

const char *axle__phase_current(void)
{
    return phase ? phase->name : NULL;
}
