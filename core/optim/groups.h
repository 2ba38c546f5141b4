/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter groups and the list of parameters. */
#ifndef AXLE_OPTIM_GROUPS_H
#define AXLE_OPTIM_GROUPS_H

#include "optim/optimizer.h"

int axle__group_add(axle_optimizer *optimizer, double lr, double weight_decay);
/* Add the parameters of a module that require gradients to group 0. */
int axle__slots_add_module(axle_optimizer *optimizer, axle_module *module);

#endif
