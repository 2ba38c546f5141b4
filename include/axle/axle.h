/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file axle.h
 * All of Axle's library. Read accelerator.h for the training loop, tensor.h and ops.h for tensors,
 * nn.h for layers, data.h for loaders, backend.h to write a backend.
 */
#ifndef AXLE_AXLE_H
#define AXLE_AXLE_H

#include "axle/accelerator.h"
#include "axle/autocast.h"
#include "axle/autograd.h"
#include "axle/checkpoint.h"
#include "axle/data.h"
#include "axle/device.h"
#include "axle/ema.h"
#include "axle/group.h"
#include "axle/lora.h"
#include "axle/model.h"
#include "axle/nn.h"
#include "axle/ops.h"
#include "axle/optim.h"
#include "axle/profile.h"
#include "axle/random.h"
#include "axle/records.h"
#include "axle/safetensors.h"
#include "axle/status.h"
#include "axle/tensor.h"

#endif
