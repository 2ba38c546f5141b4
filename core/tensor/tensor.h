/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensor inside: a view of counted storage. Functions here know nothing of gradients; the
 * differentiable operators are in autograd/.
 */
#ifndef AXLE_TENSOR_TENSOR_H
#define AXLE_TENSOR_TENSOR_H

#include "axle/tensor.h"
#include "device/device.h"

/* Memory that tensors share. `version` counts overwriting, so that autograd can tell when a tensor
 * it saved has changed. */
typedef struct axle__storage {
    uint32_t references;
    uint32_t version;
    axle__block *block; /* NULL where no element was ever needed */
} axle__storage;

struct axle_tensor {
    uint32_t references;
    bool requires_grad;
    bool row_major;
    axle_view view; /* buffer and offset are those of the storage's block */
    int64_t count;
    axle_device *device;
    axle__storage *storage;
    void *grad;                              /* autograd's: struct axle__grad */
    void (*grad_release)(axle_tensor *self); /* set with it */
};

static inline uint32_t axle__dtype(const axle_tensor *tensor)
{
    return tensor->view.dtype;
}

static inline int axle__rank(const axle_tensor *tensor)
{
    return (int)tensor->view.rank;
}

/* A new tensor with one reference that no scope knows. `strides` NULL means row-major; others must
 * be dense. Records errors as `who: ...`. */
axle_tensor *axle__tensor_new(const char *who, axle_device *device, int dtype, int rank,
                              const int64_t *dims, const int64_t *strides);
/* A tensor over another one's storage with that view (buffer is filled in); one reference. */
axle_tensor *axle__tensor_alias(const axle_tensor *source, const axle_view *view);
/* Hand a new tensor to the current scope; NULL (released) when that fails. NULL passes. */
axle_tensor *axle__scope_own(axle_tensor *tensor);
/* New tensor of the current scope. */
axle_tensor *axle__result(const char *who, axle_device *device, int dtype, int rank,
                          const int64_t *dims);

/* Let a tensor continue with another one's storage, view and device; its autograd state stays. */
void axle__tensor_rebind(axle_tensor *tensor, const axle_tensor *source);
/* The storage was overwritten. */
static inline void axle__tensor_touch(axle_tensor *tensor)
{
    __atomic_add_fetch(&tensor->storage->version, 1, __ATOMIC_RELAXED);
}

static inline uint32_t axle__storage_version(const axle_tensor *tensor)
{
    return __atomic_load_n(&tensor->storage->version, __ATOMIC_RELAXED);
}

/* Checks that record an error naming `who` and the values. */
int axle__check_same_dtype(const char *who, const axle_tensor *a, const axle_tensor *b);
int axle__check_same_device(const char *who, const axle_tensor *a, const axle_tensor *b);
/* Both. */
int axle__check_pair(const char *who, const axle_tensor *a, const axle_tensor *b);
int axle__check_float(const char *who, const axle_tensor *x);
/* Anything but booleans. */
int axle__check_number(const char *who, const axle_tensor *x);
int axle__check_index_dtype(const char *who, const axle_tensor *index);
int axle__check_rank_at_least(const char *who, const axle_tensor *x, int rank);
/* For functions that are no operators: what made a NULL is told, else that there is no tensor. */
int axle__check_tensor(const char *who, const axle_tensor *tensor);
/* Whether every element has a place of its own; a view that repeats some cannot be written. */
int axle__check_writable(const char *who, const axle_tensor *tensor);
/* An array that an operator wants `n` numbers from. */
int axle__check_array(const char *who, int n, const void *array);
/* Dims as text "(2, 3)" in `text` of at least AXLE__DIMS_TEXT bytes; returns text. */
enum { AXLE__DIMS_TEXT = 180 };
const char *axle__dims_text(int rank, const int64_t *dims, char *text);
static inline const char *axle__shape_text(const axle_tensor *x, char *text)
{
    return axle__dims_text(axle__rank(x), x->view.dim, text);
}

#endif
