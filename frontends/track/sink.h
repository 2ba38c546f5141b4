/* SPDX-License-Identifier: Apache-2.0 */
/* Where a tracker's records go: one file a kind, behind one table of functions. */
#ifndef AXLE_TRACK_SINK_H
#define AXLE_TRACK_SINK_H

#include <jansson.h>

#include "axle/track.h"
#include "image.h"

/* What the main process opens its sinks with. */
typedef struct sink_setup {
    const char *folder;
    int64_t resume_step; /* -1: a new run */
    axle_tracker_fn callback;
    void *user;
} sink_setup;

typedef struct sink_metrics {
    int64_t step;
    double time; /* seconds since 1970 */
    const axle_metric *metrics;
    int count;
} sink_metrics;

typedef struct sink_picture {
    int64_t step;
    double time;
    const char *name;
    const image *image;
} sink_picture;

typedef struct sink sink;

/* Functions return AXLE_OK or record an error and return its code. An absent one does nothing. */
typedef struct sink_class {
    const char *name; /* of the kind; NULL for what is no kind to choose */
    int (*open)(const sink_setup *setup, sink **out);
    int (*config)(sink *self, const json_t *config, double time);
    int (*metrics)(sink *self, const sink_metrics *metrics);
    int (*picture)(sink *self, const sink_picture *picture);
    int (*finish)(sink *self, int whole, double time);
    void (*release)(sink *self);
} sink_class;

/* What each sink begins with. */
struct sink {
    const sink_class *class;
};

extern const sink_class callback_sink, csv_sink, files_sink, jsonl_sink, tensorboard_sink;

static inline int sink_no_memory(void)
{
    return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
}

#endif
