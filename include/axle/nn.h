/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file nn.h
 * Modules: trees of layers with named parameters.
 *
 *     axle_module *net, *layer;
 *     axle_sequential_create(&net);
 *     axle_linear_create(784, 32, 1, &layer);   axle_module_add_child(net, NULL, layer);
 *     axle_activation_create("relu", &layer);   axle_module_add_child(net, NULL, layer);
 *     axle_linear_create(32, 10, 1, &layer);    axle_module_add_child(net, NULL, layer);
 *     axle_tensor *y = axle_module_forward(net, x);
 *
 * Names are dotted paths as in PyTorch: "0.weight", "encoder.layer.3.attention.query.bias".
 *
 * A module of your own embeds axle_module as its first member and has a class:
 *
 *     struct residual { axle_module base; axle_module *body; };
 *     static axle_tensor *residual_forward(axle_module *self, axle_tensor *x)
 *     {
 *         return axle_add(x, axle_module_forward(((struct residual *)self)->body, x));
 *     }
 *     static const axle_module_class residual_class = {
 *         .struct_size = sizeof(axle_module_class), .name = "residual",
 *         .instance_size = sizeof(struct residual), .forward = residual_forward,
 *     };
 *     axle_module_new(&residual_class, (axle_module **)&r);
 *     axle_linear_create(8, 8, 1, &r->body);
 *     axle_module_add_child(&r->base, "body", r->body);
 *
 * Parameters are made on the current device in the default element type (f32; see
 * axle_set_default_dtype) and initialised as PyTorch initialises that layer, from the thread's
 * random stream. axle_prepare() moves them.
 */
#ifndef AXLE_NN_H
#define AXLE_NN_H

#include "axle/ops.h"

AXLE_BEGIN_DECLS

/** What every handle that axle_prepare() takes begins with. Private. */
typedef struct axle_object {
    uint32_t type, references;
} axle_object;

typedef struct axle_module axle_module;
typedef struct axle_module_state axle_module_state;

typedef struct axle_module_class {
    size_t struct_size;
    const char *name;
    size_t instance_size; /**< of the struct that embeds axle_module */
    axle_tensor *(*forward)(axle_module *self,
                            axle_tensor *x); /**< NULL: not callable with one tensor */
    void (*destroy)(axle_module *self); /**< release what the core does not know; NULL is fine */
    /** For a module of several inputs, see axle_module_call(); NULL is fine. Inputs beyond those
     * that were given do not exist: look at n_in. */
    axle_tensor *(*call)(axle_module *self, axle_tensor *const *in, int n_in);
} axle_module_class;

struct axle_module {
    axle_object object;
    const axle_module_class *type;
    axle_module_state *state; /* private */
    int training;             /**< read it in forward; set it with axle_module_train() */
};

/* ------------------------------------------------------------------ the tree */

/** Allocate instance_size zeroed bytes and initialise the module in them; one reference, training.
 */
AXLE_API int axle_module_new(const axle_module_class *type, axle_module **out);
AXLE_API axle_module *axle_module_retain(axle_module *module);
/** Count one reference less; the last one releases children, parameters and buffers. NULL is fine.
 */
AXLE_API void axle_module_release(axle_module *module);

/** Run forward in a scope of its own; temporaries go at its end. NULL input gives NULL. */
AXLE_API axle_tensor *axle_module_forward(axle_module *module, axle_tensor *x);
/** The same with several inputs, of which only the first must not be NULL. A module without `call`
 * takes one. */
AXLE_API axle_tensor *axle_module_call(axle_module *module, axle_tensor *const *in, int n_in);

/** Add a child and take over the caller's reference, also on failure. @param name  no dot; NULL:
 * its number. */
AXLE_API int axle_module_add_child(axle_module *module, const char *name, axle_module *child);
/** Add a parameter (it will require gradients) and take over the caller's reference, also on
 * failure. */
AXLE_API int axle_module_add_parameter(axle_module *module, const char *name, axle_tensor *tensor);
/** Add a tensor that is saved but not trained, and take over the reference, also on failure. */
AXLE_API int axle_module_add_buffer(axle_module *module, const char *name, axle_tensor *tensor);

/** Find by dotted path; borrowed; NULL if there is none (and no error is recorded). */
AXLE_API axle_module *axle_module_child(const axle_module *module, const char *path);
AXLE_API axle_tensor *axle_module_parameter(const axle_module *module, const char *path);
AXLE_API axle_tensor *axle_module_buffer(const axle_module *module, const char *path);
AXLE_API int axle_module_child_count(const axle_module *module);

/** Called for each tensor in order of registration, own ones before children's; a non-zero result
 *  ends the walk and is returned by it. Tied tensors are visited once under their first name. */
typedef int (*axle_tensor_visit_fn)(const char *path, axle_tensor *tensor, void *user);
AXLE_API int axle_module_each_parameter(const axle_module *module, axle_tensor_visit_fn fn,
                                        void *user);
AXLE_API int axle_module_each_buffer(const axle_module *module, axle_tensor_visit_fn fn,
                                     void *user);
/** Like axle_module_each_parameter(), but tied parameters are visited under each of their names. */
AXLE_API int axle_module_each_parameter_name(const axle_module *module, axle_tensor_visit_fn fn,
                                             void *user);
/** Called for each module of the tree, the root first with the path "", a shared one under each of
 * its paths; ends as above. The children of a visited module may not change meanwhile. */
typedef int (*axle_module_visit_fn)(const char *path, axle_module *module, void *user);
AXLE_API int axle_module_each_module(axle_module *module, axle_module_visit_fn fn, void *user);
/** Number of elements of all parameters. */
AXLE_API int64_t axle_module_parameter_count(const axle_module *module);
/** Freeze (@p on) or thaw the parameters whose path matches @p pattern (shell wildcards:
 * "encoder.*", "*.bias"), a tied one by any of its paths. A frozen parameter gets no gradient, so
 * optimizers leave it alone: no decay, no moment, no step count. An optimizer made afterwards does
 * not know it at all, and keeps neither gradient nor moments for it; thaw before making one. In a
 * job of several processes do the same on all. AXLE_ERR_NOT_FOUND if none matches. */
AXLE_API int axle_module_freeze(axle_module *module, const char *pattern, int on);
/** Number of elements of the parameters that are not frozen. */
AXLE_API int axle_module_trainable_count(const axle_module *module, int64_t *out);
/** A number that follows from the names, shapes and bits of all parameters and buffers: equal
 * models have equal ones, on every machine of one byte order. */
AXLE_API int axle_module_checksum(const axle_module *module, uint64_t *out);

/** Set training or evaluation mode for the tree. */
AXLE_API void axle_module_train(axle_module *module, int on);
/**
 * Let backward compute this module's forward pass again rather than keep what it needs of it; see
 * axle_checkpoint(). Random masks and gradients are the same, bit by bit, and running statistics
 * change once. For each module by itself: mark the blocks of a network; marks may nest. A sequence
 * that is marked is cut into about sqrt(n) pieces, all but the last of which are computed again.
 * Holds for axle_module_forward() and axle_module_call(), and for the forward functions of
 * attention and encoder layers; not for axle_rnn_forward().
 */
AXLE_API void axle_module_checkpoint(axle_module *module, int on);
/** Move parameters and buffers; handles stay valid. */
AXLE_API int axle_module_to_device(axle_module *module, axle_device *device);
/** Change the element type of float parameters and buffers; handles stay valid. */
AXLE_API int axle_module_to_dtype(axle_module *module, int dtype);
/** Write parameters and buffers as a safetensors file, atomically. */
AXLE_API int axle_module_save(const axle_module *module, const char *path);
/** Read them back: every tensor must be there with its dims (dtypes are converted), and no other.
 * Nothing changes on failure. @param path  also a folder with model.safetensors, or with several
 * files and model.safetensors.index.json. */
AXLE_API int axle_module_load(axle_module *module, const char *path);

/** Element type of parameters made by this process from now on: f32 (default) or f64. */
AXLE_API int axle_set_default_dtype(int dtype);
AXLE_API int axle_default_dtype(void);

/* ------------------------------------------------------------------ layers
 *
 * Each writes a module with one reference to its last parameter. Parameter names are PyTorch's. */

/** y = x . weight^T + bias; weight (out, in). */
AXLE_API int axle_linear_create(int64_t in, int64_t out_features, int bias, axle_module **out);

/** Starts from AXLE_CONV_OPTIONS_INIT. */
typedef struct axle_conv_options {
    size_t struct_size;
    int dims; /**< spatial dims, 1 to 3 */
    int64_t in_channels, out_channels;
    int64_t kernel[3];
    axle_conv_params params;
    int transposed;
    int bias;
} axle_conv_options;
#define AXLE_CONV_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(axle_conv_options), 2, 1, 1, {3, 3, 3}, AXLE_CONV_PARAMS_INIT, 0, 1                 \
    }
AXLE_API int axle_conv_create(const axle_conv_options *options, axle_module **out);
/** The common square case. */
AXLE_API int axle_conv2d_create(int64_t in_channels, int64_t out_channels, int kernel, int stride,
                                int padding, int bias, axle_module **out);

AXLE_API int axle_max_pool_create(const axle_pool_params *params, axle_module **out);
AXLE_API int axle_avg_pool_create(const axle_pool_params *params, axle_module **out);
/** @param dims  spatial dims. @param size  that many numbers. */
AXLE_API int axle_adaptive_avg_pool_create(int dims, const int64_t *size, axle_module **out);

AXLE_API int axle_layer_norm_create(int64_t features, double eps, axle_module **out);
AXLE_API int axle_rms_norm_create(int64_t features, double eps, axle_module **out);
AXLE_API int axle_batch_norm_create(int64_t channels, double eps, double momentum,
                                    axle_module **out);
AXLE_API int axle_group_norm_create(int groups, int64_t channels, double eps, axle_module **out);

/** weight (count, features); @param padding_idx  -1: none. Its row starts at zero. */
AXLE_API int axle_embedding_create(int64_t count, int64_t features, int64_t padding_idx,
                                   axle_module **out);
AXLE_API int axle_dropout_create(double p, axle_module **out);
/** By name: "relu", "gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_tanh", "silu", "tanh",
 * "sigmoid", "leaky_relu", "elu", "mish", "hard_swish", "softplus", "identity". AXLE_ERR_NOT_FOUND
 * else. */
AXLE_API int axle_activation_create(const char *name, axle_module **out);
/** Flatten all dims but the first. */
AXLE_API int axle_flatten_create(axle_module **out);
/** Runs its children in order. */
AXLE_API int axle_sequential_create(axle_module **out);

/**
 * Multi-head attention with in_proj_weight (3E, E), in_proj_bias, out_proj.weight (E, E),
 * out_proj.bias. forward(x) is self-attention over x (B, L, E).
 */
AXLE_API int axle_multihead_attention_create(int64_t features, int heads, double dropout,
                                             axle_module **out);
/** @param query (B, L, E). @param key, value (B, S, E). @param mask  optional, bool or float,
 * broadcast to (B, H, L, S). */
AXLE_API axle_tensor *axle_multihead_attention_forward(axle_module *module, axle_tensor *query,
                                                       axle_tensor *key, axle_tensor *value,
                                                       axle_tensor *mask, int causal);

/** Starts from AXLE_ENCODER_LAYER_OPTIONS_INIT. */
typedef struct axle_encoder_layer_options {
    size_t struct_size;
    int64_t features, hidden;
    int heads;
    double dropout, eps;
    const char *activation;
    int norm_first;
} axle_encoder_layer_options;
#define AXLE_ENCODER_LAYER_OPTIONS_INIT                                                            \
    {                                                                                              \
        sizeof(axle_encoder_layer_options), 512, 2048, 8, 0.1, 1e-5, "relu", 0                     \
    }
/** PyTorch's TransformerEncoderLayer over (B, L, E): self_attn, linear1, linear2, norm1, norm2. */
AXLE_API int axle_encoder_layer_create(const axle_encoder_layer_options *options,
                                       axle_module **out);
AXLE_API axle_tensor *axle_encoder_layer_forward(axle_module *module, axle_tensor *x,
                                                 axle_tensor *mask, int causal);

enum { AXLE_RNN_LSTM = 1, AXLE_RNN_GRU = 2 };
/** Starts from AXLE_RNN_OPTIONS_INIT. */
typedef struct axle_rnn_options {
    size_t struct_size;
    int kind;
    int64_t input, hidden;
    int layers, bidirectional, bias;
    double dropout; /**< between layers */
} axle_rnn_options;
#define AXLE_RNN_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(axle_rnn_options), AXLE_RNN_LSTM, 1, 1, 1, 0, 1, 0.0                                \
    }
/** PyTorch's LSTM or GRU with batch_first: weight_ih_l0 ... ; forward(x) is x (B, L, input) -> (B,
 * L, hidden * directions). */
AXLE_API int axle_rnn_create(const axle_rnn_options *options, axle_module **out);
/**
 * @param h0, c0  (layers * directions, B, hidden), optional (zeros); c0 for LSTM.
 * @param h, c    final states, of the current scope; NULL if not wanted.
 */
AXLE_API axle_tensor *axle_rnn_forward(axle_module *module, axle_tensor *x, axle_tensor *h0,
                                       axle_tensor *c0, axle_tensor **h, axle_tensor **c);

/* ------------------------------------------------------------------ initialisers
 *
 * Fill a tensor from the thread's random stream, drawn on the host: equal on every backend. fan_in
 * is dim 1 times the kernel's size, fan_out dim 0 times it. */

/** Make parameters on this thread with zeros, and draw nothing, until the matching pop: for layers
 * that are filled from a file or by other rules. Nests. */
AXLE_API void axle_init_skip_push(void);
AXLE_API void axle_init_skip_pop(void);
AXLE_API int axle_init_uniform(axle_tensor *tensor, double low, double high);
AXLE_API int axle_init_normal(axle_tensor *tensor, double mean, double std);
AXLE_API int axle_init_constant(axle_tensor *tensor, double value);
/** Uniform with bound sqrt(6 / ((1 + a^2) * fan_in)). (He et al., 2015.) */
AXLE_API int axle_init_kaiming_uniform(axle_tensor *tensor, double a);
/** Normal with std sqrt(2 / ((1 + a^2) * fan)); fan_out of convolutions when @p fan_out is set. */
AXLE_API int axle_init_kaiming_normal(axle_tensor *tensor, double a, int fan_out);
/** Uniform with bound gain * sqrt(6 / (fan_in + fan_out)). (Glorot and Bengio, 2010.) */
AXLE_API int axle_init_xavier_uniform(axle_tensor *tensor, double gain);
AXLE_API int axle_init_xavier_normal(axle_tensor *tensor, double gain);

AXLE_END_DECLS

#endif
