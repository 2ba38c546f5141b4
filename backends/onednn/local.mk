# SPDX-License-Identifier: Apache-2.0
#
# The CPU backend: oneDNN primitives, and OpenMP kernels for what oneDNN lacks.
if WITH_ONEDNN

include %D%/kernels/local.mk

backend_LTLIBRARIES += %D%/onednn.la
%C%_onednn_la_SOURCES = \
	%D%/activation.c \
	%D%/activation.h \
	%D%/compat.c \
	%D%/compat.h \
	%D%/conv.c \
	%D%/conv_shape.c \
	%D%/conv_shape.h \
	%D%/cpu.h \
	%D%/dispatch.c \
	%D%/error.c \
	%D%/matmul.c \
	%D%/matmul_direct.c \
	%D%/matmul_dots.c \
	%D%/matmul_shape.c \
	%D%/matmul_shape.h \
	%D%/memory.c \
	%D%/plan.c \
	%D%/plan.h \
	%D%/plugin.c \
	%D%/primitives.c \
	%D%/primitives.h \
	%D%/program.c \
	%D%/program.h \
	%D%/slots.h
%C%_onednn_la_CPPFLAGS = $(AM_CPPFLAGS) $(ONEDNN_CPPFLAGS)
%C%_onednn_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -ffp-contract=fast
%C%_onednn_la_LDFLAGS = $(backend_ldflags)
%C%_onednn_la_LIBADD = %D%/kernels/libkernels.la $(ONEDNN_LIBS) -lm

endif
