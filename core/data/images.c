/* SPDX-License-Identifier: Apache-2.0 */
#include "data/images.h"

#include "axle/status.h"
#include "base/memory.h"
#include "data/batch.h"
#include "data/dataset.h"

typedef struct images {
    int64_t n, height, width;
    unsigned char *pixels, *labels;
} images;

static int64_t images_length(void *user)
{
    return ((images *)user)->n;
}

/* Bytes / 255, exactly rounded, as a product with 1/255 would not be. The groups of fixed size are
 * for the compiler, which makes vector instructions of them. */
static void copy_pixels(const unsigned char *restrict from, float *restrict to, size_t count)
{
    enum { GROUP = 16 };
    size_t k = 0;
    for (; k + GROUP <= count; k += GROUP)
        for (size_t lane = 0; lane < GROUP; lane++)
            to[k + lane] = (float)from[k + lane] / 255.0f;
    for (; k < count; k++)
        to[k] = (float)from[k] / 255.0f;
}

static int fetch_pixels(const images *set, const int64_t *indices, int64_t n, axle_batch *batch)
{
    const int64_t dims[] = {n, 1, set->height, set->width};
    size_t size = (size_t)(set->height * set->width);
    axle_tensor *input;
    void *data;
    int code = axle__fetch_tensor(AXLE_DTYPE_F32, 4, dims, &input, &data);
    if (code)
        return code;
    for (int64_t k = 0; k < n; k++)
        copy_pixels(set->pixels + (size_t)indices[k] * size, (float *)data + (size_t)k * size,
                    size);
    return axle__batch_set_take(batch, "input", input);
}

static int fetch_labels(const images *set, const int64_t *indices, int64_t n, axle_batch *batch)
{
    axle_tensor *target;
    void *data;
    int code = axle__fetch_tensor(AXLE_DTYPE_I64, 1, &n, &target, &data);
    if (code)
        return code;
    for (int64_t k = 0; k < n; k++)
        ((int64_t *)data)[k] = set->labels[indices[k]];
    return axle__batch_set_take(batch, "target", target);
}

static int images_fetch(void *user, const int64_t *indices, int64_t n, axle_batch *batch)
{
    int code = fetch_pixels(user, indices, n, batch);
    return code ? code : fetch_labels(user, indices, n, batch);
}

static void images_destroy(void *user)
{
    images *set = user;
    axle__free(set->pixels);
    axle__free(set->labels);
    axle__free(set);
}

int axle__images_dataset_create(const char *name, int64_t n, int64_t height, int64_t width,
                                unsigned char *pixels, unsigned char *labels, axle_dataset **out)
{
    const axle_dataset_class type = {
        .struct_size = sizeof(type),
        .name = name,
        .length = images_length,
        .fetch = images_fetch,
        .destroy = images_destroy,
    };
    images *set = axle__alloc(1, sizeof(*set));
    if (!set) {
        axle__free(pixels);
        axle__free(labels);
        return AXLE_ERR_NOMEM;
    }
    *set = (images){.n = n, .height = height, .width = width, .pixels = pixels, .labels = labels};
    return axle__dataset_create_take(
        &type, set, (size_t)(height * width) * sizeof(float) + sizeof(int64_t), out);
}
