# SPDX-License-Identifier: Apache-2.0
#
# The check of backends, for `axle backend-check`. It is a host of its own and needs nothing but
# libaxle at run time.
noinst_LTLIBRARIES += %D%/libcheck.la
%C%_libcheck_la_SOURCES = \
	%D%/build.c \
	%D%/build.h \
	%D%/case.c \
	%D%/case.h \
	%D%/cases_attention.c \
	%D%/cases_binary.c \
	%D%/cases_conv.c \
	%D%/cases_create.c \
	%D%/cases_index.c \
	%D%/cases_norm.c \
	%D%/cases_optimizer.c \
	%D%/cases_pool.c \
	%D%/cases_product.c \
	%D%/cases_reduce.c \
	%D%/cases_softmax.c \
	%D%/cases_unary.c \
	%D%/check.c \
	%D%/check.h \
	%D%/compare.c \
	%D%/compare.h \
	%D%/dtype.c \
	%D%/dtype.h \
	%D%/execute.c \
	%D%/execute.h \
	%D%/machine.c \
	%D%/machine.h \
	%D%/note.c \
	%D%/note.h \
	%D%/operand.c \
	%D%/operand.h \
	%D%/plan.c \
	%D%/plan.h \
	%D%/probe_op.c \
	%D%/probe_op.h \
	%D%/process.c \
	%D%/process.h \
	%D%/rows_device.c \
	%D%/rows_exhaustion.c \
	%D%/rows_exit.c \
	%D%/rows_interface.c \
	%D%/rows_memory.c \
	%D%/rows_philox.c \
	%D%/rows_queue.c \
	%D%/rows_threads.c \
	%D%/services.c \
	%D%/services.h \
	%D%/spec.c \
	%D%/spec.h \
	%D%/trial.c \
	%D%/trial.h \
	%D%/values.c \
	%D%/values.h
%C%_libcheck_la_LIBADD = libaxle.la -lm
