/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints that are damaged, foreign or from the future are refused before anything changes. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tensors.h"
#include "train/folder.h"
#include "train/training.h"

static void shell(const char *format, const char *argument)
{
    char command[700];
    snprintf(command, sizeof(command), format, folder, argument);
    assert_int_equal(system(command), 0);
}

static const training_plan usual = TRAINING_PLAN;

/* A training three updates old, whose checkpoint step-00000002 is one behind. */
static void prepare(training *t)
{
    OK(training_open(&usual, t));
    OK(training_run(t, 1, 2));
    OK(axle_save_state(t->acc, in("step-00000002")));
    OK(training_run(t, 1, 1));
}

/* It is refused by that code, in words that name it, and the training is as before. */
static void refused(training *t, int code, const char *words)
{
    uint64_t before = training_sum(t);
    axle_random_state random = axle_random_get(), after;
    int status = axle_load_state(t->acc, in("step-00000002"));
    if (status != code)
        fail_msg("expected %d with '%s', got %d: %s", code, words, status, axle_error_message());
    assert_non_null(strstr(axle_error_message(), "step-00000002"));
    unit_expect_error(code, words);
    after = axle_random_get();
    assert_memory_equal(&random, &after, sizeof(random));
    assert_true(training_sum(t) == before);
    assert_int_equal(axle_optimizer_updates(t->opt), 3);
    assert_int_equal(axle_loader_position(t->loader), 3);
}

static long size_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (long)about.st_size;
}

static int flip(const char *path, long at, int bit)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ (1 << bit), file);
    assert_int_equal(fclose(file), 0);
    return byte;
}

static const char *const names[] = {"step-00000002/model.safetensors",
                                    "step-00000002/optimizer.safetensors",
                                    "step-00000002/state.json"};

/* Of state.json what is between its words may change, which changes nothing it says. */
static void flipped_bits_are_found(void **state)
{
    (void)state;
    training t;
    unsigned random = 12345;
    prepare(&t);
    for (int k = 0; k < 240; k++) {
        const char *path = in(names[k % 3]);
        random = random * 1103515245u + 12345u;
        long at = (long)((random >> 8) % (unsigned long)size_of(path));
        int bit = (int)(random >> 4) % 8, byte = flip(path, at, bit);
        int blank = byte == ' ' || byte == '\n';
        uint64_t before = training_sum(&t);
        int status = axle_load_state(t.acc, in("step-00000002"));
        if (status == AXLE_OK && !(k % 3 == 2 && (blank || byte == '0')))
            fail_msg("bit %d of byte %ld of %s, '%c', was not missed", bit, at, path, byte);
        if (status) {
            assert_true(training_sum(&t) == before);
            assert_non_null(strstr(axle_error_message(), "step-00000002"));
        } else {
            OK(training_run(&t, 1, 1));
        }
        axle_error_clear();
        flip(path, at, bit);
    }
    OK(axle_load_state(t.acc, in("step-00000002")));
    training_close(&t);
}

static void short_files_are_found(void **state)
{
    (void)state;
    training t;
    prepare(&t);
    for (int k = 0; k < 3; k++) {
        long size = size_of(in(names[k]));
        shell("cp -r '%s/step-00000002' '%s'", in("kept"));
        assert_int_equal(truncate(in(names[k]), size - 1), 0);
        refused(&t, AXLE_ERR_FORMAT, k < 2 ? "its size is" : "state.json");
        assert_int_equal(truncate(in(names[k]), 0), 0);
        refused(&t, AXLE_ERR_FORMAT, k < 2 ? "its size is 0" : "state.json");
        unlink(in(names[k]));
        refused(&t, AXLE_ERR_NOT_FOUND, "No such file");
        shell("cd '%s' && rm -r step-00000002 && mv %s step-00000002", "kept");
    }
    training_close(&t);
}

static void damaged_ones_are_passed_over(void **state)
{
    (void)state;
    training t;
    char *latest;
    prepare(&t);
    OK(axle_save_state(t.acc, in("step-00000003")));
    flip(in("step-00000003/model.safetensors"), 200, 3);
    OK(axle_latest_checkpoint(folder, &latest));
    assert_string_equal(latest, in("step-00000002"));
    axle_free(latest);
    OK(axle_load_state(t.acc, folder));
    assert_int_equal(axle_optimizer_updates(t.opt), 2);
    flip(in("step-00000002/model.safetensors"), 200, 3);
    assert_int_equal(axle_load_state(t.acc, folder), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "no valid checkpoint");
    training_close(&t);
}

static void the_future_is_named(void **state)
{
    (void)state;
    training t;
    prepare(&t);
    shell("sed -i 's/\"version\": 1/\"version\": 2/' '%s/step-00000002/state.json'%s", "");
    refused(&t, AXLE_ERR_UNSUPPORTED, "version 2 of the format");
    shell("echo '{\"format\": \"other\"}' >'%s/step-00000002/state.json'%s", "");
    refused(&t, AXLE_ERR_FORMAT, "not that of a checkpoint");
    training_close(&t);
}

/* A checkpoint of another program. */
static void expect_foreign(const training_plan *p, int code, const char *words)
{
    training t, other;
    OK(training_open(p, &other));
    OK(axle_save_state(other.acc, in("step-00000002")));
    training_close(&other);
    OK(training_open(&usual, &t));
    OK(training_run(&t, 1, 3));
    refused(&t, code, words);
    training_close(&t);
}

static void foreign_ones_are_refused(void **state)
{
    (void)state;
    training_plan p = usual;
    p.width = 6;
    expect_foreign(&p, AXLE_ERR_SHAPE, "0.weight");
    p = usual;
    p.norm = 0;
    expect_foreign(&p, AXLE_ERR_NOT_FOUND, "tensor");
}

static void another_optimizer_is_refused(void **state)
{
    (void)state;
    training t;
    axle_optimizer *sgd;
    axle_accelerator *acc;
    axle_accelerator_options o = AXLE_ACCELERATOR_OPTIONS_INIT;
    prepare(&t);
    o.backend = "reference";
    o.quiet = 1;
    OK(axle_accelerator_create(&o, &acc));
    OK(axle_sgd_create(t.net, NULL, &sgd));
    OK(axle_prepare(acc, t.net, sgd));
    assert_int_equal(axle_load_state(acc, in("step-00000002")), AXLE_ERR_NOT_FOUND);
    unit_expect_error(AXLE_ERR_NOT_FOUND, "optimizer 0 is adamw with 2 moments, the program's sgd");
    axle_accelerator_release(acc);
    axle_optimizer_release(sgd);
    training_close(&t);
}

/* ------------------------------------------------------------------ models alone */

static void expect_loaded(const training *from, training *to, const char *path)
{
    OK(axle_load_model(to->acc, to->net, path));
    assert_true(training_sum(from) == training_sum(to));
    OK(training_run(to, 1, 1));
}

static void models_come_in_pieces(void **state)
{
    (void)state;
    training t, u;
    axle_model_file_options o = AXLE_MODEL_FILE_OPTIONS_INIT;
    OK(training_open(&usual, &t));
    OK(training_run(&t, 1, 3));
    OK(training_open(&usual, &u));
    OK(axle_save_model(t.acc, t.net, in("model"), NULL));
    assert_int_equal(access(in("model/model.safetensors"), F_OK), 0);
    expect_loaded(&t, &u, in("model"));
    o.shard_size = 150;
    OK(axle_save_model(t.acc, t.net, in("model"), &o));
    assert_int_not_equal(access(in("model/model.safetensors"), F_OK), 0);
    assert_int_equal(access(in("model/model-00002-of-00004.safetensors"), F_OK), 0);
    expect_loaded(&t, &u, in("model"));
    expect_loaded(&t, &u, in("model/model.safetensors.index.json"));
    assert_int_equal(axle_save_model(t.acc, t.loader, in("model"), NULL), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "no model");
    training_close(&u);
    training_close(&t);
}

/* A training whose model is in four files. */
static void open_saved(training *t)
{
    axle_model_file_options o = AXLE_MODEL_FILE_OPTIONS_INIT;
    o.shard_size = 150;
    OK(training_open(&usual, t));
    OK(axle_save_model(t->acc, t->net, in("model"), &o));
}

/* An index whose map is changed by a command of sed. */
static void expect_bad_index(training *t, const char *change, int code, const char *words)
{
    uint64_t before = training_sum(t);
    shell("cp -r '%s/model' '%s'", in("bad"));
    shell("cd '%s/bad' && sed -i '%s' model.safetensors.index.json", change);
    int status = axle_load_model(t->acc, t->net, in("bad"));
    if (status != code)
        fail_msg("%s: %d, %s", change, status, axle_error_message());
    unit_expect_error(code, words);
    assert_true(training_sum(t) == before);
    shell("rm -r '%s/bad'%s", "");
}

static void an_index_is_not_believed(void **state)
{
    (void)state;
    training t;
    open_saved(&t);
    OK(training_run(&t, 1, 1));
    static const char *const outside[] = {"../x.safetensors", "/etc/hostname",
                                          "a/../../b.safetensors", ".safetensors"};
    for (int k = 0; k < 4; k++) {
        char change[200];
        snprintf(change, sizeof(change), "s|model-00001-of-00004.safetensors|%s|", outside[k]);
        expect_bad_index(&t, change, AXLE_ERR_FORMAT, "cannot be called");
    }
    expect_bad_index(&t, "s/model-00001/missing-00001/", AXLE_ERR_NOT_FOUND, "missing-00001");
    expect_bad_index(&t, "s/model-00001/model-00002/", AXLE_ERR_FORMAT,
                     "is not in the file that it names");
    expect_bad_index(&t, "s/weight_map/weights/", AXLE_ERR_FORMAT, "weight_map");
    shell("mv '%s/model/model-00001-of-00004.safetensors' '%s'", in("out.safetensors"));
    assert_int_equal(symlink("../out.safetensors", in("model/model-00001-of-00004.safetensors")),
                     0);
    expect_bad_index(&t, "", AXLE_ERR_FORMAT, "cannot be called");
    training_close(&t);
}

/* Load a model of two files in `folder` whose first is a link to `target`. */
static void expect_link(training *t, const char *folder, const char *target, int code)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/model-00001-of-00004.safetensors", folder);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
    int status = axle_load_model(t->acc, t->net, folder);
    if (status != code)
        fail_msg("%s: %d, %s", target, status, axle_error_message());
    if (code)
        unit_expect_error(code, "cannot be called");
}

/* As the library of Hugging Face keeps them: what a commit has are links to blobs. */
static void links_within_a_cache_are_followed(void **state)
{
    (void)state;
    training t;
    open_saved(&t);
    shell("cd '%s' && mkdir -p hub/blobs hub/models--a--b/snapshots hub/models--a--b/blobs "
          "hub/models--other/blobs && cp -r model hub/models--a--b/snapshots/c%s",
          "");
    char first[] = "model-00001-of-00004.safetensors", to[300];
    snprintf(to, sizeof(to), "hub/models--a--b/snapshots/c/%s", first);
    static const char *const places[] = {"hub/blobs/x", "hub/models--a--b/blobs/x",
                                         "hub/models--other/blobs/x", "hub/x", "x"};
    for (int k = 0; k < 5; k++)
        assert_int_equal(link(in(to), in(places[k])), 0);
    char folder[300];
    snprintf(folder, sizeof(folder), "%s", in("hub/models--a--b/snapshots/c"));
    expect_link(&t, folder, "../../blobs/x", AXLE_OK);
    expect_link(&t, folder, "../../../blobs/x", AXLE_OK);
    expect_link(&t, folder, "../../../models--other/blobs/x", AXLE_ERR_FORMAT);
    expect_link(&t, folder, "../../../x", AXLE_ERR_FORMAT);
    expect_link(&t, folder, "../../../../x", AXLE_ERR_FORMAT);
    training_close(&t);
}

static const struct CMUnitTest tests[] = {
    CHECKPOINT("a bit that is flipped anywhere is found", flipped_bits_are_found),
    CHECKPOINT("files that are too short or missing are found", short_files_are_found),
    CHECKPOINT("damaged checkpoints are passed over", damaged_ones_are_passed_over),
    CHECKPOINT("a version from the future is named", the_future_is_named),
    CHECKPOINT("checkpoints of another model are refused", foreign_ones_are_refused),
    CHECKPOINT("those of another optimizer, too", another_optimizer_is_refused),
    CHECKPOINT("models come in one file or in several", models_come_in_pieces),
    CHECKPOINT("an index of several files is not believed", an_index_is_not_believed),
    CHECKPOINT("links within a cache of models are followed", links_within_a_cache_are_followed),
};

UNIT_MAIN(tests)
