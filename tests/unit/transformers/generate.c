/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a model continues. */
#include "tiny.h"

#include "axle/autograd.h"
#include "axle/random.h"

enum { NEW = 6 };

static const int64_t beginning[] = {5, 9, 3};

/* With larger values than usual, so that logits differ. */
static axle_model *writer(void)
{
    axle_transformer_config *config = tiny_config("gpt2");
    axle_seed(4);
    tiny_ok(axle_transformer_config_set_double(config, "initializer_range", 0.6));
    return tiny_of(config, "causal-lm");
}

static axle_generate_options options_of(int sample, uint64_t seed)
{
    axle_generate_options options = AXLE_GENERATE_OPTIONS_INIT;
    options.max_new_tokens = NEW;
    options.sample = sample;
    options.seed = seed;
    options.end = -2;
    return options;
}

static int64_t *generate(axle_model *model, const axle_generate_options *options, int64_t *count)
{
    int64_t *ids = NULL;
    tiny_ok(axle_transformer_generate(model, beginning, 3, options, &ids, count));
    return ids;
}

/* The last place's likeliest token, by a pass over all of the text. */
static int64_t next_of_all(axle_model *model, const int64_t *ids, int64_t n)
{
    axle_batch *batch;
    int64_t best = 0;
    tiny_ok(axle_batch_create(&batch));
    tiny_set(batch, "input_ids", axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(1, n), ids));
    double *logits = tensors_read(tiny_logits(model, batch));
    double *last = logits + (n - 1) * TINY_VOCABULARY;
    for (int64_t k = 1; k < TINY_VOCABULARY; k++)
        best = last[k] > last[best] ? k : best;
    free(logits);
    axle_batch_release(batch);
    return best;
}

static void the_likeliest_tokens_are_those_of_whole_passes(void **state)
{
    (void)state;
    axle_model *model = writer();
    axle_generate_options options = options_of(0, 0);
    int64_t all[3 + NEW] = {5, 9, 3}, count;
    int64_t *ids = generate(model, &options, &count);
    assert_int_equal(count, NEW);
    axle_module_train(axle_model_module(model), 0);
    for (int64_t k = 0; k < NEW; k++) {
        all[3 + k] = next_of_all(model, all, 3 + k);
        assert_int_equal(ids[k], all[3 + k]);
    }
    axle_free(ids);
    axle_model_release(model);
}

static void equal_seeds_draw_equal_texts(void **state)
{
    (void)state;
    axle_model *model = writer();
    int64_t count, different = 0;
    axle_generate_options options = options_of(1, 7);
    options.temperature = 3.0;
    int64_t *first = generate(model, &options, &count), *second = generate(model, &options, &count);
    assert_memory_equal(first, second, NEW * sizeof(*first));
    for (options.seed = 8; options.seed < 12; options.seed++) {
        int64_t *other = generate(model, &options, &count);
        different += memcmp(first, other, NEW * sizeof(*first)) != 0;
        axle_free(other);
    }
    assert_true(different > 0);
    axle_free(first);
    axle_free(second);
    axle_model_release(model);
}

/* Of one candidate, or of those that reach a tiny probability, the likeliest is drawn. */
static void few_candidates_leave_the_likeliest(void **state)
{
    (void)state;
    axle_model *model = writer();
    int64_t count;
    axle_generate_options greedy = options_of(0, 0), one = options_of(1, 3), top = options_of(1, 3);
    one.top_k = 1;
    top.top_p = 1e-9;
    int64_t *a = generate(model, &greedy, &count), *b = generate(model, &one, &count);
    int64_t *c = generate(model, &top, &count);
    assert_memory_equal(a, b, NEW * sizeof(*a));
    assert_memory_equal(a, c, NEW * sizeof(*a));
    axle_free(a);
    axle_free(b);
    axle_free(c);
    axle_model_release(model);
}

static int stop_at_second(void *user, int64_t id)
{
    int64_t *seen = user;
    assert_true(id >= 0);
    return ++*seen == 2;
}

static void texts_end(void **state)
{
    (void)state;
    axle_model *model = writer();
    axle_generate_options options = options_of(0, 0);
    int64_t count, seen = 0;
    int64_t *ids = generate(model, &options, &count), second = ids[1];
    axle_free(ids);
    options.end = second;
    ids = generate(model, &options, &count);
    assert_true(count <= 2 && ids[count - 1] == second);
    axle_free(ids);
    options = options_of(0, 0);
    options.token = stop_at_second;
    options.user = &seen;
    ids = generate(model, &options, &count);
    assert_int_equal(count, 2);
    axle_free(ids);
    options = options_of(0, 0);
    options.max_new_tokens = 100; /* there are 12 positions, three of which are taken */
    ids = generate(model, &options, &count);
    assert_int_equal(count, TINY_POSITIONS - 3);
    axle_free(ids);
    axle_model_release(model);
}

static void the_model_stays_as_it_was(void **state)
{
    (void)state;
    axle_model *model = writer();
    axle_generate_options options = options_of(0, 0);
    int64_t count;
    assert_true(axle_model_module(model)->training);
    axle_free(generate(model, &options, &count));
    assert_true(axle_model_module(model)->training);
    axle_batch *batch = tiny_batch(1, 4);
    tiny_set(batch, "labels",
             axle_from_data(AXLE_DTYPE_I64, AXLE_DIMS(1, 4), TINY_INTEGERS(1, 2, 3, 4)));
    axle_output out = axle_model_forward(model, batch);
    tiny_ok(axle_tensor_backward(out.loss, NULL, 0));
    assert_non_null(axle_tensor_grad(tiny_parameter(model, "transformer.wpe.weight")));
    axle_batch_release(batch);
    axle_model_release(model);
}

static void refuse(axle_model *model, const int64_t *ids, int64_t n,
                   const axle_generate_options *options, int code, const char *part)
{
    int64_t *out = NULL, count;
    assert_int_equal(axle_transformer_generate(model, ids, n, options, &out, &count), code);
    assert_null(out);
    unit_expect_error(code, part);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    axle_model *model = writer(), *other = tiny_model("bert", "masked-lm");
    axle_generate_options cold = options_of(1, 0), all = options_of(1, 0);
    cold.temperature = 0.0;
    all.top_p = 1.5;
    refuse(other, beginning, 3, NULL, AXLE_ERR_INVALID, "next token");
    refuse(model, beginning, 0, NULL, AXLE_ERR_SHAPE, "0 tokens");
    refuse(model, TINY_INTEGERS(1, TINY_VOCABULARY), 2, NULL, AXLE_ERR_INDEX, "no token 40");
    refuse(model, beginning, 3, &cold, AXLE_ERR_INVALID, "temperature 0");
    refuse(model, beginning, 3, &all, AXLE_ERR_INVALID, "top_p 1.5");
    axle_model_release(model);
    axle_model_release(other);
}

static const struct CMUnitTest tests[] = {
    TINY("the likeliest tokens are those of whole passes",
         the_likeliest_tokens_are_those_of_whole_passes),
    TINY("equal seeds draw equal texts", equal_seeds_draw_equal_texts),
    TINY("few candidates leave the likeliest", few_candidates_leave_the_likeliest),
    TINY("texts end", texts_end),
    TINY("the model stays as it was", the_model_stays_as_it_was),
    TINY("what cannot be is refused", what_cannot_be_is_refused),
};
UNIT_MAIN(tests)
