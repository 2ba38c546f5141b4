/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets whose pixels are moved and scaled to the mean 0 and the standard deviation 1. */
#ifndef AXLE_CLI_STANDARDISE_H
#define AXLE_CLI_STANDARDISE_H

#include "axle/data.h"

/* Mean and standard deviation of "input", from some samples spread evenly over the set. A deviation
 * of nearly 0 counts as 1. */
int standardise_measure(axle_dataset *set, double *mean, double *deviation);

/* A set that gives (input - mean) / deviation, and all else as it is. Its source is retained. */
int standardise_create(axle_dataset *source, double mean, double deviation, axle_dataset **out);

#endif
