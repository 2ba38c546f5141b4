/* SPDX-License-Identifier: Apache-2.0 */
/* A tracker of the user's own. */
#include <stdlib.h>

#include "sink.h"

typedef struct callback {
    sink base;
    axle_tracker_fn fn;
    void *user;
} callback;

static int tell(sink *self, axle_tracker_event event)
{
    const callback *to = (const callback *)self;
    event.struct_size = sizeof(event);
    return to->fn(&event, to->user);
}

static void callback_release(sink *self)
{
    free(self);
}

static int callback_open(const sink_setup *setup, sink **out)
{
    callback *self = calloc(1, sizeof(*self));
    if (!self)
        return sink_no_memory();
    self->base.class = &callback_sink;
    self->fn = setup->callback;
    self->user = setup->user;
    *out = &self->base;
    return AXLE_OK;
}

static int callback_config(sink *self, const json_t *config, double time)
{
    char *text = json_dumps(config, JSON_COMPACT);
    if (!text)
        return sink_no_memory();
    int code = tell(self, (axle_tracker_event){.time = time, .config = text});
    free(text);
    return code;
}

static int callback_metrics(sink *self, const sink_metrics *metrics)
{
    return tell(self, (axle_tracker_event){.step = metrics->step,
                                           .time = metrics->time,
                                           .metrics = metrics->metrics,
                                           .metric_count = metrics->count});
}

static int callback_picture(sink *self, const sink_picture *picture)
{
    return tell(self, (axle_tracker_event){.step = picture->step,
                                           .time = picture->time,
                                           .image = picture->name,
                                           .png = picture->image->png,
                                           .png_size = picture->image->png_size});
}

const sink_class callback_sink = {
    .open = callback_open,
    .config = callback_config,
    .metrics = callback_metrics,
    .picture = callback_picture,
    .release = callback_release,
};
