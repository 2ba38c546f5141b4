/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands as numbers: reading and writing runs of elements in double precision.
 *
 * The kernels that include this header compute in double whatever the element type is: a load
 * widens exactly, a store rounds to nearest (to half types by way of f32). So each of them is
 * written once, and its sums are at least as exact as those of any backend that is compared with
 * it.
 *
 * Positions inside a view are counted in elements from its first one. Nothing is read or written
 * where a run has no element, so the data pointer of an empty view may be NULL.
 */
#ifndef AXLE_REFERENCE_OPERAND_H
#define AXLE_REFERENCE_OPERAND_H

#include "reference.h"

/* An operand of the call, or NULL if it is absent. */
const axle_view *ref_operand_in(const ref_call *call, uint32_t k);
const axle_view *ref_operand_out(const ref_call *call, uint32_t k);

/*
 * Whether operands have the types that two signatures name, one letter an operand, `?` behind an
 * optional one:
 *   f  the float type of the first input     r  any float type
 *   s  the type of statistics beside it      i  i32 or i64
 *   m  a mask: bool, or like f               j  i32
 */
int ref_signature_fits(const axle_op_desc *desc, const char *in, const char *out);

/* Position of item `index`, counted in row-major order over the dims [first, last). */
int64_t ref_view_at(const axle_view *view, uint32_t first, uint32_t last, int64_t index);

/* Position of row `index`: a row runs along `axis`, the other dims are counted in row-major order.
 */
int64_t ref_row_at(const axle_view *view, uint32_t axis, int64_t index);

/* `n` elements that begin at position `at` and are `stride` apart. */
void ref_run_load(const axle_view *view, int64_t at, int64_t n, int64_t stride, double *out);
void ref_run_store(const axle_view *view, int64_t at, int64_t n, int64_t stride, const double *in);

/* The dims [first, rank) at position `at`, in row-major order. */
void ref_box_load(const axle_view *view, uint32_t first, int64_t at, double *out);
void ref_box_store(const axle_view *view, uint32_t first, int64_t at, const double *in);
int64_t ref_box_count(const axle_view *view, uint32_t first);

/* One element; an integer one exactly. */
double ref_element_get(const axle_view *view, int64_t at);
void ref_element_set(const axle_view *view, int64_t at, double value);
int64_t ref_element_index(const axle_view *view, int64_t at);

/* All elements of a vector operand, or `absent` n times where there is none. */
void ref_vector_load(const axle_view *view, int64_t n, double absent, double *out);

/* Counts that saturate instead of overflowing, so that one check, in ref_reals, is enough. */
int64_t ref_count_times(int64_t a, int64_t b);
int64_t ref_count_plus(int64_t a, int64_t b);

/* Room for `count` numbers, never NULL but on failure, which is recorded in the call's error. */
double *ref_reals(const ref_call *call, int64_t count);
int64_t *ref_integers(const ref_call *call, int64_t count);
void ref_scratch_free(const ref_call *call, void *scratch);

/* Workers that bodies may be run by: each needs scratch of its own. At least 1. */
int64_t ref_worker_count(const ref_call *call);

#endif
