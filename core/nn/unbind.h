/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a tensor into its slices along one dim, all at once. */
#ifndef AXLE_NN_UNBIND_H
#define AXLE_NN_UNBIND_H

#include "axle/tensor.h"

/*
 * Write the n slices of x along `dim`, whose size n is, as views of the current scope. Backward
 * joins their gradients in one pass; n times axle_select() would fill a gradient of x's size for
 * each.
 */
int axle__unbind(axle_tensor *x, int dim, int n, axle_tensor **out);

#endif
