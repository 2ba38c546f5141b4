/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prepared operator made of several steps: a oneDNN primitive, and before and after it whatever
 * brings its operands into the layout and element type that it wants.
 *
 * Steps work on slots. A slot is an operand of the call, seen through a view of our choice, or a
 * temporary in the workspace. The builder carries a sticky status: once a call fails the following
 * ones do nothing, and program_finish() reports it. A program built without a device only answers
 * what it would need, and generates no code.
 */
#ifndef AXLE_ONEDNN_PROGRAM_H
#define AXLE_ONEDNN_PROGRAM_H

#include "cpu.h"
#include "plan.h"

/* No slot: the operand is absent. */
enum { PROGRAM_NONE = -1 };

/* Most dims over which a step is repeated. */
enum { PROGRAM_MAX_LOOPS = AXLE_MAX_RANK };

typedef struct program program;

/* How often a primitive runs, and how many elements each operand moves on. */
typedef struct program_loops {
    int count;
    int64_t dim[PROGRAM_MAX_LOOPS];
    int64_t stride[DNN_OPERANDS][PROGRAM_MAX_LOOPS];
} program_loops;

/* device is NULL for a program that is only asked. NULL where memory is out. */
program *program_create(const cpu_kernel *kernel, axle_be_device *device);
/* The kernel's release function. */
void program_release(axle_be_op *op);
/* The kernel's run function. */
axle_status program_run(axle_be_op *op, const axle_op_args *args, axle_error *error);

/* Fill info from a program that was built to be asked, and release it. */
axle_status program_answer(program *p, axle_op_info *info);
/* Hand out a program that was built to run, or release it and report why not. */
axle_status program_finish(program *p, axle_be_op **out, axle_error *error);

/* Slots for input or output `index`, whose first element is that of the call's view; and for a
 * temporary, of a view or of a number of bytes. Only dtype, dims and strides of a view count. */
int program_input(program *p, uint32_t index, const axle_view *view);
int program_output(program *p, uint32_t index, const axle_view *view);
int program_temporary(program *p, const axle_view *view);
int program_bytes(program *p, uint64_t bytes);
/* Another view of what a slot holds, from the same first element. */
int program_alias(program *p, int slot, const axle_view *view);
const axle_view *program_view(const program *p, int slot);

/* Append an operator of cpu_openmp_kernels with up to two inputs and one output. */
void program_call(program *p, uint32_t op, const void *attrs, int a, int b, int y);
/* Append a primitive; the plan is taken, even on failure. loops may be NULL. */
void program_primitive(program *p, dnn_plan *plan, const int slot[DNN_OPERANDS],
                       const program_loops *loops);
/* Append a copy between two views of equal dims. */
void program_move(program *p, int from, int to);
/* Append a copy between a slot and one that lies as `plan` chose for an operand. */
void program_reorder_to(program *p, int from, const dnn_plan *plan, int operand, int to);
void program_reorder_from(program *p, const dnn_plan *plan, int operand, int from, int to);

/* The primitive that traces name. */
void program_name(program *p, const char *impl);
/* Note a failure. */
void program_fail(program *p, axle_status status);
int program_failed(const program *p);

/* The layout of a view as oneDNN is told it. */
dnn_layout program_layout(const axle_view *view);
dnnl_data_type_t program_dnn_type(uint32_t dtype);

#endif
