/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track.h
 * Trackers: a record of a training run for people and tools (libaxle-track).
 *
 *     axle_tracker *tracker;
 *     axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
 *     options.directory = "runs/first";
 *     options.kinds = "jsonl,tensorboard";
 *     axle_tracker_create(acc, &options, &tracker);
 *     axle_tracker_config(tracker, "{\"lr\": 0.1, \"batch\": 64}");
 *     ...
 *     axle_tracker_log(tracker, update, AXLE_METRICS({"loss", loss}, {"lr", lr}));
 *     ...
 *     axle_tracker_finish(tracker);
 *     axle_tracker_release(tracker);
 *
 * Only the main process writes; on the others these functions do nothing, so the loop's text is the
 * same. What is written in the folder depends on the kinds:
 *
 *   jsonl        metrics.jsonl: an object a line, {"step": 3, "time": 1764535000.25, "loss": 0.5}.
 *                JSON has no number for NaN and the infinities: they are the strings "NaN",
 *                "Infinity" and "-Infinity", as in the JSON mapping of protocol buffers, which
 *                Python's float(), JavaScript's Number() and pandas.to_numeric() take.
 *   csv          metrics.csv: step,time,name,value, a line a value, so that names may come and go.
 *                There they are NaN, inf and -inf, as pandas and R read them.
 *   tensorboard  events.out.tfevents.*: scalars (in f32), pictures and hyper-parameters for
 *                TensorBoard.
 *
 * Hyper-parameters are in config.json and pictures in images/NAME/STEP.png whatever the kinds. In
 * that path all of a name but letters, digits, '-', '_', inner points and what is not ASCII is
 * percent-encoded.
 *
 * Every call writes its lines at once and whole, so a run that is killed leaves files that can be
 * read. Not thread-safe: one thread uses a tracker.
 */
#ifndef AXLE_TRACK_H
#define AXLE_TRACK_H

#include "axle/accelerator.h"
#include "axle/status.h"

AXLE_BEGIN_DECLS

typedef struct axle_tracker axle_tracker;

/** A number with a name: UTF-8, not empty, and neither "step" nor "time". Slashes make groups. */
typedef struct axle_metric {
    const char *name;
    double value;
} axle_metric;

/** Two arguments, values and their number, from a list of {name, value}. */
#define AXLE_METRICS(...)                                                                          \
    (const axle_metric[]){__VA_ARGS__},                                                            \
        (int)(sizeof((const axle_metric[]){__VA_ARGS__}) / sizeof(axle_metric))

/** What a tracker of one's own is told; what it is not about is NULL or 0. Borrowed. */
typedef struct axle_tracker_event {
    size_t struct_size;
    int64_t step;
    double time;        /**< seconds since 1970 */
    const char *config; /**< hyper-parameters, as a JSON object */
    const axle_metric *metrics;
    int metric_count;
    const char *image; /**< name of a picture */
    const void *png;   /**< the picture as a PNG file */
    size_t png_size;
} axle_tracker_event;

/** @return AXLE_OK, or a code that the call which logged then returns. */
typedef int (*axle_tracker_fn)(const axle_tracker_event *event, void *user);

/** Starts from AXLE_TRACKER_OPTIONS_INIT. */
typedef struct axle_tracker_options {
    size_t struct_size;
    const char *directory; /**< made if needed; NULL: no files, the callback alone */
    const char *kinds;     /**< names from axle_tracker_kinds(), separated by commas */
    const char *run;       /**< name of the run, a folder in @c directory; NULL: that itself */
    /** The step that a resumed run goes on from: lines up to it stay, later ones are removed, and
     * new ones follow. -1: a new run, whose files replace those of an older one. In both cases
     * event files stay, and say from which step on TensorBoard is to forget the older ones. */
    int64_t resume_step;
    axle_tracker_fn callback; /**< a tracker of one's own; NULL */
    void *user;
} axle_tracker_options;
#define AXLE_TRACKER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(axle_tracker_options), NULL, "jsonl", NULL, -1, NULL, NULL                          \
    }

/** Names of the kinds, NULL-terminated, also of those that this build lacks. */
AXLE_API const char *const *axle_tracker_kinds(void);

/**
 * Open a tracker.
 * @param accelerator  tells which process is the main one; NULL: this one is. Borrowed, and used
 *                     until the tracker is released.
 * @return AXLE_OK; AXLE_ERR_NOT_FOUND for an unknown kind, naming what there is,
 *         AXLE_ERR_UNSUPPORTED for one that this build lacks, AXLE_ERR_IO, AXLE_ERR_INVALID,
 *         AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tracker_create(axle_accelerator *accelerator, const axle_tracker_options *options,
                                 axle_tracker **out);

/** Store hyper-parameters. @param json  a JSON object; in TensorBoard names of nested ones are
 * joined by points. @return AXLE_OK, AXLE_ERR_INVALID, AXLE_ERR_IO, AXLE_ERR_NOMEM. */
AXLE_API int axle_tracker_config(axle_tracker *tracker, const char *json);

/**
 * Log numbers of a step, any of them NaN or infinite.
 * @param step     from 0; may be logged in several calls with different names.
 * @param metrics  @p count of them, with different names.
 * @return AXLE_OK, AXLE_ERR_INVALID, AXLE_ERR_IO (nothing of the call is then in that file),
 *         AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tracker_log(axle_tracker *tracker, int64_t step, const axle_metric *metrics,
                              int count);

/** The same for means over all processes, sum(weight * value) / sum(weight): a collective, so each
 * process calls it with the same names. A process of weight 0 has no part in them. */
AXLE_API int axle_tracker_log_mean(axle_tracker *tracker, int64_t step, double weight,
                                   const axle_metric *metrics, int count);

/**
 * Log a picture.
 * @param image  (H, W), (C, H, W) or (N, C, H, W), where C is 1 or 3: in u8, or numbers in [0, 1],
 *               which are clamped. N pictures become one, in rows of about sqrt(N). Borrowed.
 * @return AXLE_OK; AXLE_ERR_SHAPE; AXLE_ERR_UNSUPPORTED in a build without libpng,
 * AXLE_ERR_INVALID, AXLE_ERR_IO, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tracker_log_image(axle_tracker *tracker, int64_t step, const char *name,
                                    const axle_tensor *image);

/** Write that the run came to its end. */
AXLE_API int axle_tracker_finish(axle_tracker *tracker);
/** Close the files; a run that was not finished counts as one that failed. NULL is fine. */
AXLE_API void axle_tracker_release(axle_tracker *tracker);

/** Write a picture, as in axle_tracker_log_image(), to a PNG file. Any process. */
AXLE_API int axle_image_save(const axle_tensor *image, const char *path);

AXLE_END_DECLS

#endif
