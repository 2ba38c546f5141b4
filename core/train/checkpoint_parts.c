/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what a checkpoint holds, and its smaller parts. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/loader.h"
#include "optim/scheduler.h"
#include "train/checkpoint.h"

/* In the order in which they are loaded: what the program itself may refuse comes first, and random
 * numbers come after loops that were under way have ended. */
const axle__part axle__parts[] = {
#define PART(what)                                                                                 \
    {                                                                                              \
#what, axle__capture_##what, axle__check_##what, axle__apply_##what                        \
    }
    PART(custom),     PART(models), PART(averages), PART(optimizers),
    PART(schedulers), PART(scaler), PART(loaders),  PART(random),
#undef PART
};
const int axle__part_count = sizeof(axle__parts) / sizeof(axle__parts[0]);

/* ------------------------------------------------------------------ helpers */

axle_object *axle__next_prepared(const axle_accelerator *accelerator, uint32_t type, int *at)
{
    while (*at < accelerator->count) {
        axle_object *object = accelerator->prepared[(*at)++].object;
        if (object->type == type)
            return object;
    }
    return NULL;
}

static int count_prepared(const axle_accelerator *accelerator, uint32_t type)
{
    int at = 0, count = 0;
    while (axle__next_prepared(accelerator, type, &at))
        count++;
    return count;
}

int axle__restore_error(const axle__restore *restore, int code, const char *format, ...)
{
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof(what), format, list);
    va_end(list);
    return axle_error_set(code, "%s: %s", restore->path, what);
}

int axle__restore_check_count(const axle__restore *restore, const json_t *value, int count,
                              const char *what)
{
    if (json_is_array(value) && json_array_size(value) == (size_t)count)
        return AXLE_OK;
    return axle__restore_error(restore, AXLE_ERR_NOT_FOUND,
                               "it holds %zu %s, and the program prepared %d",
                               json_array_size(value), what, count);
}

const axle__blob *axle__restore_file(const axle__restore *restore, const char *name)
{
    for (size_t k = 0; k < restore->count; k++)
        if (strcmp(restore->files[k].name, name) == 0)
            return &restore->files[k];
    return NULL;
}

static int append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) ? axle__json_failed() : AXLE_OK;
}

/* Of unsigned numbers, whose bits a JSON integer holds. */
static uint64_t bits_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static int64_t integer_of(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

/* ------------------------------------------------------------------ schedules */

int axle__capture_schedulers(axle__capture *capture, json_t **out)
{
    int at = 0, status = capture->status;
    axle_object *object;
    if (status || !capture->main)
        return status;
    *out = json_array();
    while (!status &&
           (object = axle__next_prepared(capture->accelerator, AXLE__OBJECT_SCHEDULER, &at)))
        status = append(*out,
                        json_pack("{s:I}", "ticks", (json_int_t)((axle_scheduler *)object)->ticks));
    return status;
}

int axle__check_schedulers(axle__restore *restore, const json_t *value)
{
    int count = count_prepared(restore->accelerator, AXLE__OBJECT_SCHEDULER);
    return axle__restore_check_count(restore, value, count, "schedules");
}

/* The rates themselves come with the optimizers. */
int axle__apply_schedulers(axle__restore *restore, const json_t *value)
{
    int at = 0;
    axle_object *object;
    for (size_t k = 0;
         (object = axle__next_prepared(restore->accelerator, AXLE__OBJECT_SCHEDULER, &at)); k++)
        ((axle_scheduler *)object)->ticks = integer_of(json_array_get(value, k), "ticks");
    return AXLE_OK;
}

/* ------------------------------------------------------------------ loaders */

static json_t *describe_loader(const axle_loader *loader)
{
    axle_loader_state s = axle_loader_get_state(loader);
    return json_pack("{s:I, s:I, s:b, s:I, s:I, s:b, s:I}", "epoch", (json_int_t)s.epoch, "samples",
                     (json_int_t)s.samples, "complete", s.complete, "length", (json_int_t)s.length,
                     "seed", (json_int_t)s.seed, "shuffle", s.shuffle, "shuffle_buffer",
                     (json_int_t)s.shuffle_buffer);
}

static axle_loader_state loader_state(const json_t *value)
{
    axle_loader_state s = AXLE_LOADER_STATE_INIT;
    s.epoch = integer_of(value, "epoch");
    s.samples = integer_of(value, "samples");
    s.complete = json_is_true(json_object_get(value, "complete"));
    s.length = integer_of(value, "length");
    s.seed = bits_of(value, "seed");
    s.shuffle = json_is_true(json_object_get(value, "shuffle"));
    s.shuffle_buffer = integer_of(value, "shuffle_buffer");
    return s;
}

int axle__capture_loaders(axle__capture *capture, json_t **out)
{
    int at = 0, status = capture->status;
    axle_object *object;
    if (status || !capture->main)
        return status;
    *out = json_array();
    while (!status &&
           (object = axle__next_prepared(capture->accelerator, AXLE__OBJECT_LOADER, &at)))
        status = append(*out, describe_loader((axle_loader *)object));
    return status;
}

/* Loaders that only one of the two prepared are a test set's, say, of which a training that is over
 * knows and one that begins does not; but those that are there must be alike. */
static int each_loader(const axle__restore *restore, const json_t *value,
                       int (*fn)(axle_loader *loader, const axle_loader_state *state))
{
    int at = 0, status = AXLE_OK;
    axle_object *object;
    for (size_t k = 0;
         !status && k < json_array_size(value) &&
         (object = axle__next_prepared(restore->accelerator, AXLE__OBJECT_LOADER, &at));
         k++) {
        axle_loader_state state = loader_state(json_array_get(value, k));
        status = fn((axle_loader *)object, &state);
    }
    return status;
}

static int check_loader(axle_loader *loader, const axle_loader_state *state)
{
    return axle__loader_check_state(loader, state);
}

int axle__check_loaders(axle__restore *restore, const json_t *value)
{
    return each_loader(restore, value, check_loader);
}

int axle__apply_loaders(axle__restore *restore, const json_t *value)
{
    return each_loader(restore, value, axle_loader_set_state);
}

/* ------------------------------------------------------------------ random numbers */

/* Inside a loop draws begin anew with each batch; what goes on are those outside of it. */
static axle_random_state random_outside(const axle_accelerator *accelerator)
{
    axle_random_state state = axle_random_get(), outside;
    if (accelerator->loop_count > 0 &&
        axle__loader_outside(accelerator->loops[0].loader, &outside)) {
        state.draw = outside.draw;
        state.row = outside.row;
    }
    return state;
}

int axle__capture_random(axle__capture *capture, json_t **out)
{
    if (capture->status || !capture->main)
        return capture->status;
    axle_random_state s = random_outside(capture->accelerator);
    *out = json_pack("{s:I, s:I, s:I, s:I}", "seed", (json_int_t)s.seed, "update",
                     (json_int_t)s.update, "draw", (json_int_t)s.draw, "row", (json_int_t)s.row);
    return AXLE_OK;
}

int axle__check_random(axle__restore *restore, const json_t *value)
{
    return json_is_object(value)
               ? AXLE_OK
               : axle__restore_error(restore, AXLE_ERR_FORMAT, "it holds no random numbers");
}

int axle__apply_random(axle__restore *restore, const json_t *value)
{
    (void)restore;
    axle_random_set((axle_random_state){bits_of(value, "seed"), bits_of(value, "update"),
                                        bits_of(value, "draw"), integer_of(value, "row")});
    return AXLE_OK;
}
