/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as people read them. */
#ifndef AXLE_DEVICE_OP_TEXT_H
#define AXLE_DEVICE_OP_TEXT_H

#include "base/text.h"
#include "device/dispatch.h"

/* The operator with its kind, where it has kinds: "conv", "unary:relu". Of static storage. */
const char *axle__call_label(const axle__call *call);

/* "(2, 3) f32, -, () i64": dims and element types; - is an absent operand. */
void axle__views_text(axle__text *text, uint32_t n, const axle_view *const *view);

/* Number of elements, and bytes from the first element of a view to the end of its last; both 0
 * where it has none. */
uint64_t axle__view_elements(const axle_view *view);
uint64_t axle__view_bytes(const axle_view *view);

#endif
