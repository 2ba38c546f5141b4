/* SPDX-License-Identifier: Apache-2.0 */
/* What trackers write, read back with nothing of theirs. */
#define _GNU_SOURCE 1
#include "config.h"

#include "unit.h"

#include <ftw.h>
#include <jansson.h>
#include <math.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/axle.h"
#include "axle/track.h"
#include "events.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/axle-track.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static axle_tracker *open_run(const char *kinds, int64_t resume_step)
{
    axle_tracker *tracker;
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    options.directory = folder;
    options.kinds = kinds;
    options.resume_step = resume_step;
    if (axle_tracker_create(NULL, &options, &tracker))
        fail_msg("%s", axle_error_message());
    return tracker;
}

static void log_loss(axle_tracker *tracker, int64_t step, double loss)
{
    assert_int_equal(axle_tracker_log(tracker, step, AXLE_METRICS({"loss", loss})), AXLE_OK);
}

/* The whole of a file of the folder, for free(). */
static char *text_of(const char *name)
{
    char path[256], *text = calloc(1, 1 << 16);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static void append_to(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

/* The n-th line of a text as JSON. */
static json_t *line_of(const char *text, int n)
{
    for (; n > 0 && text; n--)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    assert_non_null(text);
    json_t *object = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(object);
    return object;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* ------------------------------------------------------------------ JSON lines and CSV */

static void writes_numbers(void **state)
{
    (void)state;
    axle_tracker *tracker = open_run("jsonl,csv", -1);
    assert_int_equal(
        axle_tracker_log(tracker, 7,
                         AXLE_METRICS({"train/loss", 0.1}, {"größe \"x\",", -3e-300}, {"nan", NAN},
                                      {"up", INFINITY}, {"down", -INFINITY})),
        AXLE_OK);
    /* The lines are there before the tracker is closed. */
    char *lines = text_of("metrics.jsonl"), *rows = text_of("metrics.csv");
    json_t *line = line_of(lines, 0);
    assert_int_equal(json_integer_value(json_object_get(line, "step")), 7);
    assert_true(json_real_value(json_object_get(line, "time")) > 1.7e9);
    assert_true(json_real_value(json_object_get(line, "train/loss")) == 0.1);
    assert_true(json_real_value(json_object_get(line, "größe \"x\",")) == -3e-300);
    assert_string_equal(json_string_value(json_object_get(line, "nan")), "NaN");
    assert_string_equal(json_string_value(json_object_get(line, "up")), "Infinity");
    assert_string_equal(json_string_value(json_object_get(line, "down")), "-Infinity");
    assert_non_null(strstr(lines, "\"train/loss\": 0.1,"));
    assert_int_equal(strncmp(rows, "step,time,name,value\n7,", 23), 0);
    assert_non_null(strstr(rows, ",train/loss,0.1\n"));
    assert_non_null(strstr(rows, ",\"größe \"\"x\"\",\",-3e-300\n"));
    assert_non_null(strstr(rows, ",nan,NaN\n"));
    assert_non_null(strstr(rows, ",up,inf\n"));
    assert_non_null(strstr(rows, ",down,-inf\n"));
    json_decref(line);
    free(lines);
    free(rows);
    axle_tracker_release(tracker);
}

static void expect_steps(const char *text, const int64_t *steps, int count)
{
    assert_int_equal(count_lines(text), count);
    for (int k = 0; k < count; k++) {
        json_t *line = line_of(text, k);
        assert_int_equal(json_integer_value(json_object_get(line, "step")), steps[k]);
        json_decref(line);
    }
}

/* Steps 1 to 5, a line that a killed run left behind, and again from step 3. */
static void resumes(void **state)
{
    (void)state;
    axle_tracker *tracker = open_run("jsonl,csv", -1);
    for (int step = 1; step <= 5; step++)
        log_loss(tracker, step, step);
    axle_tracker_release(tracker);
    append_to("metrics.jsonl", "{\"step\": 2, \"ti");
    append_to("metrics.csv", "2,17");
    tracker = open_run("jsonl,csv", 3);
    log_loss(tracker, 4, 40);
    axle_tracker_release(tracker);
    char *lines = text_of("metrics.jsonl"), *rows = text_of("metrics.csv");
    expect_steps(lines, (const int64_t[]){1, 2, 3, 4}, 4);
    assert_int_equal(count_lines(rows), 5);
    assert_non_null(strstr(rows, "\n4,"));
    assert_non_null(strstr(rows, ",loss,40\n"));
    assert_null(strstr(rows, ",loss,5\n"));
    assert_null(strstr(rows, ",loss,4\n"));
    free(lines);
    free(rows);
}

static void starts_anew(void **state)
{
    (void)state;
    axle_tracker *tracker = open_run("jsonl,csv", -1);
    log_loss(tracker, 9, 1.0);
    axle_tracker_release(tracker);
    tracker = open_run("jsonl,csv", -1);
    log_loss(tracker, 1, 2.0);
    axle_tracker_release(tracker);
    char *lines = text_of("metrics.jsonl"), *rows = text_of("metrics.csv");
    expect_steps(lines, (const int64_t[]){1}, 1);
    assert_int_equal(count_lines(rows), 2);
    free(lines);
    free(rows);
}

/* A file that may not grow stands for a full disk. */
static void survives_full_disk(void **state)
{
    (void)state;
    struct rlimit before, limit;
    axle_tracker *tracker = open_run("jsonl", -1);
    log_loss(tracker, 1, 1.0);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 60;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = axle_tracker_log(tracker, 2, AXLE_METRICS({"loss", 1.0}));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, AXLE_ERR_IO);
    unit_expect_error(AXLE_ERR_IO, "metrics.jsonl");
    log_loss(tracker, 3, 1.0);
    axle_tracker_release(tracker);
    char *lines = text_of("metrics.jsonl");
    expect_steps(lines, (const int64_t[]){1, 3}, 2);
    free(lines);
}

/* ------------------------------------------------------------------ hyper-parameters, pictures */

static void stores_config(void **state)
{
    (void)state;
    axle_tracker *tracker = open_run("csv", -1);
    assert_int_equal(axle_tracker_config(tracker, "{\"lr\": 0.5, \"net\": {\"width\": 8}}"), 0);
    char *text = text_of("config.json");
    json_t *config = json_loads(text, 0, NULL);
    assert_true(json_real_value(json_object_get(config, "lr")) == 0.5);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(config, "net"), "width")),
                     8);
    json_decref(config);
    free(text);
    assert_int_equal(axle_tracker_config(tracker, "[1]"), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no JSON object");
    assert_int_equal(axle_tracker_config(tracker, "{\"lr\": }"), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no JSON object: ");
    axle_tracker_release(tracker);
}

#ifdef HAVE_LIBPNG

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Five pictures of 3 x 4 (W x H) stand in three columns and two rows, with two lines between. */
static void writes_pictures(void **state)
{
    (void)state;
    struct stat status;
    char path[256];
    axle_tracker *tracker = open_run("jsonl", -1);
    assert_int_equal(axle_scope_push(), AXLE_OK);
    axle_tensor *five = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(5, 3, 4, 3), 0.5);
    assert_int_equal(axle_tracker_log_image(tracker, 12, "../fake/é", five), AXLE_OK);
    char *png = text_of("images/%2E.%2Ffake%2Fé/00000012.png");
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(big_endian((unsigned char *)png + 16), 3 * 3 + 2 * 2);
    assert_int_equal(big_endian((unsigned char *)png + 20), 2 * 4 + 2);
    assert_int_equal(png[24], 8);
    assert_int_equal(png[25], 2); /* RGB */
    free(png);
    axle_tensor *grey = axle_full(AXLE_DTYPE_U8, AXLE_DIMS(6, 7), 200);
    snprintf(path, sizeof(path), "%s/grey.png", folder);
    assert_int_equal(axle_image_save(grey, path), AXLE_OK);
    assert_int_equal(stat(path, &status), 0);
    axle_tensor *two = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(2, 6, 7), 0.0);
    assert_int_equal(axle_image_save(two, path), AXLE_ERR_SHAPE);
    unit_expect_error(AXLE_ERR_SHAPE, "1 or 3 channels, not 2");
    axle_scope_pop();
    axle_tracker_release(tracker);
}

#endif

/* ------------------------------------------------------------------ a tracker of one's own */

typedef struct heard {
    int configs, metrics, answer;
    int64_t step;
    double sum;
} heard;

static int hear(const axle_tracker_event *event, void *user)
{
    heard *to = user;
    to->configs += event->config && strcmp(event->config, "{\"a\":1}") == 0;
    to->metrics += event->metric_count;
    to->step = event->step;
    for (int k = 0; k < event->metric_count; k++)
        to->sum += event->metrics[k].value;
    return to->answer;
}

static void calls_back(void **state)
{
    (void)state;
    heard heard = {0};
    axle_tracker *tracker;
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    options.callback = hear;
    options.user = &heard;
    assert_int_equal(axle_tracker_create(NULL, &options, &tracker), AXLE_OK);
    assert_int_equal(axle_tracker_config(tracker, "{\"a\": 1}"), AXLE_OK);
    assert_int_equal(axle_tracker_log_mean(tracker, 5, 1.0, AXLE_METRICS({"a", 1.5}, {"b", 2.0})),
                     AXLE_OK);
    assert_int_equal(heard.configs, 1);
    assert_int_equal(heard.metrics, 2);
    assert_int_equal(heard.step, 5);
    assert_true(heard.sum == 3.5);
    heard.answer = AXLE_ERR_INTERRUPTED;
    assert_int_equal(axle_tracker_log(tracker, 6, AXLE_METRICS({"a", 1.0})), AXLE_ERR_INTERRUPTED);
    assert_int_equal(axle_tracker_finish(tracker), AXLE_OK);
    axle_tracker_release(tracker);
}

/* ------------------------------------------------------------------ refusals */

static void expect_refused(axle_tracker *tracker, int64_t step, const char *name, const char *part)
{
    assert_int_equal(axle_tracker_log(tracker, step, AXLE_METRICS({name, 1.0})), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, part);
}

static void refuses(void **state)
{
    (void)state;
    axle_tracker *tracker = open_run("jsonl", -1), *none = NULL;
    expect_refused(tracker, -1, "loss", "step -1");
    expect_refused(tracker, 0, "", "no name");
    expect_refused(tracker, 0, NULL, "no name");
    expect_refused(tracker, 0, "step", "'step'");
    expect_refused(tracker, 0, "a\xff", "UTF-8");
    expect_refused(tracker, 0, "a\nb", "UTF-8");
    expect_refused(NULL, 0, "loss", "NULL");
    assert_int_equal(axle_tracker_log(tracker, 0, AXLE_METRICS({"a", 1.0}, {"a", 2.0})),
                     AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "'a' is logged twice");
    axle_tracker_release(tracker);
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    options.directory = folder;
    options.kinds = "csv,tensorbored";
    assert_int_equal(axle_tracker_create(NULL, &options, &none), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "'tensorbored'");
    options.kinds = "csv";
    options.directory = "/proc/none";
    assert_int_equal(axle_tracker_create(NULL, &options, &none), AXLE_ERR_IO);
    unit_expect_error(AXLE_ERR_IO, "/proc/none");
    assert_null(none);
}

/* ------------------------------------------------------------------ TensorBoard */

#ifdef WITH_PROTOBUF_C

static void read_events(int nth, event_file *out)
{
    const char *problem = events_read(folder, nth, out);
    if (problem)
        fail_msg("%s", problem);
}

static void expect_scalar(const event_value *value, int64_t step, const char *tag, float expected)
{
    assert_int_equal(value->kind, 's');
    assert_int_equal(value->step, step);
    assert_string_equal(value->tag, tag);
    assert_true(value->value == expected || (isnan(expected) && isnan(value->value)));
    assert_true(value->wall_time > 1.7e9);
}

static void writes_events(void **state)
{
    (void)state;
    event_file file;
    axle_tracker *tracker = open_run("tensorboard", -1);
    assert_int_equal(axle_tracker_config(tracker, "{\"net\": {\"width\": 8}, \"name\": \"né\"}"),
                     0);
    assert_int_equal(axle_tracker_log(tracker, 3000000000,
                                      AXLE_METRICS({"train/loss", 0.1}, {"größe", 0.0},
                                                   {"nan", NAN}, {"up", INFINITY})),
                     AXLE_OK);
    read_events(0, &file);
    assert_int_equal(file.count, 6);
    assert_int_equal(file.cut, 0);
    assert_int_equal(file.values[0].kind, 'v');
    assert_string_equal(file.values[0].tag, "brain.Event:2");
    assert_string_equal(file.values[1].tag, "_hparams_/session_start_info");
    assert_non_null(memmem(file.values[1].bytes, file.values[1].size, "net.width", 9));
    assert_non_null(memmem(file.values[1].bytes, file.values[1].size, "né", 3));
    expect_scalar(&file.values[2], 3000000000, "train/loss", 0.1F);
    expect_scalar(&file.values[3], 3000000000, "größe", 0.0F);
    expect_scalar(&file.values[4], 3000000000, "nan", NAN);
    expect_scalar(&file.values[5], 3000000000, "up", INFINITY);
    events_free(&file);
    assert_int_equal(axle_tracker_finish(tracker), AXLE_OK);
    axle_tracker_release(tracker);
    read_events(0, &file);
    assert_int_equal(file.count, 7);
    assert_string_equal(file.values[6].tag, "_hparams_/session_end_info");
    events_free(&file);
}

/* A second file, which is read after the first although both are of the same second. */
static void resumes_events(void **state)
{
    (void)state;
    event_file file;
    axle_tracker *tracker = open_run("tensorboard", -1);
    log_loss(tracker, 1, 1.0);
    log_loss(tracker, 2, 2.0);
    axle_tracker_release(tracker);
    tracker = open_run("tensorboard", 1);
    log_loss(tracker, 2, 20.0);
    axle_tracker_release(tracker);
    read_events(0, &file);
    assert_int_equal(file.count, 3);
    events_free(&file);
    read_events(1, &file);
    assert_int_equal(file.count, 3);
    assert_int_equal(file.values[1].kind, 'r');
    assert_int_equal(file.values[1].step, 2);
    expect_scalar(&file.values[2], 2, "loss", 20.0F);
    events_free(&file);
}

#ifdef HAVE_LIBPNG

static void writes_picture_events(void **state)
{
    (void)state;
    event_file file;
    axle_tracker *tracker = open_run("tensorboard", -1);
    assert_int_equal(axle_scope_push(), AXLE_OK);
    axle_tensor *image = axle_full(AXLE_DTYPE_F32, AXLE_DIMS(5, 9), 0.25);
    assert_int_equal(axle_tracker_log_image(tracker, 4, "samples", image), AXLE_OK);
    axle_scope_pop();
    axle_tracker_release(tracker);
    read_events(0, &file);
    assert_int_equal(file.count, 2);
    assert_int_equal(file.values[1].kind, 'i');
    assert_string_equal(file.values[1].tag, "samples");
    assert_memory_equal(file.values[1].bytes, "\x89PNG\r\n\x1a\n", 8);
    events_free(&file);
}

#endif
#else

static void names_missing_part(void **state)
{
    (void)state;
    axle_tracker *none;
    axle_tracker_options options = AXLE_TRACKER_OPTIONS_INIT;
    options.directory = folder;
    options.kinds = "tensorboard";
    assert_int_equal(axle_tracker_create(NULL, &options, &none), AXLE_ERR_UNSUPPORTED);
    unit_expect_error(AXLE_ERR_UNSUPPORTED, "--with-protobuf-c");
}

#endif

#define IN_FOLDER(sentence, function)                                                              \
    {                                                                                              \
        sentence, function, make_folder, remove_folder, NULL                                       \
    }

static const struct CMUnitTest tests[] = {
    IN_FOLDER("numbers, also those that are none, are in JSON lines and CSV at once",
              writes_numbers),
    IN_FOLDER("a resumed run has each step once, and no line that was not finished", resumes),
    IN_FOLDER("a new run replaces the files of an older one", starts_anew),
    IN_FOLDER("a disk that was full leaves whole lines, and tracking goes on", survives_full_disk),
    IN_FOLDER("hyper-parameters are stored, and must be an object", stores_config),
    IN_FOLDER("a tracker of one's own hears everything, and may end it", calls_back),
    IN_FOLDER("what cannot be logged is refused with its reason", refuses),
#ifdef HAVE_LIBPNG
    IN_FOLDER("pictures are PNG files in the run's folder, several in a grid", writes_pictures),
#endif
#ifdef WITH_PROTOBUF_C
    IN_FOLDER("event files have names, steps and values, and whole records", writes_events),
    IN_FOLDER("a resumed run says which steps to forget, in a later file", resumes_events),
#ifdef HAVE_LIBPNG
    IN_FOLDER("pictures are in event files", writes_picture_events),
#endif
#else
    IN_FOLDER("a build without protobuf-c says so", names_missing_part),
#endif
};

UNIT_MAIN(tests)
