/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tensor.h
 * Tensors: creation, life time, inspection, exchange with host memory.
 *
 *     axle_scope_push();
 *     axle_tensor *x = axle_randn(AXLE_DTYPE_F32, AXLE_DIMS(8, 3));
 *     axle_tensor *y = axle_sum_all(axle_square(x));
 *     double value;
 *     if (axle_tensor_item(y, &value)) fprintf(stderr, "%s\n", axle_error_message());
 *     axle_scope_pop();
 *
 * Life time. An operator's result belongs to the innermost **scope** of its thread and goes with
 * it, unless it was retained. axle_loader_next() closes the scope of the last iteration and opens
 * the next, so that a training loop needs no scopes of its own. A thread that pushed no scope has
 * one that lasts until the thread ends.
 *
 * Views (axle_slice, axle_permute ...) share their storage with their source.
 *
 * Threads. Different threads may use different tensors. One tensor may be read by several threads;
 * counting references is atomic.
 */
#ifndef AXLE_TENSOR_H
#define AXLE_TENSOR_H

#include "axle/device.h"

AXLE_BEGIN_DECLS

typedef struct axle_tensor axle_tensor;

#ifndef __cplusplus
/** Rank and dims in one go: axle_zeros(AXLE_DTYPE_F32, AXLE_DIMS(2, 3)). For rank 0 write
 * AXLE_SCALAR. */
#define AXLE_DIMS(...)                                                                             \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#endif
#define AXLE_SCALAR 0, NULL

/* ------------------------------------------------------------------ creation
 *
 * Operators: the result is on the current device and belongs to the current scope.
 * NULL on error: AXLE_ERR_SHAPE (rank, a negative dim, overflow), AXLE_ERR_DTYPE, AXLE_ERR_NOMEM.
 */

/** A tensor of undefined content. @param dims  rank numbers >= 0; copied. */
AXLE_API axle_tensor *axle_empty(int dtype, int rank, const int64_t *dims);
AXLE_API axle_tensor *axle_zeros(int dtype, int rank, const int64_t *dims);
AXLE_API axle_tensor *axle_ones(int dtype, int rank, const int64_t *dims);
AXLE_API axle_tensor *axle_full(int dtype, int rank, const int64_t *dims, double value);
/** Rank 0. */
AXLE_API axle_tensor *axle_scalar(int dtype, double value);
/** (n): start, start + step, ... below (for step < 0 above) end; n = max(0,
 * ceil((end-start)/step)). */
AXLE_API axle_tensor *axle_arange(int dtype, double start, double end, double step);
/** Uniform in [0, 1), from the current random stream; see random.h. Bit-equal on every backend. */
AXLE_API axle_tensor *axle_rand(int dtype, int rank, const int64_t *dims);
/** Standard normal (Box-Muller over the stream's uniforms), drawn on the host, bit-equal
 * everywhere. */
AXLE_API axle_tensor *axle_randn(int dtype, int rank, const int64_t *dims);
/** Copy row-major host data of that dtype. */
AXLE_API axle_tensor *axle_from_data(int dtype, int rank, const int64_t *dims, const void *data);

/** Like the operators' results, but the caller owns one reference and no scope knows it. */
AXLE_API int axle_tensor_create(axle_device *device, int dtype, int rank, const int64_t *dims,
                                axle_tensor **out);

/**
 * A tensor over memory of the program's, without a copy: what one side writes, the other sees.
 *
 * @param data     row-major, aligned for its elements; it must stay until @p release.
 * @param release  called once nothing uses @p data any more, on any thread; NULL: no call. It calls
 *                 no function of Axle's. On failure it is not called.
 * @return AXLE_OK; AXLE_ERR_DEVICE where the device does not compute in the program's memory, so
 *         that it must be copied (axle_from_data()); AXLE_ERR_INVALID where there is no element, or
 *         @p data is not aligned; AXLE_ERR_SHAPE, AXLE_ERR_DTYPE, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_tensor_import(axle_device *device, int dtype, int rank, const int64_t *dims,
                                void *data, void (*release)(void *user), void *user,
                                axle_tensor **out);

/* ------------------------------------------------------------------ life time */

/** Count one reference more; returns its argument. */
AXLE_API axle_tensor *axle_tensor_retain(axle_tensor *tensor);
/** Count one reference less. NULL is fine. */
AXLE_API void axle_tensor_release(axle_tensor *tensor);

/** Open a scope on this thread. AXLE_ERR_NOMEM. */
AXLE_API int axle_scope_push(void);
/** Close the innermost scope and release what it owns. Without a pushed one, release the thread's.
 */
AXLE_API void axle_scope_pop(void);
/** Close the innermost scope but hand @p keep (NULL is fine) over to the one around it; returns @p
 * keep. */
AXLE_API axle_tensor *axle_scope_pop_keep(axle_tensor *keep);
/** Number of scopes that this thread has open. */
AXLE_API int axle_scope_depth(void);

/* ------------------------------------------------------------------ inspection */

AXLE_API int axle_tensor_dtype(const axle_tensor *tensor);
AXLE_API int axle_tensor_rank(const axle_tensor *tensor);
/** Dim @p k; a negative k counts from the end. -1 and a recorded error where k is out of range. */
AXLE_API int64_t axle_tensor_dim(const axle_tensor *tensor, int k);
/** The rank dims; borrowed. */
AXLE_API const int64_t *axle_tensor_dims(const axle_tensor *tensor);
/** The rank strides in elements; borrowed. */
AXLE_API const int64_t *axle_tensor_strides(const axle_tensor *tensor);
/** Number of elements. */
AXLE_API int64_t axle_tensor_count(const axle_tensor *tensor);
AXLE_API axle_device *axle_tensor_device(const axle_tensor *tensor);
/** Whether the elements lie row-major without gaps. */
AXLE_API int axle_tensor_is_contiguous(const axle_tensor *tensor);
/** Whether two tensors share storage. */
AXLE_API int axle_tensor_shares_storage(const axle_tensor *a, const axle_tensor *b);
/** Text such as "f32 (2, 3) on onednn: [[1, 2, 3], [4, 5, 6]]", long ones abridged; for
 * axle_free(). */
AXLE_API int axle_tensor_format(const axle_tensor *tensor, char **out);

/* ------------------------------------------------------------------ host memory */

/** Copy all elements, row-major, to host memory of exactly @p size bytes. Waits for the device. */
AXLE_API int axle_tensor_read(const axle_tensor *tensor, void *data, size_t size);
/** Overwrite all elements from row-major host memory of exactly @p size bytes. Not recorded by
 * autograd. */
AXLE_API int axle_tensor_write(axle_tensor *tensor, const void *data, size_t size);
/** Overwrite with the elements of another tensor of the same dims; casts, crosses devices. Not
 * recorded. */
AXLE_API int axle_tensor_assign(axle_tensor *tensor, const axle_tensor *source);
/** Value of a tensor with one element. AXLE_ERR_SHAPE if it has another number. */
AXLE_API int axle_tensor_item(const axle_tensor *tensor, double *out);
/** Address of the elements on a host-visible device; strides apply; after earlier work of the
 * device. Valid while the tensor lives. AXLE_ERR_DEVICE elsewhere. */
AXLE_API int axle_tensor_data(const axle_tensor *tensor, void **out);

AXLE_END_DECLS

#endif
