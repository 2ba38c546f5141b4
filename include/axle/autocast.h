/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file autocast.h
 * Mixed precision: regions in which operators choose their element type.
 *
 *     axle_autocast_push(AXLE_DTYPE_BF16);
 *     axle_tensor *y = axle_linear(x, weight, bias);      bf16, whatever the operands were
 *     axle_tensor *loss = axle_mse_loss(y, target, AXLE_LOSS_MEAN);               f32 again
 *     axle_autocast_pop();
 *     axle_tensor_backward(loss, NULL, 0);
 *
 * Inside a region an operator first casts its floating-point operands, as PyTorch's autocast does
 * ("Autocast Op Reference" of its documentation; the table is core/autograd/autocast_ops.h):
 *
 *  - products run in the region's type: matmul, linear, conv, conv_transpose, attention, and with
 *    them the recurrent layers;
 *  - what needs range or digits runs in f32: softmax, losses, normalisation, sums, means, products
 *    and variances of elements, norms, exp, log, pow and their like;
 *  - what joins tensors (arithmetic of two, where, concat, stack, scatter) brings halves of
 *    different types and f32 to f32;
 *  - everything else runs in the type of its operand.
 *
 * f64 operands are left alone, and so are integers. Casts are recorded: the gradient of an f32
 * parameter is f32, and each operator's backward runs in the type of its forward. A parameter is
 * cast once a region, however often it is used, until its values change.
 *
 * Regions belong to the thread that opened them, and nest. Inside backward there is none. A model
 * that a mixed-precision accelerator prepared opens its own (see accelerator.h).
 */
#ifndef AXLE_AUTOCAST_H
#define AXLE_AUTOCAST_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

/** Most regions inside one another. */
#define AXLE_MAX_AUTOCAST_DEPTH 64

/**
 * Open a region on this thread.
 * @param dtype  AXLE_DTYPE_BF16, AXLE_DTYPE_F16, or AXLE_DTYPE_F32 for no casting inside.
 * @return AXLE_OK; AXLE_ERR_DTYPE for another type, AXLE_ERR_STATE beyond the greatest depth (there
 *         is no region to pop then).
 */
AXLE_API int axle_autocast_push(int dtype);
/** Close the innermost region; casts of parameters are forgotten with the outermost one. Without a
 * region it does nothing. */
AXLE_API void axle_autocast_pop(void);
/** The type of the innermost region; AXLE_DTYPE_F32 where operators do not cast. */
AXLE_API int axle_autocast_dtype(void);

AXLE_END_DECLS

#endif
