/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Language models on the current device (AXLE_BACKEND) agree with those of the transformers
 * library: logits, loss, gradients, and the losses of ten updates.
 * tests/golden/oracle/pretrained.py says what a folder holds. Without arguments all stored folders
 * are gone through.
 *
 * usage: golden_transformers [--save ROOT] [FOLDER...]     --save: write each model to ROOT, too
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axle/axle.h"
#include "axle/transformers.h"
#include "support/tap.h"

static const double tolerance = 2e-5, gradient_tolerance = 1e-4, training_tolerance = 1e-4;
enum { UPDATES = 10, WARMUP = 3 };

/* One case under way; the first failure's message stays. */
typedef struct trial {
    const char *name;
    axle_tensor_file *expected;
    axle_model *model;
    axle_batch *batch;
    char message[512];
} trial;

static bool fail(trial *t, const char *what)
{
    if (!*t->message)
        snprintf(t->message, sizeof(t->message), "%s: %s", what, axle_error_message());
    return false;
}

/* ------------------------------------------------------------------ what is expected */

/* In f64 on the host; for free(). */
static double *read_doubles(const axle_stored_tensor *stored, int64_t *n)
{
    axle_tensor *wide;
    double *value = NULL;
    if (axle_tensor_create(axle_device_host(), AXLE_DTYPE_F64, stored->rank, stored->dims, &wide))
        return NULL;
    *n = axle_tensor_count(wide);
    size_t size = (size_t)*n * sizeof(*value);
    if (axle_tensor_file_read(stored, wide) == AXLE_OK && (value = malloc(size + 1)))
        axle_tensor_read(wide, value, size);
    axle_tensor_release(wide);
    return value;
}

static double *got_doubles(axle_tensor *x, int64_t *n)
{
    axle_tensor *wide = axle_cast(axle_to_device(x, axle_device_host()), AXLE_DTYPE_F64);
    if (!wide)
        return NULL;
    *n = axle_tensor_count(wide);
    double *value = malloc((size_t)*n * sizeof(*value) + 1);
    if (value)
        axle_tensor_read(wide, value, (size_t)*n * sizeof(*value));
    return value;
}

typedef struct difference {
    double largest, scale; /* of the differences, of the expected values */
} difference;

static bool compare(trial *t, const char *name, axle_tensor *got, difference *out)
{
    int64_t n = 0, m = 0;
    const axle_stored_tensor *stored = axle_tensor_file_find(t->expected, name);
    double *wanted = stored ? read_doubles(stored, &n) : NULL;
    double *value = got ? got_doubles(got, &m) : NULL;
    *out = (difference){0.0, 0.0};
    bool whole = wanted && value && n == m;
    for (int64_t k = 0; k < n && whole; k++) {
        double off = fabs(wanted[k] - value[k]);
        out->largest = off <= out->largest ? out->largest : off; /* a NaN stays */
        out->scale = fmax(out->scale, fabs(wanted[k]));
    }
    free(wanted);
    free(value);
    return whole || fail(t, name);
}

/* ------------------------------------------------------------------ the batch */

static bool add_field(trial *t, const char *name)
{
    const axle_stored_tensor *stored = axle_tensor_file_find(t->expected, name);
    if (!stored)
        return true;
    bool real = axle_dtype_is_float(stored->dtype);
    axle_tensor *x = axle_empty(real ? AXLE_DTYPE_F32 : stored->dtype, stored->rank, stored->dims);
    return (x && axle_tensor_file_read(stored, x) == AXLE_OK &&
            axle_batch_set(t->batch, name, x) == AXLE_OK) ||
           fail(t, name);
}

static bool read_batch(trial *t)
{
    static const char *const fields[] = {"input_ids", "attention_mask", "token_type_ids", "labels"};
    if (axle_batch_create(&t->batch))
        return fail(t, "the batch");
    for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
        if (!add_field(t, fields[k]))
            return false;
    return true;
}

/* ------------------------------------------------------------------ what is compared */

static bool within(trial *t, const char *name, axle_tensor *got)
{
    difference d;
    if (!compare(t, name, got, &d))
        return false;
    tap_note("%s: %s differs by %.1e", t->name, name, d.largest);
    if (d.largest <= tolerance)
        return true;
    snprintf(t->message, sizeof(t->message), "%s differs by %g", name, d.largest);
    return false;
}

typedef struct gradients {
    trial *trial;
    double scale; /* the largest gradient */
    double worst; /* relative difference */
    int count;
} gradients;

static int find_scale(const char *path, axle_tensor *tensor, void *user)
{
    gradients *g = user;
    char name[256];
    difference d;
    snprintf(name, sizeof(name), "grad.%s", path);
    if (!axle_tensor_file_find(g->trial->expected, name))
        return AXLE_OK;
    if (!compare(g->trial, name, axle_tensor_grad(tensor), &d))
        return 1;
    g->scale = fmax(g->scale, d.scale);
    return AXLE_OK;
}

/* Keys' biases have no gradient but rounding's, which no relative measure suits. */
static int compare_gradient(const char *path, axle_tensor *tensor, void *user)
{
    gradients *g = user;
    trial *t = g->trial;
    char name[256];
    difference d;
    snprintf(name, sizeof(name), "grad.%s", path);
    if (!axle_tensor_file_find(t->expected, name)) {
        if (!axle_tensor_grad(tensor))
            return AXLE_OK;
        snprintf(t->message, sizeof(t->message), "%s has a gradient", path);
        return 1;
    }
    if (!compare(t, name, axle_tensor_grad(tensor), &d))
        return 1;
    double relative = d.largest / (d.scale + 1e-2 * g->scale);
    g->count++;
    g->worst = relative <= g->worst ? g->worst : relative;
    if (relative <= gradient_tolerance)
        return AXLE_OK;
    snprintf(t->message, sizeof(t->message), "%s differs by %g of %g", name, d.largest, d.scale);
    return 1;
}

static int count_expected(const axle_tensor_file *expected)
{
    int count = 0;
    for (int64_t k = 0; k < axle_tensor_file_count(expected); k++)
        count += strncmp(axle_tensor_file_at(expected, k)->name, "grad.", 5) == 0;
    return count;
}

static bool compare_gradients(trial *t)
{
    gradients g = {.trial = t};
    axle_module *module = axle_model_module(t->model);
    if (axle_module_each_parameter(module, find_scale, &g) ||
        axle_module_each_parameter(module, compare_gradient, &g))
        return false;
    tap_note("%s: %d gradients differ by %.1e at most, relative", t->name, g.count, g.worst);
    if (g.count == count_expected(t->expected))
        return true;
    snprintf(t->message, sizeof(t->message), "%d gradients, not %d", g.count,
             count_expected(t->expected));
    return false;
}

static bool first_pass(trial *t)
{
    axle_output out = axle_model_forward(t->model, t->batch);
    if (!out.loss)
        return fail(t, "forward");
    if (!within(t, "logits", out.logits) || !within(t, "loss", out.loss))
        return false;
    if (axle_tensor_backward(out.loss, NULL, 0))
        return fail(t, "backward");
    return compare_gradients(t);
}

/* ------------------------------------------------------------------ training */

/* A loss before each update, and one after the last. */
static bool train(trial *t, axle_optimizer *optimizer, axle_scheduler *scheduler,
                  double losses[UPDATES + 1])
{
    for (int k = 0; k <= UPDATES; k++) {
        axle_scope_push();
        int status = axle_optimizer_zero_grad(optimizer);
        axle_output out = axle_model_forward(t->model, t->batch);
        if (!status)
            status = out.loss ? axle_tensor_item(out.loss, &losses[k]) : axle_error_code();
        if (!status && k < UPDATES)
            status = axle_tensor_backward(out.loss, NULL, 0);
        if (!status && k < UPDATES)
            status = axle_optimizer_step(optimizer);
        if (!status && k < UPDATES)
            status = axle_scheduler_step(scheduler);
        axle_scope_pop();
        if (status)
            return fail(t, "training");
    }
    return true;
}

static bool compare_losses(trial *t, const double losses[UPDATES + 1])
{
    int64_t n = 0;
    double *wanted = read_doubles(axle_tensor_file_find(t->expected, "losses"), &n), worst = 0.0;
    for (int k = 0; k <= UPDATES && n == UPDATES + 1; k++) {
        double off = fabs(wanted[k] - losses[k]);
        worst = off <= worst ? worst : off;
    }
    free(wanted);
    tap_note("%s: losses of %d updates differ by %.1e", t->name, UPDATES, worst);
    if (n == UPDATES + 1 && worst <= training_tolerance)
        return true;
    snprintf(t->message, sizeof(t->message), "losses differ by %g", worst);
    return false;
}

static bool training(trial *t)
{
    axle_adamw_options options = AXLE_ADAMW_OPTIONS_INIT;
    axle_optimizer *optimizer = NULL;
    axle_scheduler *scheduler = NULL;
    double losses[UPDATES + 1];
    options.lr = 1e-3;
    options.weight_decay = 0.01;
    bool good = axle_adamw_create(axle_model_module(t->model), &options, &optimizer) == AXLE_OK &&
                axle_linear_schedule_create(optimizer, WARMUP, UPDATES, &scheduler) == AXLE_OK;
    good = good ? train(t, optimizer, scheduler, losses) && compare_losses(t, losses)
                : fail(t, "the optimizer");
    axle_scheduler_release(scheduler);
    axle_optimizer_release(optimizer);
    return good;
}

/* ------------------------------------------------------------------ a case */

static bool save(trial *t, const char *root)
{
    char folder[1024];
    if (!root)
        return true;
    snprintf(folder, sizeof(folder), "%s/%s", root, t->name);
    return axle_transformer_save_pretrained(t->model, folder, NULL) == AXLE_OK || fail(t, "saving");
}

static bool open_case(trial *t, const char *folder)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/expected.safetensors", folder);
    if (axle_tensor_file_open(path, NULL, &t->expected))
        return fail(t, "expected.safetensors");
    if (axle_transformer_from_pretrained(folder, NULL, NULL, &t->model))
        return fail(t, "from_pretrained");
    axle_module_train(axle_model_module(t->model), 0); /* without dropout */
    return axle_module_to_device(axle_model_module(t->model), axle_device_current()) == AXLE_OK ||
           fail(t, "the device");
}

static void check(const char *folder, const char *root)
{
    const char *slash = strrchr(folder, '/');
    trial t = {.name = slash ? slash + 1 : folder};
    axle_scope_push();
    bool good = open_case(&t, folder) && read_batch(&t) && save(&t, root) && first_pass(&t);
    if (!good)
        tap_note("%s", t.message);
    tap_result(good, "%s gives the logits, the loss and the gradients of the original", t.name);
    bool trained = good && training(&t);
    if (good && !trained)
        tap_note("%s", t.message);
    tap_result(trained, "%s trains as the original does", t.name);
    axle_batch_release(t.batch);
    axle_model_release(t.model);
    axle_tensor_file_close(t.expected);
    axle_scope_pop();
    axle_error_clear();
}

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void check_stored(const char *root)
{
    const char *top = getenv("top_srcdir");
    char folder[1024], path[2048];
    struct dirent **entry = NULL;
    snprintf(folder, sizeof(folder), "%s/tests/golden/transformers", top ? top : ".");
    int n = scandir(folder, &entry, is_case, alphasort);
    tap_result(n > 0, "there are stored models");
    for (int k = 0; k < n; k++) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry[k]->d_name);
        check(path, root);
        free(entry[k]);
    }
    free((void *)entry);
}

int main(int argc, char **argv)
{
    const char *root = argc > 2 && strcmp(argv[1], "--save") == 0 ? argv[2] : NULL;
    int first = root ? 3 : 1;
    if (first >= argc)
        check_stored(root);
    for (int k = first; k < argc; k++)
        check(argv[k], root);
    return tap_finish();
}
