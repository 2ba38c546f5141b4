/* SPDX-License-Identifier: Apache-2.0 */
#include "autograd/autocast.h"

#include "autograd/node.h"
#include "axle/ops.h"
#include "base/memory.h"

/* A parameter's cast. The cast keeps its own reference, since it outlives scopes. */
typedef struct entry {
    axle_tensor *source, *cast;   /* retained */
    const axle__storage *storage; /* of the source, and its version, when it was cast */
    uint32_t version;
} entry;

/* Of this thread. */
static _Thread_local struct {
    int dtype;                          /* of the innermost region; 0: operators do not cast */
    int depth, base;                    /* regions; those before `base` are left for a while */
    int outer[AXLE_MAX_AUTOCAST_DEPTH]; /* types of the regions around each */
    entry *entries;
    int count, first; /* entries; those before `first` are left, too */
} here;

int axle_autocast_push(int dtype)
{
    if (dtype != AXLE_DTYPE_BF16 && dtype != AXLE_DTYPE_F16 && dtype != AXLE_DTYPE_F32)
        return axle_error_set(AXLE_ERR_DTYPE, "axle_autocast_push: bf16, f16 or f32, not %s",
                              axle_dtype_name(dtype) ? axle_dtype_name(dtype) : "that");
    if (here.depth == AXLE_MAX_AUTOCAST_DEPTH)
        return axle_error_set(AXLE_ERR_STATE, "axle_autocast_push: %d regions are open already",
                              here.depth);
    here.outer[here.depth++] = here.dtype;
    here.dtype = dtype == AXLE_DTYPE_F32 ? 0 : dtype;
    return AXLE_OK;
}

static void forget(int k)
{
    axle_tensor_release(here.entries[k].source);
    axle_tensor_release(here.entries[k].cast);
    here.entries[k] = here.entries[--here.count];
}

void axle_autocast_pop(void)
{
    if (here.depth == here.base)
        return;
    here.dtype = here.outer[--here.depth];
    while (here.depth == here.base && here.count > here.first)
        forget(here.count - 1);
    if (here.count > 0)
        return;
    axle__free(here.entries);
    here.entries = NULL;
}

int axle_autocast_dtype(void)
{
    return here.dtype ? here.dtype : AXLE_DTYPE_F32;
}

bool axle__autocast_is_open(void)
{
    return here.depth > here.base;
}

axle__autocast_state axle__autocast_suspend(void)
{
    axle__autocast_state state = {here.dtype, here.base, here.first};
    here.dtype = 0;
    here.base = here.depth;
    here.first = here.count;
    return state;
}

void axle__autocast_resume(axle__autocast_state state)
{
    here.dtype = state.dtype;
    here.base = state.base;
    here.first = state.first;
}

/* ------------------------------------------------------------------ casts of parameters */

static bool is_parameter(const axle_tensor *x)
{
    return axle__dtype(x) == AXLE_DTYPE_F32 && x->requires_grad && axle_tensor_is_leaf(x);
}

/* Whether a cast can stand for its source still: the values are the same, and gradients find their
 * way where they are recorded. */
static bool serves(const entry *e)
{
    const axle__grad *grad = axle__grad_peek(e->cast);
    if (e->storage != e->source->storage || e->version != axle__storage_version(e->source))
        return false;
    return grad && grad->node ? !grad->node->freed : !axle_grad_enabled();
}

static axle_tensor *find_cast(const axle_tensor *x, int dtype)
{
    for (int k = here.count - 1; k >= here.first; k--) {
        const entry *e = &here.entries[k];
        if (e->source != x || (int)axle__dtype(e->cast) != dtype)
            continue;
        if (serves(e))
            return e->cast;
        forget(k);
    }
    return NULL;
}

/* The current scope holds the cast, too, so that whoever asked may use it like any result. What is
 * to be computed again has casts of its own, so that the parameter is seen to be used. */
static axle_tensor *cast_parameter(axle_tensor *x, int dtype)
{
    if (axle__seen_is_on())
        return axle_cast(x, dtype);
    axle_tensor *cast = find_cast(x, dtype);
    if (cast)
        return cast;
    entry *entries = axle__resize(here.entries, (size_t)here.count + 1, sizeof(*entries));
    if (!entries)
        return NULL;
    here.entries = entries;
    cast = axle_cast(x, dtype);
    if (cast)
        entries[here.count++] = (entry){.source = axle_tensor_retain(x),
                                        .cast = axle_tensor_retain(cast),
                                        .storage = x->storage,
                                        .version = axle__storage_version(x)};
    return cast;
}

/* ------------------------------------------------------------------ operands */

/* f64 and integers take no part. */
static bool is_eligible(const axle_tensor *x)
{
    return x && (axle__dtype(x) == AXLE_DTYPE_F32 || axle__dtype(x) == AXLE_DTYPE_F16 ||
                 axle__dtype(x) == AXLE_DTYPE_BF16);
}

static axle_tensor *cast_to(axle_tensor *x, int dtype)
{
    if (!is_eligible(x) || (int)axle__dtype(x) == dtype)
        return x;
    return is_parameter(x) ? cast_parameter(x, dtype) : axle_cast(x, dtype);
}

/* The type that a policy brings operands to, of which `first` is one and `differ` says whether
 * others have another; 0: they stay. */
static int target_of(int policy, bool differ)
{
    if (policy == AXLE__CAST_LOW)
        return here.dtype;
    return policy == AXLE__CAST_FULL || differ ? AXLE_DTYPE_F32 : 0;
}

static bool types_differ(const axle_tensor *x, const axle_tensor **first)
{
    if (!is_eligible(x))
        return false;
    if (!*first)
        *first = x;
    return axle__dtype(x) != axle__dtype(*first);
}

bool axle__autocast(int policy, axle_tensor **const *operands)
{
    if (here.dtype == 0 || policy == AXLE__CAST_NONE)
        return true;
    const axle_tensor *first = NULL;
    bool differ = false;
    for (int k = 0; operands[k]; k++)
        differ = types_differ(*operands[k], &first) || differ;
    int dtype = target_of(policy, differ);
    for (int k = 0; operands[k] && dtype; k++) {
        axle_tensor *cast = cast_to(*operands[k], dtype);
        if (*operands[k] && !cast)
            return false;
        *operands[k] = cast;
    }
    return true;
}

axle_tensor *const *axle__autocast_list(int policy, axle_tensor *const *x, int n,
                                        axle_tensor ***owned)
{
    const axle_tensor *first = NULL;
    bool differ = false;
    for (int k = 0; k < n && here.dtype; k++)
        differ = types_differ(x[k], &first) || differ;
    int dtype = here.dtype && policy != AXLE__CAST_NONE ? target_of(policy, differ) : 0;
    if (!dtype)
        return x;
    axle_tensor **cast = axle__alloc((size_t)n, sizeof(*cast));
    for (int k = 0; k < n && cast; k++) {
        cast[k] = cast_to(x[k], dtype);
        if (!cast[k]) {
            axle__free(cast);
            return NULL;
        }
    }
    *owned = cast;
    return cast;
}
