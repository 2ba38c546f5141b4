/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients in half the bits, for slow links: f32 or f64 to bf16 or f16 and back. */
#ifndef AXLE_TRAIN_WIRE_H
#define AXLE_TRAIN_WIRE_H

#include <stdint.h>

/* to[i] = factor * from[i], rounded to the nearest. @param wire  AXLE_DTYPE_BF16 or _F16.
 * @param dtype  of `from`: AXLE_DTYPE_F32 or _F64. */
void axle__wire_pack(int wire, int dtype, const void *from, double factor, uint16_t *to,
                     uint64_t count);
void axle__wire_unpack(int wire, const uint16_t *from, int dtype, void *to, uint64_t count);

#endif
