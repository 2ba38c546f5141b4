/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run without training, for the tests of trackers:
 *
 *     write_run DIR LAST [RESUME_STEP [forever]]
 *
 * Logs the steps up to LAST, from the one behind RESUME_STEP where that is not -1, and means over
 * the processes of ranks that are weighted by rank + 1. With `forever` it does not end by itself.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "axle/axle.h"
#include "axle/track.h"

static int log_step(axle_accelerator *acc, axle_tracker *tracker, int64_t step)
{
    double rank = axle_process_index(acc);
    int code = axle_tracker_log(tracker, step,
                                AXLE_METRICS({"train/loss", 1.0 / (double)(step + 1)},
                                             {"größe", (double)step}, {"nan", NAN},
                                             {"infinite", step % 2 ? INFINITY : -INFINITY}));
    if (!code)
        code = axle_tracker_log_mean(tracker, step, rank + 1.0, AXLE_METRICS({"mean rank", rank}));
    return code;
}

static int log_picture(axle_tracker *tracker, int64_t step)
{
    int code = axle_scope_push();
    if (code)
        return code;
    code = axle_tracker_log_image(tracker, step, "samples",
                                  axle_rand(AXLE_DTYPE_F32, AXLE_DIMS(4, 3, 8, 8)));
    axle_scope_pop();
    return code;
}

static int run(axle_accelerator *acc, axle_tracker *tracker, int64_t first, int64_t last)
{
    int code = axle_tracker_config(tracker, "{\"lr\": 0.1, \"net\": {\"width\": 8, \"kind\": "
                                            "\"lenet\"}, \"deep\": true}");
    for (int64_t step = first; step <= last && !code; step++)
        code = log_step(acc, tracker, step);
    return code;
}

int main(int argc, char **argv)
{
    axle_accelerator *acc = NULL;
    axle_tracker *tracker = NULL;
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    axle_accelerator_options quiet = AXLE_ACCELERATOR_OPTIONS_INIT;
    if (argc < 3)
        return EXIT_FAILURE;
    quiet.quiet = 1;
    options.directory = argv[1];
    options.kinds = getenv("KINDS") ? getenv("KINDS") : "jsonl,csv,tensorboard";
    options.resume_step = argc > 3 ? atoll(argv[3]) : -1;
    int64_t last = atoll(argv[2]);
    int code = axle_accelerator_create(&quiet, &acc);
    if (!code)
        code = axle_tracker_create(acc, &options, &tracker);
    if (!code)
        code = run(acc, tracker, options.resume_step + 1, last);
    const char *pictures = getenv("PICTURES");
    if (!code && pictures && *pictures)
        code = log_picture(tracker, last);
    for (; argc > 4 && !code; last++)
        code = log_step(acc, tracker, last + 1);
    if (!code)
        code = axle_tracker_finish(tracker);
    if (code)
        fprintf(stderr, "%s\n", axle_error_message());
    axle_tracker_release(tracker);
    axle_accelerator_release(acc);
    return code ? EXIT_FAILURE : EXIT_SUCCESS;
}
