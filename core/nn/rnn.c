/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LSTM (Hochreiter and Schmidhuber, 1997) and GRU (Cho et al., 2014). Inside, time is dim 0: the
 * input's part of the gates is one product over all steps, and each step is a contiguous slice of
 * it. G is the number of gates, 4 or 3; H the hidden size.
 */
#include "base/memory.h"
#include "nn/module.h"
#include "nn/precision.h"
#include "nn/unbind.h"

/* One layer in one direction. */
struct cell {
    axle_tensor *weight_ih;         /* (G*H, input) */
    axle_tensor *weight_hh;         /* (G*H, H) */
    axle_tensor *bias_ih, *bias_hh; /* (G*H), or NULL */
};

enum { H_STATE, C_STATE, N_STATES };

typedef struct rnn_kind {
    const char *name;
    int gates, states;
    /* From a step's input part (B, G*H) and the states (B, H) to the next states. */
    int (*step)(const struct cell *cell, axle_tensor *input, axle_tensor **state);
} rnn_kind;

struct rnn {
    axle_module base;
    axle_rnn_options options;
    const rnn_kind *kind;
    struct cell *cell; /* layers * directions */
};

static int directions_of(const axle_rnn_options *options)
{
    return options->bidirectional ? 2 : 1;
}

/* ------------------------------------------------------------------ steps */

/* (B, G*H) as G views (B, H). */
static int split_gates(axle_tensor *x, int gates, axle_tensor **out)
{
    if (!x)
        return axle_error_code();
    int64_t batch = x->view.dim[0], hidden = x->view.dim[1] / gates;
    return axle__unbind(axle_reshape(x, AXLE_DIMS(batch, gates, hidden)), 1, gates, out);
}

/* Gates in PyTorch's order: input, forget, candidate, output. */
static int lstm_step(const struct cell *cell, axle_tensor *input, axle_tensor **state)
{
    axle_tensor *gate[4];
    axle_tensor *hidden = axle_linear(state[H_STATE], cell->weight_hh, cell->bias_hh);
    if (split_gates(axle_add(input, hidden), 4, gate))
        return axle_error_code();
    axle_tensor *kept = axle_mul(axle_sigmoid(gate[1]), state[C_STATE]);
    axle_tensor *c = axle_add(kept, axle_mul(axle_sigmoid(gate[0]), axle_tanh(gate[2])));
    state[C_STATE] = c;
    state[H_STATE] = axle_mul(axle_sigmoid(gate[3]), axle_tanh(c));
    return state[H_STATE] ? AXLE_OK : axle_error_code();
}

/* Gates in PyTorch's order: reset, update, candidate; reset applies after the product. */
static int gru_step(const struct cell *cell, axle_tensor *input, axle_tensor **state)
{
    axle_tensor *x[3], *y[3], *h = state[H_STATE];
    if (split_gates(input, 3, x) ||
        split_gates(axle_linear(h, cell->weight_hh, cell->bias_hh), 3, y))
        return axle_error_code();
    axle_tensor *reset = axle_sigmoid(axle_add(x[0], y[0]));
    axle_tensor *update = axle_sigmoid(axle_add(x[1], y[1]));
    axle_tensor *candidate = axle_tanh(axle_add(x[2], axle_mul(reset, y[2])));
    /* (1 - update) * candidate + update * h */
    state[H_STATE] = axle_add(candidate, axle_mul(update, axle_sub(h, candidate)));
    return state[H_STATE] ? AXLE_OK : axle_error_code();
}

static const rnn_kind kinds[] = {
    [AXLE_RNN_LSTM] = {"lstm", 4, 2, lstm_step},
    [AXLE_RNN_GRU] = {"gru", 3, 1, gru_step},
};

/* ------------------------------------------------------------------ sequences */

/* One step in a scope of its own, so that without recording only states outlive it. */
static int scoped_step(const rnn_kind *kind, const struct cell *cell, axle_tensor *input,
                       axle_tensor **state)
{
    if (axle_scope_push())
        return axle_error_code();
    int status = kind->step(cell, input, state);
    if (status)
        axle_scope_pop();
    return status ? status : axle__scope_pop_keep_all(state, kind->states);
}

/* Run over all steps in `step`, each (B, G*H), which become the hidden states (B, H). */
static int run_steps(const rnn_kind *kind, const struct cell *cell, bool reverse, int length,
                     axle_tensor **step, axle_tensor **state)
{
    for (int i = 0; i < length; i++) {
        int t = reverse ? length - 1 - i : i;
        int status = scoped_step(kind, cell, step[t], state);
        if (status)
            return status;
        step[t] = state[H_STATE];
    }
    return AXLE_OK;
}

/* x (L, B, input) to (L, B, H); `state` goes from the first to the last. */
static axle_tensor *run_cell(const rnn_kind *kind, const struct cell *cell, bool reverse,
                             axle_tensor *x, axle_tensor **state)
{
    int length = (int)x->view.dim[0];
    axle_tensor **step = axle__alloc((size_t)length, sizeof(*step)), *y = NULL;
    if (!step)
        return NULL;
    axle_tensor *input = axle_linear(x, cell->weight_ih, cell->bias_ih);
    if (!axle__unbind(input, 0, length, step) &&
        !run_steps(kind, cell, reverse, length, step, state))
        y = axle_stack(step, length, 0);
    axle__free(step);
    return y;
}

/* What a forward pass carries from cell to cell. */
struct pass {
    axle_tensor *start[N_STATES]; /* (cells, B, H), or NULL for zeros */
    axle_tensor **last[N_STATES]; /* of each cell, (B, H) */
};

static axle_tensor *start_state(const struct rnn *rnn, const axle_tensor *x, axle_tensor *given,
                                int k)
{
    if (given)
        return axle_select(given, 0, k);
    return axle__filled(rnn->kind->name, x->device, (int)axle__dtype(x),
                        AXLE_DIMS(x->view.dim[1], rnn->options.hidden), 0.0);
}

static axle_tensor *run_direction(const struct rnn *rnn, struct pass *pass, int k, bool reverse,
                                  axle_tensor *x)
{
    axle_tensor *state[N_STATES] = {NULL, NULL};
    for (int s = 0; s < rnn->kind->states; s++) {
        state[s] = start_state(rnn, x, pass->start[s], k);
        if (!state[s])
            return NULL;
    }
    axle_tensor *y = run_cell(rnn->kind, &rnn->cell[k], reverse, x, state);
    for (int s = 0; s < rnn->kind->states; s++)
        pass->last[s][k] = state[s];
    return y;
}

static axle_tensor *run_layer(const struct rnn *rnn, struct pass *pass, int layer, axle_tensor *x)
{
    int directions = directions_of(&rnn->options);
    axle_tensor *y[2];
    for (int d = 0; d < directions; d++) {
        y[d] = run_direction(rnn, pass, layer * directions + d, d == 1, x);
        if (!y[d])
            return NULL;
    }
    return directions == 1 ? y[0] : axle_concat(y, 2, 2);
}

/* x (B, L, input) to (B, L, H * directions). */
static axle_tensor *run_layers(const struct rnn *rnn, struct pass *pass, axle_tensor *x)
{
    const axle_rnn_options *options = &rnn->options;
    axle_tensor *y = axle_transpose(x, 0, 1);
    for (int layer = 0; layer < options->layers && y; layer++) {
        if (layer > 0 && rnn->base.training && options->dropout > 0.0)
            y = axle_dropout(y, options->dropout);
        y = y ? run_layer(rnn, pass, layer, y) : NULL;
    }
    return axle_transpose(y, 0, 1);
}

/* ------------------------------------------------------------------ forward */

static int check_state(const struct rnn *rnn, const char *what, const axle_tensor *state,
                       int64_t batch)
{
    char text[AXLE__DIMS_TEXT];
    int64_t cells = (int64_t)rnn->options.layers * directions_of(&rnn->options);
    if (!state || (axle__rank(state) == 3 && state->view.dim[0] == cells &&
                   state->view.dim[1] == batch && state->view.dim[2] == rnn->options.hidden))
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_SHAPE, "%s: %s is %s, not (%lld, %lld, %lld)", rnn->kind->name,
                          what, axle__shape_text(state, text), (long long)cells, (long long)batch,
                          (long long)rnn->options.hidden);
}

static int check_inputs(const struct rnn *rnn, const axle_tensor *x, const axle_tensor *h0,
                        const axle_tensor *c0)
{
    char text[AXLE__DIMS_TEXT];
    if (axle__rank(x) != 3 || x->view.dim[2] != rnn->options.input || x->view.dim[1] < 1 ||
        x->view.dim[1] > INT32_MAX)
        return axle_error_set(AXLE_ERR_SHAPE, "%s: x is %s, not (B, L >= 1, %lld)", rnn->kind->name,
                              axle__shape_text(x, text), (long long)rnn->options.input);
    if (c0 && rnn->kind->states < 2)
        return axle_error_set(AXLE_ERR_INVALID, "%s: there is no c0", rnn->kind->name);
    int status = check_state(rnn, "h0", h0, x->view.dim[0]);
    return status ? status : check_state(rnn, "c0", c0, x->view.dim[0]);
}

/* out: y, h, c; NULL where not wanted or not there. */
static int forward(const struct rnn *rnn, axle_tensor *x, struct pass *pass, const bool *wanted,
                   axle_tensor **out)
{
    int cells = rnn->options.layers * directions_of(&rnn->options);
    axle_tensor **last = axle__alloc((size_t)cells * N_STATES, sizeof(*last));
    if (!last)
        return axle_error_code();
    for (int s = 0; s < N_STATES; s++)
        pass->last[s] = last + s * cells;
    out[0] = run_layers(rnn, pass, x);
    int status = out[0] ? AXLE_OK : axle_error_code();
    for (int s = 0; s < rnn->kind->states && !status; s++) {
        if (!wanted[s])
            continue;
        out[1 + s] = axle_stack(pass->last[s], cells, 0);
        status = out[1 + s] ? AXLE_OK : axle_error_code();
    }
    axle__free(last);
    return status;
}

static axle_tensor *rnn_forward(axle_module *self, axle_tensor *x)
{
    return axle_rnn_forward(self, x, NULL, NULL, NULL, NULL);
}

static void rnn_destroy(axle_module *self)
{
    axle__free(((struct rnn *)self)->cell);
}

static const axle_module_class rnn_class = {
    .struct_size = sizeof(axle_module_class),
    .name = "rnn",
    .instance_size = sizeof(struct rnn),
    .forward = rnn_forward,
    .destroy = rnn_destroy,
};

axle_tensor *axle_rnn_forward(axle_module *module, axle_tensor *x, axle_tensor *h0, axle_tensor *c0,
                              axle_tensor **h, axle_tensor **c)
{
    const struct rnn *rnn = (struct rnn *)module;
    if (!x || axle__check_class("axle_rnn_forward", module, &rnn_class) ||
        check_inputs(rnn, x, h0, c0) || axle_scope_push())
        return NULL;
    struct pass pass = {.start = {h0, c0}};
    axle_tensor *out[1 + N_STATES] = {NULL, NULL, NULL};
    bool region = axle__precision_begin(module);
    int status = forward(rnn, x, &pass, (const bool[]){h != NULL, c != NULL}, out);
    axle__precision_end(region, out, status ? 0 : 1 + N_STATES);
    if (status)
        axle_scope_pop();
    if (status || axle__scope_pop_keep_all(out, 1 + N_STATES))
        return NULL;
    if (h)
        *h = out[1 + H_STATE];
    if (c)
        *c = out[1 + C_STATE];
    return out[0];
}

/* ------------------------------------------------------------------ construction */

static int add_parameter(struct rnn *rnn, const char *what, int layer, bool reverse, int rank,
                         int64_t columns, axle_tensor **out)
{
    const axle_rnn_options *options = &rnn->options;
    char *name = axle__format("%s_l%d%s", what, layer, reverse ? "_reverse" : "");
    if (!name)
        return axle_error_code();
    int64_t dims[2] = {rnn->kind->gates * options->hidden, columns};
    int status =
        axle__add_uniform(&rnn->base, name, axle__fan_bound(options->hidden), rank, dims, out);
    axle__free(name);
    return status;
}

static int add_cell(struct rnn *rnn, int layer, bool reverse, struct cell *cell)
{
    const axle_rnn_options *options = &rnn->options;
    int64_t hidden = options->hidden;
    int64_t input = layer ? hidden * directions_of(options) : options->input;
    int status = add_parameter(rnn, "weight_ih", layer, reverse, 2, input, &cell->weight_ih);
    if (!status)
        status = add_parameter(rnn, "weight_hh", layer, reverse, 2, hidden, &cell->weight_hh);
    if (!status && options->bias)
        status = add_parameter(rnn, "bias_ih", layer, reverse, 1, 0, &cell->bias_ih);
    if (!status && options->bias)
        status = add_parameter(rnn, "bias_hh", layer, reverse, 1, 0, &cell->bias_hh);
    return status;
}

static int add_cells(struct rnn *rnn)
{
    int directions = directions_of(&rnn->options), status = AXLE_OK;
    rnn->cell = axle__alloc((size_t)rnn->options.layers * (size_t)directions, sizeof(*rnn->cell));
    if (!rnn->cell)
        return axle_error_code();
    for (int k = 0; k < rnn->options.layers * directions && !status; k++)
        status = add_cell(rnn, k / directions, k % directions == 1, &rnn->cell[k]);
    return status;
}

static int check_options(const axle_rnn_options *options)
{
    if (options->kind != AXLE_RNN_LSTM && options->kind != AXLE_RNN_GRU)
        return axle_error_set(AXLE_ERR_INVALID, "rnn: there is no kind %d", options->kind);
    const char *who = kinds[options->kind].name;
    if (axle__check_least(who, "input", options->input, 1) ||
        axle__check_least(who, "hidden", options->hidden, 1) ||
        axle__check_least(who, "layers", options->layers, 1) ||
        axle__check_probability(who, "dropout", options->dropout))
        return axle_error_code();
    if (options->layers > 10000 || options->hidden > INT64_MAX / 8)
        return axle_error_set(AXLE_ERR_INVALID, "%s: layers %d and hidden %lld are too many", who,
                              options->layers, (long long)options->hidden);
    return AXLE_OK;
}

int axle_rnn_create(const axle_rnn_options *given, axle_module **out)
{
    axle_rnn_options options = AXLE_RNN_OPTIONS_INIT;
    if (axle__options_copy("rnn", given, &options, sizeof(options)) || check_options(&options))
        return axle_error_code();
    struct rnn *rnn = NULL;
    int status = axle_module_new(&rnn_class, (axle_module **)&rnn);
    if (!status) {
        rnn->options = options;
        rnn->kind = &kinds[options.kind];
        status = add_cells(rnn);
    }
    return axle__module_finish(status, (axle_module *)rnn, out);
}
