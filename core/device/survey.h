/* SPDX-License-Identifier: Apache-2.0 */
/* Which operators a device serves itself, asked with a typical use of each. */
#ifndef AXLE_DEVICE_SURVEY_H
#define AXLE_DEVICE_SURVEY_H

#include "device/device.h"

/* Whether the device takes a typical call of the operator in a float type. */
bool axle__survey_supports(axle_device *device, uint32_t op, int dtype);

#endif
