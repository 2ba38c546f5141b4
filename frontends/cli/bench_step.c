/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of a model with Adam, on one batch that stays where it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "axle/models.h"
#include "bench_products.h"
#include "text_model.h"

typedef struct stepper {
    axle_accelerator *accelerator;
    axle_model *model;
    axle_optimizer *optimizer;
    axle_batch *batch;
    bench_work products;              /* of a language model */
    int64_t peak_bytes, peak_process; /* in use on the device; resident, of this process */
} stepper;

/* Only until the products bring operands of their own. */
static void note_memory(stepper *s)
{
    axle_device_stats stats = AXLE_DEVICE_STATS_INIT;
    struct rusage usage;
    if (!s->products.run || bench_products_began(s->products))
        return;
    if (axle_device_get_stats(axle_accelerator_device(s->accelerator), &stats) == AXLE_OK)
        s->peak_bytes = (int64_t)stats.bytes_peak;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        s->peak_process = (int64_t)usage.ru_maxrss * 1024;
}

static int step(void *user)
{
    stepper *s = user;
    note_memory(s);
    if (axle_scope_push())
        return -1;
    int code = axle_optimizer_zero_grad(s->optimizer);
    axle_output out = axle_model_forward(s->model, s->batch);
    if (!code)
        code = axle_backward(s->accelerator, out.loss);
    if (!code)
        code = axle_optimizer_step(s->optimizer);
    if (!code)
        code = axle_device_synchronize(axle_accelerator_device(s->accelerator));
    axle_scope_pop();
    return code;
}

/* ------------------------------------------------------------------ making what is measured */

typedef struct network {
    const char *model, *precision;
    int64_t rows, length;
    axle_image_model_options image;
} network;

static int create_batch(const network *n, axle_batch **out)
{
    axle_tensor *input = axle_rand(
        AXLE_DTYPE_F32, AXLE_DIMS(n->rows, n->image.channels, n->image.height, n->image.width));
    axle_tensor *number = axle_arange(AXLE_DTYPE_F32, 0.0, (double)n->rows, 1.0);
    axle_tensor *classes = axle_scalar(AXLE_DTYPE_F32, (double)n->image.classes);
    axle_tensor *target = axle_cast(axle_remainder(number, classes), AXLE_DTYPE_I64);
    axle_batch *batch;
    if (!input || !target)
        return axle_error_code();
    int code = axle_batch_create(&batch);
    if (code)
        return code;
    code = axle_batch_set(batch, "input", input);
    if (!code)
        code = axle_batch_set(batch, "target", target);
    if (code)
        axle_batch_release(batch);
    else
        *out = batch;
    return code;
}

static int create_model(const network *n, stepper *s)
{
    axle_module *module;
    if (is_text_model(n->model))
        return text_model_create(n->model, &s->model);
    int code = axle_image_model_create(n->model, &n->image, &module);
    return code ? code : axle_classifier_create(module, &s->model);
}

static int set_up(stepper *s, const char *spec, const network *n)
{
    axle_accelerator_options wanted = AXLE_ACCELERATOR_OPTIONS_INIT;
    wanted.quiet = 1;
    wanted.backend = spec;
    wanted.precision = n->precision;
    int code = axle_accelerator_create(&wanted, &s->accelerator);
    if (!code)
        code = is_text_model(n->model) ? text_batch_create(n->model, n->rows, n->length, &s->batch)
                                       : create_batch(n, &s->batch);
    if (!code)
        code = create_model(n, s);
    if (!code)
        code = axle_adam_create(axle_model_module(s->model), NULL, &s->optimizer);
    return code ? code : axle_prepare(s->accelerator, s->model, s->optimizer);
}

static int create_products(const network *n, axle_device *device, bench_work *out)
{
    text_sizes sizes;
    int code = text_model_sizes(n->model, &sizes);
    const char *dtype = strcmp(n->precision, "fp16") == 0 ? "f16" : n->precision;
    return code ? code
                : bench_products_create(&sizes, n->rows, n->length, axle_dtype_from_name(dtype),
                                        device, out);
}

/* The pictures that the network written on oneDNN takes. */
static int is_usual(const axle_image_model_options *image)
{
    const axle_image_model_options usual = AXLE_IMAGE_MODEL_OPTIONS_INIT;
    return image->channels == usual.channels && image->height == usual.height &&
           image->width == usual.width;
}

static int create(const bench_subject *subject, const bench_backend *backend, bench_pair *out)
{
    const network *n = subject->params;
    stepper *s = calloc(1, sizeof(*s));
    if (!s)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory");
    out->work = (bench_work){step, s, backend->device};
    if (strcmp(n->model, "lenet") == 0 && strcmp(n->precision, "f32") == 0 && is_usual(&n->image))
        out->limit = bench_direct_create("lenet", (const int64_t[]){n->rows, 0, 0});
    int code = AXLE_OK;
    if (is_text_model(n->model))
        code = create_products(n, backend->device, &s->products);
    if (s->products.run)
        out->limit = s->products;
    return code ? code : set_up(s, backend->spec, n);
}

static void release(bench_pair *pair)
{
    stepper *s = pair->work.user;
    if (!s)
        return;
    if (s->products.run)
        bench_products_release(s->products);
    else
        bench_direct_release(pair->limit);
    axle_optimizer_release(s->optimizer);
    axle_model_release(s->model);
    axle_batch_release(s->batch);
    axle_accelerator_release(s->accelerator);
    free(s);
}

/* ------------------------------------------------------------------ the benchmark */

static json_t *describe(const network *n)
{
    json_t *more = json_pack("{s:s, s:s, s:I}", "model", n->model, "precision", n->precision,
                             "batch_size", (json_int_t)n->rows);
    if (is_text_model(n->model))
        json_object_set_new(more, "length", json_integer((json_int_t)n->length));
    else
        json_object_set_new(more, "shape",
                            json_pack("[I, I, I]", (json_int_t)n->image.channels,
                                      (json_int_t)n->image.height, (json_int_t)n->image.width));
    if (strcmp(n->model, "mlp") == 0)
        json_object_set_new(more, "hidden", json_integer((json_int_t)n->image.hidden));
    return more;
}

static void tell_memory(const bench_pair *pair, json_t *line)
{
    const stepper *s = pair->work.user;
    if (!s->peak_bytes)
        return;
    json_object_set_new(line, "peak_bytes", json_integer((json_int_t)s->peak_bytes));
    json_object_set_new(line, "peak_process_bytes", json_integer((json_int_t)s->peak_process));
}

/* Pictures as --shape says, and how wide the hidden layer is. */
static int set_image(const bench_settings *settings, axle_image_model_options *image)
{
    int64_t n[3];
    image->hidden = settings->hidden;
    if (!settings->shapes.count)
        return AXLE_OK;
    int code = bench_parse_shape(settings->shapes.item[0], 3, 3, "CxHxW", n);
    if (code < 0)
        return code;
    image->channels = n[0];
    image->height = n[1];
    image->width = n[2];
    return AXLE_OK;
}

/* "lenet, batch 64", "distilbert, batch 8x128, bf16" */
static void set_about(char *out, size_t size, const network *n)
{
    char length[32] = "";
    int plain = strcmp(n->precision, bench_precisions()[0]) == 0;
    if (is_text_model(n->model))
        snprintf(length, sizeof(length), "x%lld", (long long)n->length);
    snprintf(out, size, "%s, batch %lld%s%s%s", n->model, (long long)n->rows, length,
             plain ? "" : ", ", plain ? "" : n->precision);
}

static int measure(const bench_settings *settings, const char *model)
{
    char about[96];
    network n = {.model = model,
                 .precision = bench_precisions()[settings->precision],
                 .rows = bench_batch_size(settings, model),
                 .length = settings->length,
                 .image = AXLE_IMAGE_MODEL_OPTIONS_INIT};
    int code = set_image(settings, &n.image);
    if (code)
        return code;
    set_about(about, sizeof(about), &n);
    bench_subject subject = {.what = "step",
                             .about = about,
                             .unit = BENCH_MS,
                             .params = &n,
                             .create = create,
                             .release = release,
                             .limit = is_text_model(model) ? "its products alone"
                                                           : "the network written on oneDNN",
                             .tell = tell_memory,
                             .rate = "samples_per_second",
                             .amount = (double)n.rows,
                             .more = describe(&n)};
    code = bench_compare(settings, &subject);
    json_decref(subject.more);
    return code;
}

int bench_step(const bench_settings *settings)
{
    static const char *const usual[] = {"mlp", "lenet"};
    if (settings->model >= 0)
        return measure(settings, all_model_names()[settings->model]);
    int code = AXLE_OK;
    for (size_t k = 0; k < sizeof(usual) / sizeof(usual[0]) && !code; k++)
        code = measure(settings, usual[k]);
    return code;
}
