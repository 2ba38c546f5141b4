/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "axle/data.h"

static const unsigned char two_pictures[] = {
    0, 0,  8,   3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, /* (2, 1, 3) */
    0, 51, 255, 1, 2, 3,
};
static const unsigned char two_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 255};

static int read_and_release(const char *path)
{
    axle_tensor *tensor;
    int code = axle_idx_read(path, &tensor);
    if (!code)
        axle_tensor_release(tensor);
    return code;
}

static int open_and_release(int train)
{
    axle_dataset *set;
    int code = axle_idx_dataset_open(files_folder, train, &set);
    if (!code)
        axle_dataset_release(set);
    return code;
}

static void write_pair(const void *images, size_t images_size, const void *labels,
                       size_t labels_size)
{
    files_count(1);
    files_write("train-images-idx3-ubyte", images, images_size);
    files_write("train-labels-idx1-ubyte", labels, labels_size);
}

static void bytes_become_a_tensor(void **state)
{
    (void)state;
    axle_tensor *tensor;
    void *data;
    assert_ok(axle_idx_read(files_write("a.idx", two_pictures, sizeof(two_pictures)), &tensor));
    assert_int_equal(axle_tensor_dtype(tensor), AXLE_DTYPE_U8);
    assert_int_equal(axle_tensor_rank(tensor), 3);
    assert_int_equal(axle_tensor_dims(tensor)[2], 3);
    assert_ok(axle_tensor_data(tensor, &data));
    assert_memory_equal(data, two_pictures + 16, 6);
    axle_tensor_release(tensor);
}

static void wider_types_are_big_endian(void **state)
{
    (void)state;
    static const unsigned char ints[] = {0, 0, 0x0c, 1, 0, 0, 0, 2, 0, 0, 1, 2, 255, 255, 255, 254};
    static const unsigned char floats[] = {0, 0, 0x0d, 1, 0, 0, 0, 1, 0xbf, 0xc0, 0, 0};
    static const unsigned char doubles[] = {0, 0, 0x0e, 0, 0x40, 0x09, 0, 0, 0, 0, 0, 0};
    axle_tensor *tensor;
    int32_t both[2];
    double value;
    assert_ok(axle_idx_read(files_write("i", ints, sizeof(ints)), &tensor));
    assert_ok(axle_tensor_read(tensor, both, sizeof(both)));
    assert_int_equal(both[0], 258);
    assert_int_equal(both[1], -2);
    axle_tensor_release(tensor);
    assert_ok(axle_idx_read(files_write("f", floats, sizeof(floats)), &tensor));
    assert_ok(axle_tensor_item(tensor, &value));
    assert_true(value == -1.5);
    axle_tensor_release(tensor);
    assert_ok(axle_idx_read(files_write("d", doubles, sizeof(doubles)), &tensor));
    assert_int_equal(axle_tensor_rank(tensor), 0);
    assert_ok(axle_tensor_item(tensor, &value));
    assert_true(value == 3.125);
    axle_tensor_release(tensor);
}

static void what_is_no_idx_file_is_refused(void **state)
{
    (void)state;
    static const unsigned char type[] = {0, 0, 7, 1, 0, 0, 0, 0},
                               shorts[] = {0, 0, 0x0b, 1, 0, 0, 0, 0};
    static const unsigned char rank[] = {0, 0, 8, 9};
    assert_failed(read_and_release(files_path("missing")), AXLE_ERR_NOT_FOUND, "missing",
                  "No such file", NULL);
    assert_failed(read_and_release(files_folder), AXLE_ERR_IO, files_folder, "directory", NULL);
    assert_failed(read_and_release(files_write_text("text", "hello world")), AXLE_ERR_FORMAT,
                  "text", "not an IDX file", "68 65 6c 6c", NULL);
    assert_failed(read_and_release(files_write("type", type, 8)), AXLE_ERR_FORMAT, "no type 0x07",
                  NULL);
    assert_failed(read_and_release(files_write("shorts", shorts, 8)), AXLE_ERR_FORMAT, "i16", NULL);
    assert_failed(read_and_release(files_write("rank", rank, 4)), AXLE_ERR_FORMAT, "9 dims", NULL);
}

static void truncation_is_found_at_every_length(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof(two_pictures); size++)
        assert_failed(read_and_release(files_write("short", two_pictures, size)), AXLE_ERR_FORMAT,
                      "short", "truncated", NULL);
}

static void bytes_behind_the_last_element_are_refused(void **state)
{
    (void)state;
    unsigned char longer[sizeof(two_pictures) + 1] = {0};
    memcpy(longer, two_pictures, sizeof(two_pictures));
    assert_failed(read_and_release(files_write("long", longer, sizeof(longer))), AXLE_ERR_FORMAT,
                  "long", "behind the last element", NULL);
}

static void dims_that_promise_too_much_take_no_memory(void **state)
{
    (void)state;
    static const unsigned char huge[] = {0,    0, 8, 2,    0x7f, 0xff, 0xff,
                                         0xff, 0, 0, 0xff, 0xff, 1,    2};
    unsigned char overflow[4 + 4 * 8] = {0, 0, 14, 8};
    memset(overflow + 4, 0xff, 32);
    assert_failed(read_and_release(files_write("huge", huge, sizeof(huge))), AXLE_ERR_FORMAT,
                  "truncated", NULL);
    assert_failed(read_and_release(files_write("overflow", overflow, sizeof(overflow))),
                  AXLE_ERR_FORMAT, "overflows", NULL);
}

static void compressed_files_are_read(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof(path), "%s.gz", files_path("zip"));
#ifdef HAVE_ZLIB
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, two_pictures, sizeof(two_pictures)), sizeof(two_pictures));
    gzclose(file);
    assert_ok(read_and_release(path));
    /* Cut its trailer off: the elements are there, their checksum is not. */
    char bytes[256];
    FILE *whole = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), whole);
    fclose(whole);
    for (size_t left = 1; left < 12; left++)
        assert_failed(read_and_release(files_write("cut.gz", bytes, size - left)), AXLE_ERR_FORMAT,
                      "cut.gz", NULL);
    bytes[size - 6] ^= 1;
    assert_failed(read_and_release(files_write("bad.gz", bytes, size)), AXLE_ERR_FORMAT, "bad.gz",
                  NULL);
#else
    static const unsigned char start[] = {0x1f, 0x8b, 8, 0};
    FILE *file = fopen(path, "wb");
    fwrite(start, 1, sizeof(start), file);
    fclose(file);
    assert_failed(read_and_release(path), AXLE_ERR_UNSUPPORTED, "zip.gz", "no zlib", NULL);
#endif
}

static void a_folder_gives_pictures_and_labels(void **state)
{
    (void)state;
    axle_dataset *set;
    axle_batch *batch;
    void *data;
    const int64_t indices[] = {1, 0};
    write_pair(two_pictures, sizeof(two_pictures), two_labels, sizeof(two_labels));
    assert_ok(axle_idx_dataset_open(files_folder, 1, &set));
    assert_int_equal(axle_dataset_length(set), 2);
    assert_ok(axle_dataset_fetch(set, indices, 2, &batch));
    axle_tensor *input = axle_batch_get(batch, "input");
    assert_int_equal(axle_tensor_rank(input), 4);
    assert_int_equal(axle_tensor_dims(input)[1], 1);
    assert_ok(axle_tensor_data(input, &data));
    const float *pixels = data;
    for (int k = 0; k < 3; k++) {
        assert_true(pixels[k] == (float)two_pictures[19 + k] / 255.0f);
        assert_true(pixels[3 + k] == (float)two_pictures[16 + k] / 255.0f);
    }
    assert_ok(axle_tensor_data(axle_batch_get(batch, "target"), &data));
    assert_int_equal(((int64_t *)data)[0], 255);
    assert_int_equal(((int64_t *)data)[1], 7);
    axle_batch_release(batch);
    axle_dataset_release(set);
}

static void what_lacks_in_a_folder_is_named(void **state)
{
    (void)state;
    axle_dataset *set;
    files_count(1);
    assert_failed(open_and_release(1), AXLE_ERR_NOT_FOUND, files_folder,
                  "train-images-idx3-ubyte.gz", NULL);
    files_write("train-images-idx3-ubyte", two_pictures, sizeof(two_pictures));
    assert_failed(open_and_release(1), AXLE_ERR_NOT_FOUND, "train-labels-idx1-ubyte", NULL);
    assert_failed(open_and_release(0), AXLE_ERR_NOT_FOUND, "t10k-images-idx3-ubyte", NULL);
    assert_failed(axle_idx_dataset_open("/nonexistent/folder", 1, &set), AXLE_ERR_NOT_FOUND,
                  "/nonexistent/folder", "no such folder", NULL);
}

static void pictures_and_labels_must_fit(void **state)
{
    (void)state;
    static const unsigned char one_label[] = {0, 0, 8, 1, 0, 0, 0, 1, 7};
    static const unsigned char no_pixels[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3};
    write_pair(two_pictures, sizeof(two_pictures), one_label, sizeof(one_label));
    assert_failed(open_and_release(1), AXLE_ERR_FORMAT, "2 pictures", "1 labels", NULL);
    write_pair(two_labels, sizeof(two_labels), two_labels, sizeof(two_labels));
    assert_failed(open_and_release(1), AXLE_ERR_FORMAT, "train-images", "1 dims", NULL);
    write_pair(two_pictures, sizeof(two_pictures), two_pictures, sizeof(two_pictures));
    assert_failed(open_and_release(1), AXLE_ERR_FORMAT, "train-labels", "3 dims", NULL);
    write_pair(no_pixels, sizeof(no_pixels), two_labels, sizeof(two_labels));
    assert_failed(open_and_release(1), AXLE_ERR_FORMAT, "0 x 3", NULL);
}

static void a_failed_allocation_is_an_error(void **state)
{
    (void)state;
    const char *path = files_write("a.idx", two_pictures, sizeof(two_pictures));
    EACH_ALLOCATION_FAILS(read_and_release(path), (void)0);
    write_pair(two_pictures, sizeof(two_pictures), two_labels, sizeof(two_labels));
    EACH_ALLOCATION_FAILS(open_and_release(1), (void)0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_a_tensor),
        cmocka_unit_test(wider_types_are_big_endian),
        cmocka_unit_test(what_is_no_idx_file_is_refused),
        cmocka_unit_test(truncation_is_found_at_every_length),
        cmocka_unit_test(bytes_behind_the_last_element_are_refused),
        cmocka_unit_test(dims_that_promise_too_much_take_no_memory),
        cmocka_unit_test(compressed_files_are_read),
        cmocka_unit_test(a_folder_gives_pictures_and_labels),
        cmocka_unit_test(what_lacks_in_a_folder_is_named),
        cmocka_unit_test(pictures_and_labels_must_fit),
        cmocka_unit_test(a_failed_allocation_is_an_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("idx", tests, files_setup, files_teardown);
}
