/* SPDX-License-Identifier: Apache-2.0 */
/* Differentiable operators that are not public, shared among the families. */
#ifndef AXLE_AUTOGRAD_OPS_H
#define AXLE_AUTOGRAD_OPS_H

#include "axle/ops.h"

/* max(x,0) - x*t + log1p(exp(-|x|)), elementwise. */
axle_tensor *axle__bce_with_logits(axle_tensor *logits, axle_tensor *target);

#endif
