/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operator of the golden files on the current device (AXLE_BACKEND): values and gradients
 * agree with PyTorch's. One TAP line an operator; an argument is the family to run.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/autograd.h"
#include "axle/status.h"
#include "conformance/golden_calls.h"
#include "support/golden.h"

static const char *const families[] = {
    "unary", "binary", "select", "reduce", "arg_reduce", "matmul",      "softmax",   "loss",
    "norm",  "index",  "shape",  "conv",   "pool",       "interpolate", "attention",
};

static int lines, failed_lines;

/* What became of an operator's cases. */
struct tally {
    int agreed, failed, skipped;
};

static void complain(const json_t *one, const char *format, ...) AXLE_PRINTF(2, 3);
static void complain(const json_t *one, const char *format, ...)
{
    va_list arguments;
    printf("# %s, %s: ", golden_op(one), golden_name(one));
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    char *attrs = json_dumps(json_object_get(one, "attrs"), JSON_COMPACT);
    printf(" (%s)\n", attrs ? attrs : "");
    free(attrs);
}

/* ------------------------------------------------------------------ one case */

static golden_tolerance tolerance_of(double wider)
{
    golden_tolerance usual = golden_tolerance_for(golden_dtype());
    return wider > usual.relative ? (golden_tolerance){wider, wider} : usual;
}

static double wider_in_f32(const golden_call *call)
{
    return golden_dtype() == AXLE_DTYPE_F32 ? call->single : 0.0;
}

static bool check_outputs(const golden_call *call, const json_t *one, axle_tensor *const *out,
                          int n)
{
    char message[256];
    golden_tolerance tolerance = tolerance_of(wider_in_f32(call));
    for (int k = 0; k < n; k++) {
        const json_t *expected = golden_output(one, (size_t)k);
        if (expected &&
            !golden_agrees_within(tolerance, expected, out[k], message, sizeof(message))) {
            complain(one, "output %d: %s", k, message);
            return false;
        }
    }
    return true;
}

/* Run backward from each output that has a gradient; the graph is kept for those after it. */
static bool run_backward(const json_t *one, axle_tensor *const *out, int n)
{
    for (int k = 0; k < n; k++) {
        axle_tensor *gradient = golden_tensor(golden_grad_output(one, (size_t)k));
        if (gradient && axle_tensor_backward(out[k], gradient, 1)) {
            complain(one, "backward: %s", axle_error_message());
            return false;
        }
    }
    return true;
}

static bool check_grads(const golden_call *call, const json_t *one, axle_tensor *const *in)
{
    char message[256];
    golden_tolerance tolerance = tolerance_of(call->grads + wider_in_f32(call));
    for (size_t k = 0; k < golden_input_count(one); k++) {
        const json_t *expected = golden_grad(one, k);
        if (expected && !golden_agrees_grad(tolerance, expected, axle_tensor_grad(in[k]), message,
                                            sizeof(message))) {
            complain(one, "gradient of input %zu: %s", k, message);
            return false;
        }
    }
    return true;
}

static bool make_inputs(const json_t *one, axle_tensor **in)
{
    for (size_t k = 0; k < golden_input_count(one); k++) {
        const json_t *input = golden_input(one, k);
        in[k] = golden_tensor(input);
        if (input && !in[k]) {
            complain(one, "input %zu: %s", k, axle_error_message());
            return false;
        }
    }
    return true;
}

static void run_case(const golden_call *call, const json_t *one, struct tally *tally)
{
    axle_tensor *in[GOLDEN_MAX_INPUTS] = {NULL}, *out[GOLDEN_MAX_OUTPUTS] = {NULL};
    axle_error_clear();
    axle_scope_push();
    bool good = make_inputs(one, in);
    int n = good ? call->call(call, one, in, out) : 0;
    if (n == GOLDEN_NO_SUCH_FORM) {
        tally->skipped++;
    } else {
        good = good && check_outputs(call, one, out, n) && run_backward(one, out, n) &&
               check_grads(call, one, in);
        *(good ? &tally->agreed : &tally->failed) += 1;
    }
    axle_scope_pop();
}

/* ------------------------------------------------------------------ operators */

static void report(const char *family, const char *op, const struct tally *tally)
{
    printf("%s %d - %s: %s agrees with PyTorch in %d cases", tally->failed ? "not ok" : "ok",
           ++lines, family, op, tally->agreed);
    if (tally->skipped)
        printf(", %d have no public form", tally->skipped);
    printf("\n");
    failed_lines += tally->failed > 0;
}

static void run_op(const char *family, const char *op, const json_t *file)
{
    const golden_call *call = golden_call_find(family, op);
    struct tally tally = {0, 0, 0};
    size_t k;
    json_t *one;
    if (!call || !call->call) {
        printf("%s %d - %s: %s%s\n", call ? "ok" : "not ok", ++lines, family, op,
               call ? " # SKIP there is no public function" : " is not in the table of calls");
        failed_lines += call == NULL;
        return;
    }
    json_array_foreach((json_t *)file, k, one)
    {
        if (strcmp(golden_op(one), op) == 0)
            run_case(call, one, &tally);
    }
    report(family, op, &tally);
}

/* Whether case `k` is the first of its operator. */
static bool is_first(const json_t *file, size_t k)
{
    const char *op = golden_op(json_array_get(file, k));
    for (size_t earlier = 0; earlier < k; earlier++)
        if (strcmp(golden_op(json_array_get(file, earlier)), op) == 0)
            return false;
    return true;
}

static int run_family(const char *family)
{
    json_t *file = golden_load(family);
    if (!file)
        return -1;
    for (size_t k = 0; k < json_array_size(file); k++)
        if (is_first(file, k))
            run_op(family, golden_op(json_array_get(file, k)), file);
    json_decref(file);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    axle_device *device = axle_device_current();
    if (!device) {
        printf("Bail out! no device: %s\n", axle_error_message());
        return 1;
    }
    printf("# on %s, in %s\n", axle_device_backend(device), axle_dtype_name(golden_dtype()));
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        if (argc > 1 && strcmp(argv[1], families[k]) != 0)
            continue;
        if (run_family(families[k])) {
            printf("Bail out! the family %s cannot be read\n", families[k]);
            return 1;
        }
    }
    printf("1..%d\n", lines);
    return failed_lines > 0;
}
