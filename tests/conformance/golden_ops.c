/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operator of the golden files on the current device (AXLE_BACKEND): values and gradients
 * agree with PyTorch's. One TAP line an operator. Arguments, as choice.h says, are the families to
 * run and a part of each operator's cases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axle/autograd.h"
#include "axle/status.h"
#include "conformance/choice.h"
#include "conformance/golden_calls.h"
#include "support/golden.h"
#include "support/tap.h"

static const char *const families[] = {
    "unary", "binary", "select", "reduce", "arg_reduce", "matmul",      "softmax",   "loss",
    "norm",  "index",  "shape",  "conv",   "pool",       "interpolate", "attention",
};

/* What became of an operator's cases. */
struct tally {
    int agreed, failed, skipped;
};

static void complain(const json_t *one, const char *what, const char *message)
{
    char *attrs = json_dumps(json_object_get(one, "attrs"), JSON_COMPACT);
    tap_note("%s, %s: %s: %s (%s)", golden_op(one), golden_name(one), what, message,
             attrs ? attrs : "");
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
            complain(one, k ? "a later output" : "output", message);
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
            complain(one, "backward", axle_error_message());
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
            complain(one, k ? "gradient of a later input" : "gradient of the first input", message);
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
            complain(one, "an input", axle_error_message());
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

static void run_cases(const golden_call *call, const json_t *file)
{
    struct tally tally = {0, 0, 0};
    for (size_t k = 0, seen = 0; k < json_array_size(file); k++) {
        const json_t *one = json_array_get(file, k);
        if (strcmp(golden_op(one), call->op) == 0 && choice_has_case(seen++))
            run_case(call, one, &tally);
    }
    if (tally.skipped)
        tap_note("%s: %d cases have no public form", call->op, tally.skipped);
    tap_result(tally.failed == 0, "%s: %s agrees with PyTorch in %d cases", call->family, call->op,
               tally.agreed);
}

static void run_op(const char *family, const char *op, const json_t *file)
{
    const golden_call *call = golden_call_find(family, op);
    if (!call)
        tap_result(false, "%s: %s is in the table of calls", family, op);
    else if (!call->call)
        tap_result(true, "%s: %s # SKIP there is no public function", family, op);
    else
        run_cases(call, file);
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

static bool run_family(const char *family)
{
    json_t *file = golden_load(family);
    if (!file)
        return false;
    for (size_t k = 0; k < json_array_size(file); k++)
        if (is_first(file, k))
            run_op(family, golden_op(json_array_get(file, k)), file);
    json_decref(file);
    return true;
}

int main(int argc, char **argv)
{
    if (!choice_read(argc, argv))
        return tap_bail_out("a part is K/N with K from 1 to N");
    axle_device *device = axle_device_current();
    if (!device)
        return tap_bail_out(axle_error_message());
    tap_note("on %s, in %s", axle_device_backend(device), axle_dtype_name(golden_dtype()));
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++)
        if (choice_has(families[k]) && !run_family(families[k]))
            return tap_bail_out("the golden vectors cannot be read");
    return tap_finish();
}
