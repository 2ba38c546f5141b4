/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file autograd.h
 * Gradients: reverse-mode differentiation of what operators did.
 *
 *     axle_tensor_set_requires_grad(w, 1);
 *     axle_tensor *loss = axle_mean_all(axle_square(axle_sub(axle_matmul(x, w), y)));
 *     axle_tensor_backward(loss, NULL, 0);
 *     axle_tensor *dw = axle_tensor_grad(w);
 *
 * Backward runs on the caller's thread and frees the recorded graph unless it is retained.
 * Derivatives are first order: what backward computes is not recorded itself.
 */
#ifndef AXLE_AUTOGRAD_H
#define AXLE_AUTOGRAD_H

#include "axle/tensor.h"

AXLE_BEGIN_DECLS

/** Ask for a gradient of a leaf (a tensor no recorded operator made). AXLE_ERR_DTYPE unless it is a
 *  float; AXLE_ERR_STATE for a result of recorded operators. */
AXLE_API int axle_tensor_set_requires_grad(axle_tensor *tensor, int on);
/** Whether gradients flow to this tensor. */
AXLE_API int axle_tensor_requires_grad(const axle_tensor *tensor);
/** Whether no recorded operator made it. */
AXLE_API int axle_tensor_is_leaf(const axle_tensor *tensor);
/** Gradient of a leaf, NULL while there is none; borrowed. Same dims and dtype as the tensor. */
AXLE_API axle_tensor *axle_tensor_grad(const axle_tensor *tensor);
/** Replace the gradient by another tensor's values; NULL removes it. */
AXLE_API int axle_tensor_set_grad(axle_tensor *tensor, axle_tensor *grad);

/**
 * Add d(root)/d(leaf), weighted by @p gradient, to the gradient of every leaf that asked for one.
 * @param gradient  dims of root; NULL means 1 and wants a root of one element.
 * @param retain_graph  keep what was recorded, so that backward can run again.
 * @return AXLE_OK; AXLE_ERR_STATE when root needs no gradient, when the graph was freed, or when a
 *         tensor it saved was overwritten since; and whatever an operator reports.
 */
AXLE_API int axle_tensor_backward(axle_tensor *root, axle_tensor *gradient, int retain_graph);

/** Stop recording on this thread until the matching pop. Nests. */
AXLE_API void axle_no_grad_push(void);
AXLE_API void axle_no_grad_pop(void);
/** Whether this thread records. */
AXLE_API int axle_grad_enabled(void);

/* ------------------------------------------------------------------ hooks */

typedef struct axle_hook axle_hook;

/** Called with the gradient that reaches a tensor; may return a replacement (same dims and dtype,
 * of the current scope) or NULL to leave it. */
typedef axle_tensor *(*axle_grad_fn)(axle_tensor *grad, void *user);

/** Called when a leaf's gradient is complete for this backward. */
typedef void (*axle_grad_ready_fn)(axle_tensor *leaf, void *user);

/**
 * Call @p fn whenever a gradient reaches @p tensor. Hooks of a tensor run in the order they came.
 * @param out  handle for axle_hook_remove(); NULL: the hook lives as long as the tensor.
 */
AXLE_API int axle_tensor_add_hook(axle_tensor *tensor, axle_grad_fn fn, void *user,
                                  axle_hook **out);
/** Call @p fn after the gradient of a leaf was accumulated. */
AXLE_API int axle_tensor_add_ready_hook(axle_tensor *leaf, axle_grad_ready_fn fn, void *user,
                                        axle_hook **out);
/** Remove a hook; its tensor may be gone already. NULL is fine. */
AXLE_API void axle_hook_remove(axle_hook *hook);

/* ------------------------------------------------------------------ functions of your own */

typedef struct axle_function_context axle_function_context;

/**
 * An operator with its own derivative. Starts from AXLE_FUNCTION_INIT.
 * forward computes outputs (n_out of them, of the current scope) from inputs; it is not recorded.
 * backward gets the gradients of the outputs (NULL where none came) and writes gradients of the
 * inputs, of the current scope or NULL for none. Both return AXLE_OK or an error code, recorded by
 * axle_error_set().
 */
typedef struct axle_function {
    size_t struct_size;
    const char *name;
    int (*forward)(axle_function_context *context, axle_tensor *const *in, int n_in,
                   axle_tensor **out, int n_out);
    int (*backward)(axle_function_context *context, axle_tensor *const *grad_out, int n_out,
                    axle_tensor **grad_in, int n_in);
    void (*destroy)(void *user); /**< called with `user` when the record goes; NULL is fine */
} axle_function;
#define AXLE_FUNCTION_INIT                                                                         \
    {                                                                                              \
        sizeof(axle_function), NULL, NULL, NULL, NULL                                              \
    }

/** Apply @p function. @param user  given to its callbacks through axle_function_user(). */
AXLE_API int axle_function_apply(const axle_function *function, axle_tensor *const *in, int n_in,
                                 axle_tensor **out, int n_out, void *user);
/** Keep a tensor for backward; read it back there by the order of saving. Forward only. */
AXLE_API int axle_function_save(axle_function_context *context, axle_tensor *tensor);
/** Borrowed; NULL and AXLE_ERR_INDEX where fewer were saved. */
AXLE_API axle_tensor *axle_function_saved(axle_function_context *context, int k);
AXLE_API void *axle_function_user(axle_function_context *context);

/* ------------------------------------------------------------------ computing again */

/** A function of tensors: gives a tensor of the current scope, or NULL and a recorded error. */
typedef axle_tensor *(*axle_tensor_fn)(axle_tensor *const *in, int n_in, void *user);

/**
 * fn(in, n_in, user), of which nothing is kept for backward but its inputs: backward calls fn again
 * to have what it needs (Chen et al., 2016, arXiv:1604.06174). Costs a second forward pass, saves
 * the memory of all that is between inputs and result.
 *
 * The second call gets the same inputs and the same random numbers, so that gradients are the same,
 * bit by bit. It may use leaves that it knows by itself, such as parameters, but must get tensors
 * that recorded operators made as inputs. Where this thread does not record, fn is just called.
 *
 * @param in       n_in tensors; NULL ones are passed on.
 * @param destroy  called with `user` when it is not needed any more; NULL is fine.
 * @return NULL on error: AXLE_ERR_STATE where fn uses a recorded tensor that is no input.
 */
AXLE_API axle_tensor *axle_checkpoint(axle_tensor_fn fn, axle_tensor *const *in, int n_in,
                                      void *user, void (*destroy)(void *user));
/** Whether this thread computes something again: state that a forward pass changes, like running
 * statistics, has been changed by the first one. */
AXLE_API int axle_recomputing(void);

/* ------------------------------------------------------------------ checking */

typedef struct axle_gradcheck_options {
    size_t struct_size;
    double step;     /**< of the central difference */
    double absolute; /**< tolerance |numeric - analytic| <= absolute + relative * |numeric| */
    double relative;
} axle_gradcheck_options;
#define AXLE_GRADCHECK_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(axle_gradcheck_options), 1e-6, 1e-6, 1e-5                                           \
    }

/**
 * Compare gradients with central finite differences, for each f64 input that requires a gradient
 * and each output element.
 * @param options  NULL for the defaults.
 * @return AXLE_OK; AXLE_ERR_INVALID with input, element and both values where they differ.
 */
AXLE_API int axle_gradcheck(axle_tensor_fn fn, axle_tensor *const *in, int n_in, void *user,
                            const axle_gradcheck_options *options);

AXLE_END_DECLS

#endif
