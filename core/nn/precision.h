/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that open an autocast region of their own. */
#ifndef AXLE_NN_PRECISION_H
#define AXLE_NN_PRECISION_H

#include <stdbool.h>

#include "axle/nn.h"

/* Let forward passes that begin in this module or below it run in a region of that type (0: in
 * none). AXLE_ERR_DTYPE where a parameter is f64. */
int axle__module_set_precision(axle_module *module, int dtype);
/* Open the module's region, unless one is open already; whether it did. */
bool axle__precision_begin(const axle_module *module);
/* Close it, where it was opened: halves among the n results (NULL ones, too) leave it as f32. A
 * cast that fails leaves NULL. */
void axle__precision_end(bool begun, axle_tensor **out, int n);

#endif
