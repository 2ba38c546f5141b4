/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "files.h"
#include "axle/device.h"
#include "axle/tensor.h"
#include "axle/text.h"

/* ------------------------------------------------------------------ an encoder
 *
 * A token for each word, whose id is its number of letters; 90 in front, 91 behind each text. */

static int64_t push(int64_t n, int64_t room, int64_t id, int64_t type, int64_t *ids, int64_t *types)
{
    if (n < room) {
        ids[n] = id;
        types[n] = type;
    }
    return n + 1;
}

static int64_t push_words(const char *text, int64_t type, int64_t n, int64_t room, int64_t *ids,
                          int64_t *types)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        n = push(n, room, (int64_t)length, type, ids, types);
        text += length;
        text += strspn(text, " ");
    }
    return push(n, room, 91, type, ids, types);
}

static int64_t encode(void *user, const char *text, const char *pair, int64_t max_length,
                      int64_t room, int64_t *ids, int64_t *types)
{
    (void)user;
    if (strcmp(text, "bad") == 0)
        return axle_error_set(AXLE_ERR_FORMAT, "this encoder does not take '%s'", text);
    int64_t n = push(0, room, 90, 0, ids, types);
    n = push_words(text, 0, n, room, ids, types);
    if (pair)
        n = push_words(pair, 1, n, room, ids, types);
    return max_length > 0 && n > max_length ? max_length : n;
}

static const axle_text_encoder encoder = {sizeof(axle_text_encoder), encode, NULL, 99};

/* ------------------------------------------------------------------ sets */

static axle_dataset *open_text(const char *name, const char *text, const axle_text_options *options)
{
    axle_dataset *set;
    return axle_text_dataset_open(files_write_text(name, text), options, &encoder, &set) ? NULL
                                                                                         : set;
}

static void holds(axle_batch *batch, const char *name, int64_t count, const int64_t *expected)
{
    axle_tensor *tensor = axle_batch_get(batch, name);
    void *data;
    assert_non_null(tensor);
    assert_int_equal(axle_tensor_count(tensor), count);
    assert_int_equal(axle_tensor_data(tensor, &data), AXLE_OK);
    assert_memory_equal(data, expected, (size_t)count * sizeof(*expected));
}

static void batches_are_padded_to_the_longest(void **state)
{
    (void)state;
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_batch *batch;
    options.label = "stars";
    axle_dataset *set =
        open_text("a.tsv", "stars\ttext\nb\tone\na\tof all these\nb\tx y\n", &options);
    assert_non_null(set);
    assert_int_equal(axle_dataset_length(set), 3);
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){2, 1}, 2, &batch), AXLE_OK);
    holds(batch, "input_ids", 10, (const int64_t[]){90, 1, 1, 91, 99, 90, 2, 3, 5, 91});
    holds(batch, "attention_mask", 10, (const int64_t[]){1, 1, 1, 1, 0, 1, 1, 1, 1, 1});
    holds(batch, "labels", 2, (const int64_t[]){1, 0});
    assert_false(axle_batch_has(batch, "token_type_ids"));
    axle_batch_release(batch);
    assert_string_equal(axle_text_label_names(set)[0], "a");
    assert_string_equal(axle_text_label_names(set)[1], "b");
    assert_null(axle_text_label_names(set)[2]);
    assert_int_equal(axle_text_label_count(set), 2);
    const char *pair = "";
    assert_string_equal(axle_text_of(set, 1, &pair), "of all these");
    assert_null(pair);
    int64_t lengths[3];
    assert_int_equal(axle_text_lengths(set, lengths), AXLE_OK);
    assert_int_equal(lengths[1], 5);
    axle_dataset_release(set);
}

static void pairs_have_types_and_rows_multiples(void **state)
{
    (void)state;
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_batch *batch;
    options.pad_to_multiple_of = 4;
    axle_dataset *set =
        open_text("b.jsonl",
                  "{\"sentence1\": \"a bb\", \"sentence2\": \"ccc\", \"label\": 10}\n"
                  "{\"sentence1\": \"a\", \"sentence2\": \"b\", \"label\": 9}\n",
                  &options);
    assert_non_null(set);
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){0, 1}, 2, &batch), AXLE_OK);
    holds(batch, "input_ids", 16,
          (const int64_t[]){90, 1, 2, 91, 3, 91, 99, 99, 90, 1, 91, 1, 91, 99, 99, 99});
    holds(batch, "token_type_ids", 16,
          (const int64_t[]){0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0});
    holds(batch, "labels", 2, (const int64_t[]){1, 0}); /* 9 is less than 10 */
    axle_batch_release(batch);
    axle_dataset_release(set);
}

/* Rows 0 and 1 are a batch; row 1 alone is as wide. */
static void parts_of_a_batch_are_padded_alike(void **state)
{
    (void)state;
    const char *const texts[] = {"a b c", "d", "e"};
    axle_dataset *set;
    axle_batch *batch;
    assert_int_equal(axle_text_dataset_create(3, texts, NULL, NULL, NULL, &encoder, &set), 0);
    assert_int_equal(
        axle_text_pad_batches(set, (const int64_t[]){1, 0, 2}, (const int64_t[]){2, 3}, 2),
        AXLE_OK);
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){1}, 1, &batch), AXLE_OK);
    holds(batch, "input_ids", 5, (const int64_t[]){90, 1, 91, 99, 99});
    axle_batch_release(batch);
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){2}, 1, &batch), AXLE_OK);
    holds(batch, "input_ids", 3, (const int64_t[]){90, 1, 91});
    axle_batch_release(batch);
    axle_dataset_release(set);
}

static void rows_are_truncated(void **state)
{
    (void)state;
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    const char *const texts[] = {"a b c d e f g"};
    axle_dataset *set;
    int64_t length;
    options.max_length = 4;
    assert_int_equal(axle_text_dataset_create(1, texts, NULL, NULL, &options, &encoder, &set), 0);
    assert_int_equal(axle_text_lengths(set, &length), AXLE_OK);
    assert_int_equal(length, 4);
    assert_int_equal(axle_text_label_count(set), 0);
    assert_null(axle_text_label_names(set));
    axle_dataset_release(set);
}

static void sets_of_labels_are_rows_of_0_and_1(void **state)
{
    (void)state;
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_batch *batch;
    float expected[] = {1, 0, 1, 0, 0, 0, 0, 1, 0};
    void *data;
    options.kind = AXLE_TEXT_LABEL_SETS;
    axle_dataset *set =
        open_text("c.tsv", "text\tlabels\nx\t sad | angry\nx\t\nx\t[\"joy\"]\n", &options);
    assert_non_null(set);
    assert_int_equal(axle_text_label_count(set), 3);
    assert_string_equal(axle_text_label_names(set)[1], "joy");
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){0, 1, 2}, 3, &batch), AXLE_OK);
    assert_int_equal(axle_tensor_rank(axle_batch_get(batch, "labels")), 2);
    assert_int_equal(axle_tensor_data(axle_batch_get(batch, "labels"), &data), AXLE_OK);
    assert_memory_equal(data, expected, sizeof(expected));
    axle_batch_release(batch);
    axle_dataset_release(set);
}

static void numbers_are_labels(void **state)
{
    (void)state;
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_batch *batch;
    void *data;
    options.kind = AXLE_TEXT_NUMBERS;
    axle_dataset *set = open_text("d.csv", "sentence,label\nx,-1.5\ny,2e1\n", &options);
    assert_non_null(set);
    assert_int_equal(axle_text_label_count(set), 1);
    assert_null(axle_text_label_names(set));
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){1, 0}, 2, &batch), AXLE_OK);
    assert_int_equal(axle_tensor_data(axle_batch_get(batch, "labels"), &data), AXLE_OK);
    assert_true(((float *)data)[0] == 20.0F && ((float *)data)[1] == -1.5F);
    axle_batch_release(batch);
    axle_dataset_release(set);
    assert_null(open_text("d.csv", "sentence,label\nx,1\ny,many\n", &options));
    unit_expect_error(AXLE_ERR_FORMAT, "d.csv:3: 'many' is no number");
}

static void given_labels_hold(void **state)
{
    (void)state;
    static const char *const names[] = {"no", "yes", NULL};
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_records_options records = AXLE_RECORDS_OPTIONS_INIT;
    axle_batch *batch;
    records.header = 0;
    options.records = &records;
    options.labels = names;
    axle_dataset *set = open_text("e.csv", "one,yes\ntwo,1\nthree,0\n", &options);
    assert_non_null(set);
    assert_int_equal(axle_dataset_fetch(set, (const int64_t[]){0, 1, 2}, 3, &batch), AXLE_OK);
    holds(batch, "labels", 3, (const int64_t[]){1, 1, 0});
    axle_batch_release(batch);
    axle_dataset_release(set);
    assert_null(open_text("e.csv", "one,yes\ntwo,maybe\n", &options));
    unit_expect_error(AXLE_ERR_FORMAT, "e.csv:2: there is no label 'maybe'");
    assert_null(open_text("e.csv", "one,yes\ntwo,2\n", &options));
    unit_expect_error(AXLE_ERR_FORMAT, "e.csv:2: there is no label '2'");
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    assert_null(open_text("f.tsv", "text\tlabel\nx\t\n", NULL));
    unit_expect_error(AXLE_ERR_FORMAT, "f.tsv:2: there is no label");
    options.label = "class";
    assert_null(open_text("f.tsv", "text\tlabel\nx\t1\n", &options));
    unit_expect_error(AXLE_ERR_NOT_FOUND, "class");
    assert_null(open_text("f.jsonl", "{\"text\": null, \"label\": 1}\n", NULL));
    unit_expect_error(AXLE_ERR_FORMAT, "f.jsonl:1: there is no text");
    options.kind = AXLE_TEXT_LABEL_SETS;
    options.label = NULL;
    assert_null(open_text("f.tsv", "text\tlabel\nx\t[1, {}]\n", &options));
    unit_expect_error(AXLE_ERR_FORMAT, "f.tsv:2: label 1 is no text");
    assert_null(open_text("f.tsv", "text\tlabel\nx\t[1\n", &options));
    unit_expect_error(AXLE_ERR_FORMAT, "f.tsv:2: labels");
    assert_null(open_text("f.tsv", "text\tlabel\nx\t\n", &options));
    unit_expect_error(AXLE_ERR_FORMAT, "no row has a label");
}

/* More rows than one thread is given. */
static void threads_give_the_same(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_dataset *one, *many;
    int64_t lengths[2][ROWS];
    options.threads = 1;
    assert_int_equal(axle_synthetic_text_dataset_create(ROWS, 3, &options, &encoder, &one), 0);
    options.threads = 4;
    assert_int_equal(axle_synthetic_text_dataset_create(ROWS, 3, &options, &encoder, &many), 0);
    assert_int_equal(axle_text_lengths(one, lengths[0]), AXLE_OK);
    assert_int_equal(axle_text_lengths(many, lengths[1]), AXLE_OK);
    assert_memory_equal(lengths[0], lengths[1], sizeof(lengths[0]));
    for (int64_t row = 0; row < ROWS; row += 97) {
        axle_batch *a, *b;
        void *data;
        assert_int_equal(axle_dataset_fetch(one, &row, 1, &a), AXLE_OK);
        assert_int_equal(axle_dataset_fetch(many, &row, 1, &b), AXLE_OK);
        assert_int_equal(axle_tensor_data(axle_batch_get(a, "input_ids"), &data), AXLE_OK);
        holds(b, "input_ids", lengths[0][row], data);
        axle_batch_release(a);
        axle_batch_release(b);
    }
    axle_dataset_release(one);
    axle_dataset_release(many);
}

static void errors_of_the_encoder_come_through(void **state)
{
    (void)state;
    const char *texts[600];
    axle_text_options options = AXLE_TEXT_OPTIONS_INIT;
    axle_dataset *set;
    for (int k = 0; k < 600; k++)
        texts[k] = k == 2 ? "bad" : "fine";
    options.threads = 2;
    assert_int_equal(axle_text_dataset_create(600, texts, NULL, NULL, &options, &encoder, &set),
                     AXLE_ERR_FORMAT);
    unit_expect_error(AXLE_ERR_FORMAT, "does not take 'bad'");
}

/* Every word of the made-up texts is in the vocabulary, and both labels are there about as often.
 */
static void made_up_texts_know_their_words(void **state)
{
    (void)state;
    axle_dataset *set;
    int64_t positive = 0;
    assert_int_equal(axle_synthetic_text_dataset_create(500, 1, NULL, &encoder, &set), AXLE_OK);
    for (int64_t row = 0; row < 500; row++) {
        char text[256], *rest = text, *word;
        snprintf(text, sizeof(text), "%s", axle_text_of(set, row, NULL));
        while ((word = strtok_r(rest, " ", &rest))) {
            const char *const *known = axle_synthetic_text_words();
            while (*known && strcmp(*known, word) != 0)
                known++;
            if (!*known)
                fail_msg("'%s' is no word", word);
        }
        axle_batch *batch;
        void *data;
        assert_int_equal(axle_dataset_fetch(set, &row, 1, &batch), AXLE_OK);
        assert_int_equal(axle_tensor_data(axle_batch_get(batch, "labels"), &data), AXLE_OK);
        positive += *(int64_t *)data;
        axle_batch_release(batch);
    }
    assert_in_range(positive, 200, 300);
    axle_dataset_release(set);
}

static void other_sets_are_refused(void **state)
{
    (void)state;
    axle_dataset *pictures, *set;
    const char *const texts[] = {"x"};
    axle_text_encoder none = AXLE_TEXT_ENCODER_INIT;
    assert_int_equal(axle_synthetic_image_dataset_create(2, 1, &pictures), AXLE_OK);
    assert_int_equal(axle_text_label_count(pictures), AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "none of texts");
    axle_dataset_release(pictures);
    assert_int_equal(axle_text_dataset_create(1, texts, NULL, NULL, NULL, &none, &set),
                     AXLE_ERR_INVALID);
    unit_expect_error(AXLE_ERR_INVALID, "there is no encoder");
}

static const struct CMUnitTest tests[] = {
    UNIT("batches are padded to the longest row", batches_are_padded_to_the_longest),
    UNIT("pairs have types, and rows are multiples", pairs_have_types_and_rows_multiples),
    UNIT("parts of a batch are padded alike", parts_of_a_batch_are_padded_alike),
    UNIT("rows are truncated", rows_are_truncated),
    UNIT("sets of labels are rows of 0 and 1", sets_of_labels_are_rows_of_0_and_1),
    UNIT("numbers are labels", numbers_are_labels),
    UNIT("labels that are given hold, by name and number", given_labels_hold),
    UNIT("what is missing is named with its line", what_is_missing_is_named),
    UNIT("any number of threads gives the same", threads_give_the_same),
    UNIT("errors of the encoder come through", errors_of_the_encoder_come_through),
    UNIT("the vocabulary of made-up texts is complete", made_up_texts_know_their_words),
    UNIT("other sets and no encoder are refused", other_sets_are_refused),
};

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
