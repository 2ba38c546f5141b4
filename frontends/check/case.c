/* SPDX-License-Identifier: Apache-2.0 */
/* Running a case: with each of its shapes, in each layout. */
#include "case.h"

#include <stdio.h>
#include <string.h>

#include "build.h"
#include "compare.h"
#include "dtype.h"
#include "trial.h"

const char *const elementwise_shapes[] = {"3,5", "", "1", "0,3", "7", "1037", "2,1,3,4", NULL};

/* How operands lie. Where `least_dims` are not there, it is a layout that came before. */
typedef struct arrangement {
    const char *name;
    operand_layout in, out;
    uint32_t least_dims;
    uint32_t wants; /* flags of the case */
    int quick;
} arrangement;

static const arrangement arrangements[] = {
    {"row-major", LAYOUT_ROWS, LAYOUT_ROWS, 0, 0, 1},
    {"unaligned", LAYOUT_SHIFTED, LAYOUT_SHIFTED, 0, 0, 1},
    {"in place", LAYOUT_ROWS, LAYOUT_ROWS, 0, CASE_IN_PLACE, 0},
    {"padded rows", LAYOUT_PADDED, LAYOUT_PADDED, 2, 0, 0},
    {"every second element", LAYOUT_STEPPED, LAYOUT_STEPPED, 1, 0, 0},
    {"column-major", LAYOUT_TURNED, LAYOUT_TURNED, 2, 0, 0},
    {"column-major to row-major", LAYOUT_TURNED, LAYOUT_ROWS, 2, 0, 1},
    {"channels last", LAYOUT_CHANNELS, LAYOUT_CHANNELS, 3, 0, 0},
};
enum { ARRANGEMENTS = sizeof(arrangements) / sizeof(arrangements[0]), FLAT_ARRANGEMENTS = 2 };

/* A case with one shape, and what it should give. */
typedef struct attempt {
    const trial *t;
    const op_case *c;
    operands given, want;
    uint64_t rng_seed;
    int served; /* at least one layout ran on the device */
} attempt;

static int results_agree(const attempt *a, const outcome *result, note *n)
{
    const allowance how = {.slack = a->c->slack > 0.0 ? a->c->slack : 1.0,
                           .exact = a->c->flags & CASE_EXACT,
                           .rounded = a->c->forward.op != 0};
    for (uint32_t k = 0; k < a->given.n_out; k++)
        if (a->given.has_out[k] && result->result[k] &&
            !compare(&a->given.out[k], result->result[k], &a->want.out[k], how, n))
            return a->given.n_out > 1 ? note_prefix(n, "output %u, ", k) : 0;
    return 1;
}

/* Ran at all? Results may be absent where the device wants the core to copy. */
static int has_run(const attempt *a, const outcome *result)
{
    for (uint32_t k = 0; k < a->given.n_out; k++)
        if (result->result[k])
            return 1;
    return 0;
}

static int run_execution(attempt *a, const execution *e, note *n)
{
    outcome result;
    if (!execute(&a->t->subject, e, &result, n))
        return 0;
    a->served |= has_run(a, &result);
    const int agrees = a->c->flags & CASE_BAD_INDEX || results_agree(a, &result, n);
    outcome_free(&result);
    return agrees;
}

static int can_be_in_place(const attempt *a)
{
    const operand *x = &a->given.in[0], *y = &a->given.out[0];
    int repeats = 0;
    for (uint32_t k = 0; k < x->spec.rank; k++)
        repeats |= x->spec.repeats[k];
    return a->given.has_in[0] && x->spec.dtype == y->spec.dtype && !repeats && x->count == y->count;
}

static int run_arrangement(attempt *a, const arrangement *how, note *n)
{
    execution e = execution_of(a->c, &a->given, a->rng_seed);
    e.in_layout = how->in;
    e.out_layout = how->out;
    e.expand = !a->given.repeats;
    if (how->wants & CASE_IN_PLACE)
        e.shares[0] = 1;
    return run_execution(a, &e, n) || note_prefix(n, "%s: ", how->name);
}

static int run_arrangements(attempt *a, note *n)
{
    const uint32_t flags = a->c->flags;
    const int count = flags & CASE_FLAT ? FLAT_ARRANGEMENTS : ARRANGEMENTS;
    for (int k = 0; k < count; k++) {
        const arrangement *how = &arrangements[k];
        if (how->least_dims > a->given.most_dims || (how->wants & flags) != how->wants ||
            (a->t->options->quick && !how->quick) ||
            (how->wants & CASE_IN_PLACE && !can_be_in_place(a)))
            continue;
        if (!run_arrangement(a, how, n))
            return 0;
    }
    return 1;
}

/* Repeating dims written out, for devices that want that; and twice, for the same bits. */
static int run_again(attempt *a, note *n)
{
    execution e = execution_of(a->c, &a->given, a->rng_seed);
    e.expand = 1;
    e.twice = !(a->c->flags & CASE_BAD_INDEX);
    return run_execution(a, &e, n) || note_prefix(n, "%s: ", e.twice ? "run twice" : "row-major");
}

static int try_shape(attempt *a, const char *shape, uint32_t dtype, stream *s, note *n)
{
    const machine *reference = &a->t->reference;
    a->rng_seed = stream_next(s);
    int good = operands_create(reference, a->c, shape, dtype, a->rng_seed, s, &a->given, n) &&
               (a->c->flags & CASE_BAD_INDEX ||
                operands_expect(reference, a->c, &a->given, a->rng_seed, &a->want, n)) &&
               run_arrangements(a, n) && run_again(a, n);
    operands_free(&a->given);
    operands_free(&a->want);
    if (!good && shape)
        note_prefix(n, "(%s) ", shape);
    return good;
}

check_status case_run(trial *t, const op_case *c, uint32_t dtype, note *n)
{
    static const char *const no_shape[] = {NULL, NULL};
    enum { QUICK_SHAPES = 2 };
    attempt a = {.t = t, .c = c};
    char name[128];
    snprintf(name, sizeof(name), "%u %s %s", c->op, c->name, dtype_name(dtype));
    stream s = stream_of((uint64_t)t->options->seed, name);
    if (!trial_open(t, n) || !trial_reference(t, n))
        return CHECK_FAILED;
    const char *const *shape = c->shapes ? c->shapes : no_shape;
    for (int k = 0; k == 0 || shape[k]; k++) {
        if (t->options->quick && k == QUICK_SHAPES)
            break;
        if (!try_shape(&a, shape[k], dtype, &s, n))
            return CHECK_FAILED;
    }
    return a.served ? CHECK_PASSED : CHECK_HOST;
}

int case_applies(const machine *reference, const op_case *c, uint32_t dtype)
{
    note n;
    operands o;
    stream s = stream_of(0, "");
    const char *shape = c->shapes ? c->shapes[0] : NULL;
    int answer = -1;
    /* The forward step may be what the reference declines. */
    op_case first = *c;
    first.forward.op = 0;
    if (operands_create(reference, &first, shape, dtype, 0, &s, &o, &n)) {
        const execution e = execution_of(c, &o, 0);
        answer = execution_support(reference, &e) != AXLE_SUPPORT_NO;
    }
    operands_free(&o);
    return answer;
}
