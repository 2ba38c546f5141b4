/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file group.h
 * The processes of a job, and what they do together.
 *
 * Programs that use an accelerator need none of this: it joins the group, and gradients are summed
 * while backward runs. Everyone else:
 *
 *     axle_group *group;
 *     axle_group_join(&group);                       // `axle launch -n 4 ./program`
 *     axle_all_reduce(group, x, AXLE_REDUCE_MEAN);
 *     axle_group_leave(group);
 *
 * A process that was started alone is a group of one, which costs nothing.
 *
 * Every process of the group calls the same functions in the same order, with equal element types
 * and shapes. That is checked before data moves: a difference is an error on every process that
 * names who asked for what, and changes nothing. A process that does not come is an error that
 * names it after the timeout (AXLE_TIMEOUT seconds, default 300); one that died, at once. After
 * either the group is of no more use, and later calls fail with the same message. Sums and means
 * are computed in f64 (integers: 64 bits) in the order of ranks and rounded once, so that all
 * processes get the same bits. Tensors on any device and with any strides will do.
 *
 * A group's functions may be called from any thread, one at a time.
 */
#ifndef AXLE_GROUP_H
#define AXLE_GROUP_H

#include "axle/backend_ops.h"
#include "axle/tensor.h"

AXLE_BEGIN_DECLS

typedef struct axle_group axle_group;

/** Join the job that the environment names (axle launch, torchrun, mpirun, srun); a process has one
 * group, and joining again finds it. Waits for all processes. @param out  borrowed. */
AXLE_API int axle_group_join(axle_group **out);
/** Leave in order, together with all others: an error where one of them does something else. The
 * handle is gone after as many calls as there were joins. NULL is fine. */
AXLE_API int axle_group_leave(axle_group *group);

AXLE_API int axle_group_rank(const axle_group *group);
AXLE_API int axle_group_size(const axle_group *group);
/** Seconds in which threads of this process waited for collectives, those of backward included, so
 * far: what is not hidden behind their work. 0 in a group of one. */
AXLE_API double axle_group_waited(axle_group *group);
/** Among the processes of this host. */
AXLE_API int axle_group_local_rank(const axle_group *group);
AXLE_API int axle_group_local_size(const axle_group *group);

/** Combine a tensor over all processes, in place. @param op  AXLE_REDUCE_SUM, _MEAN (of floats),
 * _MAX or _MIN. */
AXLE_API int axle_all_reduce(axle_group *group, axle_tensor *tensor, int op);
/** The same, of which each process gets its rows: dim 0 is split into equal parts. */
AXLE_API axle_tensor *axle_reduce_scatter(axle_group *group, axle_tensor *tensor, int op);
/** The rows of all processes, in the order of ranks. Numbers of rows may differ, other dims may
 * not. A scalar counts as one row. */
AXLE_API axle_tensor *axle_all_gather(axle_group *group, axle_tensor *tensor);
/** The same on @p root; the others get their own rows back. */
AXLE_API axle_tensor *axle_gather_to(axle_group *group, axle_tensor *tensor, int root);
/** Overwrite the tensor with root's. */
AXLE_API int axle_broadcast(axle_group *group, axle_tensor *tensor, int root);
/** Each process's equal part of the rows of root's tensor; the others' argument may be NULL. */
AXLE_API axle_tensor *axle_scatter_from(axle_group *group, axle_tensor *tensor, int root);
/** Wait for everyone. */
AXLE_API int axle_barrier(axle_group *group);
/** Send a tensor to a process that receives one of the same type and shape. */
AXLE_API int axle_send(axle_group *group, axle_tensor *tensor, int peer);
AXLE_API int axle_receive(axle_group *group, axle_tensor *tensor, int peer);
/** Root's bytes. @param bytes,size  in on root; on the others memory for axle_free(). */
AXLE_API int axle_broadcast_bytes(axle_group *group, void **bytes, size_t *size, int root);

/** Everyone's bytes, in the order of ranks, one after the other. @param sizes  room for the number
 * of bytes of each process. @param out  memory for axle_free(); a 0 follows the last byte. */
AXLE_API int axle_gather_bytes(axle_group *group, const void *bytes, size_t size, void **out,
                               size_t *sizes);

/** Note where this thread makes its next call, for messages; the macros below do, unless
 * AXLE_NO_CALL_SITES is defined. */
AXLE_API void axle_call_site(const char *file, int line);
#define AXLE_HERE axle_call_site(__FILE__, __LINE__)
#ifndef AXLE_NO_CALL_SITES
#define axle_all_reduce(...) (AXLE_HERE, axle_all_reduce(__VA_ARGS__))
#define axle_reduce_scatter(...) (AXLE_HERE, axle_reduce_scatter(__VA_ARGS__))
#define axle_all_gather(...) (AXLE_HERE, axle_all_gather(__VA_ARGS__))
#define axle_gather_to(...) (AXLE_HERE, axle_gather_to(__VA_ARGS__))
#define axle_broadcast(...) (AXLE_HERE, axle_broadcast(__VA_ARGS__))
#define axle_scatter_from(...) (AXLE_HERE, axle_scatter_from(__VA_ARGS__))
#define axle_barrier(...) (AXLE_HERE, axle_barrier(__VA_ARGS__))
#define axle_send(...) (AXLE_HERE, axle_send(__VA_ARGS__))
#define axle_receive(...) (AXLE_HERE, axle_receive(__VA_ARGS__))
#define axle_broadcast_bytes(...) (AXLE_HERE, axle_broadcast_bytes(__VA_ARGS__))
#define axle_gather_bytes(...) (AXLE_HERE, axle_gather_bytes(__VA_ARGS__))
#endif

AXLE_END_DECLS

#endif
