/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping the processes' copies of a model equal, bit by bit. */
#ifndef AXLE_TRAIN_REPLICAS_H
#define AXLE_TRAIN_REPLICAS_H

#include "train/accelerator.h"

/* Find out whether the processes compute on different backends. */
int axle__replicas_compare_devices(axle_accelerator *accelerator);
/* Rank 0's parameters and buffers to all, after a check that all have the same names and shapes. */
int axle__replicas_copy_module(axle_accelerator *accelerator, axle_module *module);
/* Rank 0's parameters of an optimizer to all, where they differ. */
int axle__replicas_copy_parameters(axle_accelerator *accelerator, axle_optimizer *optimizer);
/* The optimizer's after_step: bring everyone's pieces together, where each updates its own; rank
 * 0's parameters to all, where backends differ: their kernels may round differently. */
int axle__replicas_after_step(axle_optimizer *optimizer, void *user);
/* The optimizer's sum_up. */
int axle__replicas_sum_up(double *sum, void *user);

#endif
