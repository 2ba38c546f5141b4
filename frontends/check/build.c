/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

#include "dtype.h"

void operands_free(operands *o)
{
    for (int k = 0; k < AXLE_OP_MAX_IN; k++)
        operand_free(&o->in[k]);
    for (int k = 0; k < AXLE_OP_MAX_OUT; k++)
        operand_free(&o->out[k]);
}

static void note_dims(operands *o, const operand_spec *spec)
{
    if (spec->rank > o->most_dims)
        o->most_dims = spec->rank;
    for (uint32_t k = 0; k < spec->rank; k++)
        o->repeats |= spec->repeats[k];
}

static int create_inputs(const op_case *c, const char *shape, uint32_t dtype, stream *s,
                         operands *o, note *n)
{
    operand_spec spec;
    const char *text = c->in;
    int more;
    while ((more = spec_next(&text, shape, dtype, &spec)) > 0 && o->n_in < AXLE_OP_MAX_IN) {
        const uint32_t k = o->n_in++;
        o->has_in[k] = spec.kind == SPEC_OPERAND;
        note_dims(o, &spec);
        if (o->has_in[k] && !operand_create(&spec, s, &o->in[k], n))
            return 0;
    }
    return more == 0 ? 1 : note_fail(n, "the case is malformed: %s", text);
}

static int create_outputs(const op_case *c, const char *shape, uint32_t dtype, stream *s,
                          operands *o, note *n)
{
    operand_spec spec;
    const char *text = c->out;
    int more;
    while ((more = spec_next(&text, shape, dtype, &spec)) > 0 && o->n_out < AXLE_OP_MAX_OUT) {
        const uint32_t k = o->n_out++;
        o->has_out[k] = spec.kind != SPEC_ABSENT;
        if (spec.kind == SPEC_ALIAS) {
            o->shares[k] = spec.number + 1;
            spec = o->in[spec.number].spec;
        }
        note_dims(o, &spec);
        if (o->has_out[k] && !operand_create(&spec, s, &o->out[k], n))
            return 0;
    }
    return more == 0 ? 1 : note_fail(n, "the case is malformed: %s", text);
}

execution execution_of(const op_case *c, const operands *o, uint64_t rng_seed)
{
    execution e = {.op = c->op,
                   .n_in = o->n_in,
                   .n_out = o->n_out,
                   .attrs = c->attrs,
                   .scalars = c->scalars,
                   .rng_seed = rng_seed,
                   .rng_offset = c->rng_offset,
                   .expected = c->flags & CASE_BAD_INDEX ? AXLE_ERR_INDEX : AXLE_OK};
    for (uint32_t k = 0; k < o->n_in; k++)
        e.in[k] = o->has_in[k] ? &o->in[k] : NULL;
    for (uint32_t k = 0; k < o->n_out; k++)
        e.out[k] = o->has_out[k] ? &o->out[k] : NULL;
    memcpy(e.shares, o->shares, sizeof(e.shares));
    return e;
}

/* ------------------------------------------------------------------ reference */

static int copy_all(const operands *from, int widen, operands *to, note *n)
{
    *to = *from;
    memset(to->in, 0, sizeof(to->in));
    memset(to->out, 0, sizeof(to->out));
    for (uint32_t k = 0; k < from->n_in; k++)
        if (from->has_in[k] && !operand_copy(&from->in[k], widen, &to->in[k], n))
            return 0;
    for (uint32_t k = 0; k < from->n_out; k++)
        if (from->has_out[k] && !operand_copy(&from->out[k], widen, &to->out[k], n))
            return 0;
    return 1;
}

/* Run on the reference and leave the results in the operands. */
static int run_reference(const machine *reference, execution *e, operands *o, note *n)
{
    outcome result;
    e->expand = 1;
    if (!execute(reference, e, &result, n))
        return note_prefix(n, "the reference: ");
    const int ran = result.support != AXLE_SUPPORT_NO;
    for (uint32_t k = 0; k < o->n_out && ran; k++)
        if (o->has_out[k])
            memcpy(o->out[k].elements, result.result[k], (size_t)o->out[k].count * o->out[k].size);
    outcome_free(&result);
    return ran ? 1 : note_fail(n, "the case is malformed: the reference does not take it");
}

int operands_expect(const machine *reference, const op_case *c, const operands *o,
                    uint64_t rng_seed, operands *want, note *n)
{
    if (!copy_all(o, !(c->flags & CASE_EXACT), want, n))
        return 0;
    execution e = execution_of(c, want, rng_seed);
    return run_reference(reference, &e, want, n);
}

/* ------------------------------------------------------------------ forward step */

/* Round a result to the type of the input that it becomes. */
static void take_result(const operand *from, operand *to)
{
    for (int64_t i = 0; i < to->count; i++)
        dtype_set(to->spec.dtype, to->elements + (size_t)i * to->size,
                  dtype_get(from->spec.dtype, from->elements + (size_t)i * from->size));
}

/* Operands of the forward step from its text: numbers stand for inputs of the case. */
static int forward_operands(const char *text, const char *shape, uint32_t dtype, stream *s,
                            const operands *o, int number[], int has[], operand list[],
                            uint32_t *count, note *n)
{
    operand_spec spec;
    int more, made = 1;
    while (made && (more = spec_next(&text, shape, dtype, &spec)) > 0) {
        const uint32_t k = (*count)++;
        operand drawn = {0};
        number[k] = spec.kind == SPEC_NUMBER ? spec.number : -1;
        if (spec.kind == SPEC_ABSENT || (number[k] >= 0 && !o->has_in[number[k]]))
            continue;
        has[k] = 1;
        if (number[k] < 0 && !operand_create(&spec, s, &drawn, n))
            return 0;
        made = operand_copy(number[k] < 0 ? &drawn : &o->in[number[k]], 1, &list[k], n);
        operand_free(&drawn);
    }
    return made;
}

static int forward(const machine *reference, const op_case *c, const char *shape, uint32_t dtype,
                   uint64_t rng_seed, stream *s, operands *o, note *n)
{
    operands f = {0};
    int in_number[AXLE_OP_MAX_IN], out_number[AXLE_OP_MAX_OUT];
    const op_case step = {.op = c->forward.op, .attrs = c->attrs, .rng_offset = c->rng_offset};
    int good = forward_operands(c->forward.in, shape, dtype, s, o, in_number, f.has_in, f.in,
                                &f.n_in, n) &&
               forward_operands(c->forward.out, shape, dtype, s, o, out_number, f.has_out, f.out,
                                &f.n_out, n);
    if (good) {
        execution e = execution_of(&step, &f, rng_seed);
        good = run_reference(reference, &e, &f, n) || note_prefix(n, "forward: ");
    }
    for (uint32_t k = 0; k < f.n_out && good; k++)
        if (f.has_out[k] && out_number[k] >= 0)
            take_result(&f.out[k], &o->in[out_number[k]]);
    operands_free(&f);
    return good;
}

int operands_create(const machine *reference, const op_case *c, const char *shape, uint32_t dtype,
                    uint64_t rng_seed, stream *s, operands *out, note *n)
{
    *out = (operands){0};
    return create_inputs(c, shape, dtype, s, out, n) &&
           create_outputs(c, shape, dtype, s, out, n) &&
           (!c->forward.op || forward(reference, c, shape, dtype, rng_seed, s, out, n));
}
