/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, token by token. */
#include <stdlib.h>

#include "../../common/options_copy.h"
#include "axle/autograd.h"
#include "choose.h"
#include "heads.h"
#include "past.h"

typedef struct generation {
    axle__network *network;
    const axle_generate_options *options;
    axle__past past;
    int64_t vocabulary, end;
    int64_t *ids, count; /* new ones */
    float *logits;       /* of the last token */
    axle__chooser chooser;
} generation;

/* ------------------------------------------------------------------ a pass */

/* The logits behind tokens that follow those before. */
static int pass(generation *g, const int64_t *ids, int64_t n)
{
    const axle__network *network = g->network;
    const axle_tensor *words = axle_module_parameter(network->words, "weight");
    axle__inputs in = {.rows = 1, .length = n, .past = &g->past};
    in.ids = axle_to_device(axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(1, n), ids),
                            axle_tensor_device(words));
    axle_tensor *hidden = in.ids ? network->kind->run(network, &in) : NULL;
    axle_tensor *last = hidden ? axle_slice(hidden, 1, n - 1, n, 1) : NULL;
    axle_tensor *logits = last ? network->task->head->run(network, last) : NULL;
    logits = logits ? axle_cast(logits, AXLE_DTYPE_F32) : NULL;
    if (!logits)
        return axle_error_code();
    return axle_tensor_read(logits, g->logits, (size_t)g->vocabulary * sizeof(*g->logits));
}

static int pass_in_scope(generation *g, const int64_t *ids, int64_t n)
{
    int status = axle_scope_push();
    if (status)
        return status;
    status = pass(g, ids, n);
    axle_scope_pop();
    return status;
}

/* ------------------------------------------------------------------ the text */

static int go_on(generation *g, const int64_t *ids, int64_t n)
{
    const axle_generate_options *o = g->options;
    const int64_t room = g->network->longest - n;
    const int64_t most = o->max_new_tokens < room ? o->max_new_tokens : room;
    int status = most > 0 ? pass_in_scope(g, ids, n) : AXLE_OK;
    while (!status && g->count < most) {
        int64_t id = axle__choose_token(&g->chooser, g->logits, g->vocabulary);
        g->ids[g->count++] = id;
        if ((o->token && o->token(o->user, id)) || id == g->end || g->count == most)
            break;
        status = pass_in_scope(g, &id, 1);
    }
    return status;
}

/* Without dropout, and the modules' training flags as before. */
static int evaluate(generation *g, const int64_t *ids, int64_t n)
{
    axle_module *module = &g->network->base;
    const int training = module->training;
    axle_module_train(module, 0);
    axle_no_grad_push();
    int status = go_on(g, ids, n);
    axle_no_grad_pop();
    axle_module_train(module, training);
    return status;
}

/* ------------------------------------------------------------------ what it begins with */

static int check_options(const axle_generate_options *o)
{
    if (o->max_new_tokens >= 0 && o->top_k >= 0 && o->temperature > 0.0 && o->top_p > 0.0 &&
        o->top_p <= 1.0 && o->end >= -2)
        return AXLE_OK;
    return axle_error_set(AXLE_ERR_INVALID,
                          "axle_transformer_generate: %lld tokens, top_k %lld, top_p %g and "
                          "temperature %g cannot be",
                          (long long)o->max_new_tokens, (long long)o->top_k, o->top_p,
                          o->temperature);
}

static int check_beginning(const generation *g, const int64_t *ids, int64_t n)
{
    if (n < 1 || n > g->network->longest)
        return axle_error_set(
            AXLE_ERR_SHAPE,
            "axle_transformer_generate: a beginning of %lld tokens; %s takes 1 to "
            "%lld",
            (long long)n, g->network->kind->model_type, (long long)g->network->longest);
    for (int64_t k = 0; k < n; k++)
        if (ids[k] < 0 || ids[k] >= g->vocabulary)
            return axle_error_set(AXLE_ERR_INDEX,
                                  "axle_transformer_generate: there is no token %lld",
                                  (long long)ids[k]);
    return AXLE_OK;
}

static int64_t end_of(const axle__network *network, int64_t wanted)
{
    int64_t end = -1;
    if (wanted != -1)
        return wanted;
    axle_transformer_config_get_int(network->config, "eos_token_id", &end);
    axle_error_clear();
    return end;
}

static int begin(generation *g, const int64_t *ids, int64_t n)
{
    const axle_generate_options *o = g->options;
    g->vocabulary = g->network->sizes.vocabulary;
    g->end = end_of(g->network, o->end);
    int status = check_beginning(g, ids, n);
    if (status)
        return status;
    g->ids = calloc((size_t)o->max_new_tokens + 1, sizeof(*g->ids));
    g->logits = calloc((size_t)g->vocabulary, sizeof(*g->logits));
    if (!g->ids || !g->logits)
        return axle_error_set(AXLE_ERR_NOMEM, "out of memory for a text");
    status = axle__chooser_create(o, g->vocabulary, &g->chooser);
    return status ? status : axle__past_create(g->network->sizes.layers, &g->past);
}

int axle_transformer_generate(axle_model *model, const int64_t *ids, int64_t n,
                              const axle_generate_options *options, int64_t **out, int64_t *count)
{
    axle_generate_options o = AXLE_GENERATE_OPTIONS_INIT;
    generation g = {.network = axle__network_of(model), .options = &o};
    if (!g.network || g.network->task->head != &axle__causal_head)
        return axle_error_set(AXLE_ERR_INVALID,
                              "axle_transformer_generate: the model does not tell the next token");
    int status = options_copy("axle_transformer_generate", options, &o, sizeof(o));
    if (!status)
        status = check_options(&o);
    if (!status)
        status = begin(&g, ids, n);
    if (!status)
        status = evaluate(&g, ids, n);
    axle__past_release(&g.past);
    axle__chooser_release(&g.chooser);
    free(g.logits);
    if (status) {
        free(g.ids);
        return status;
    }
    *out = g.ids;
    *count = g.count;
    return AXLE_OK;
}
