/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules inside: the tree's lists, walks over all names, and what the layers' constructors share.
 * A constructor checks its arguments, makes the module and its parameters with a sticky status, and
 * ends with axle__module_finish():
 *
 *     struct linear *linear;
 *     int status = axle_module_new(&axle__linear_class, (axle_module **)&linear);
 *     if (!status)
 *         status = axle__add_uniform(&linear->base, "weight", bound, AXLE_DIMS(n, m),
 * &linear->weight); return axle__module_finish(status, &linear->base, out);
 *
 * Pointers to parameters that a layer keeps beside the tree are borrowed from it.
 */
#ifndef AXLE_NN_MODULE_H
#define AXLE_NN_MODULE_H

#include <stdbool.h>

#include "axle/autograd.h"
#include "axle/nn.h"
#include "axle/status.h"
#include "base/options_copy.h"
#include "tensor/tensor.h"

/* A named child, parameter or buffer. */
typedef struct axle__slot {
    char *name;
    void *item;
} axle__slot;

typedef struct axle__slots {
    axle__slot *at;
    int count, room;
} axle__slots;

enum { AXLE__PARAMETERS, AXLE__BUFFERS, AXLE__CHILDREN, AXLE__SLOT_KINDS };

struct axle_module_state {
    axle__slots slots[AXLE__SLOT_KINDS];
    bool checkpoint; /* backward computes the forward pass again */
    int precision;   /* type of products in a forward pass that begins here; 0: that of operands */
};

/* Whether this call is to be computed again: the module is marked, and the thread records. */
bool axle__is_recomputed(const axle_module *module);
/* What axle__recomputed() hands to its function. */
typedef struct axle__again {
    axle_module *module; /* retained */
    int number[2];       /* of the function's own */
} axle__again;
/* axle_checkpoint() with a copy of `again` for user. */
axle_tensor *axle__recomputed(const axle__again *again, axle_tensor_fn fn, axle_tensor *const *in,
                              int n_in);

static inline const axle__slots *axle__slots_of(const axle_module *module, int kind)
{
    return &module->state->slots[kind];
}

static inline axle_module *axle__child_at(const axle_module *module, int k)
{
    return axle__slots_of(module, AXLE__CHILDREN)->at[k].item;
}

/* Append an item under a copy of `name`; the list does not own items. */
int axle__slots_add(axle__slots *slots, const char *name, void *item);
void *axle__slots_find(const axle__slots *slots, const char *name, size_t length);
/* Take an item off the list; NULL where it has no such name. */
void *axle__slots_remove(axle__slots *slots, const char *name);
void axle__slots_free(axle__slots *slots);

/* Visit the tensors of a kind. `every_name`: tied tensors under each of their names. */
int axle__module_walk(const axle_module *module, int kind, bool every_name, axle_tensor_visit_fn fn,
                      void *user);

/* ------------------------------------------------------------------ for constructors */

/* Make a parameter of the default element type on the current device, fill it and add it; `out`
 * (NULL: not wanted) borrows it. */
int axle__add_uniform(axle_module *module, const char *name, double bound, int rank,
                      const int64_t *dims, axle_tensor **out);
int axle__add_normal(axle_module *module, const char *name, int rank, const int64_t *dims,
                     axle_tensor **out);
int axle__add_constant(axle_module *module, const char *name, double value, int rank,
                       const int64_t *dims, axle_tensor **out);
int axle__add_buffer(axle_module *module, const char *name, int dtype, double value, int rank,
                     const int64_t *dims, axle_tensor **out);
/* Hand the module out, or release it where the status is an error, and return the status. */
int axle__module_finish(int status, axle_module *module, axle_module **out);

/* 1/sqrt(fan), or 0 where that is 0: what PyTorch draws the weights of linear layers within. */
double axle__fan_bound(int64_t fan);

/* ------------------------------------------------------------------ checks
 *
 * Each records an error that names the layer and the value. */

int axle__check_least(const char *who, const char *what, int64_t value, int64_t least);
int axle__check_divides(const char *who, const char *divisor_name, int64_t divisor,
                        const char *what, int64_t value);
int axle__check_probability(const char *who, const char *what, double p);
int axle__check_eps(const char *who, double eps);
int axle__check_class(const char *who, const axle_module *module, const axle_module_class *type);

/* ------------------------------------------------------------------ scopes */

/* Close the innermost scope but hand n tensors (NULL ones, too) over to the one around it. On
 * failure all are gone. */
int axle__scope_pop_keep_all(axle_tensor **keep, int n);
/* Filled with `value`, on that device, of the current scope. */
axle_tensor *axle__filled(const char *who, axle_device *device, int dtype, int rank,
                          const int64_t *dims, double value);

/* ------------------------------------------------------------------ layers known to each other */

extern const axle_module_class axle__linear_class, axle__conv_class, axle__sequential_class;

typedef axle_tensor *(*axle__forward_fn)(axle_module *module, axle_tensor *x);

/* What runs this module and a relu after it in one pass; NULL if nothing does. */
axle__forward_fn axle__linear_with_relu(const axle_module *module);
axle__forward_fn axle__conv_with_relu(const axle_module *module);

typedef axle_tensor *(*axle__activation_fn)(axle_tensor *x);

/* Function of an activation's name; NULL and AXLE_ERR_NOT_FOUND, naming what there is. */
axle__activation_fn axle__activation_find(const char *who, const char *name);
/* Function of an activation module; NULL for other modules. */
axle__activation_fn axle__activation_of(const axle_module *module);

#endif
