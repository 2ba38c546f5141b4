# SPDX-License-Identifier: Apache-2.0
# OpenMP kernels of the CPU backend. The inner loops are compiled once for every instruction set;
# the drivers around them once. The plugin links libkernels.la, which contains them all.

kernel_loop_sources = \
	%D%/half.h \
	%D%/isa.h \
	%D%/loops.h \
	%D%/philox.h \
	%D%/rowsum.h \
	%D%/vecmath.h \
	%D%/vecmath64.h \
	%D%/loops/attention.c \
	%D%/loops/backward.c \
	%D%/loops/binary.c \
	%D%/loops/conv_narrow.c \
	%D%/loops/convert.c \
	%D%/loops/gemm.c \
	%D%/loops/index.c \
	%D%/loops/norm.c \
	%D%/loops/optimizer.c \
	%D%/loops/pool.c \
	%D%/loops/random.c \
	%D%/loops/reduce.c \
	%D%/loops/softmax.c \
	%D%/loops/table.c \
	%D%/loops/unary.c

# Contraction into fused multiply-add is wanted; nothing that changes the meaning of NaN, infinity
# or the sign of zero is. Loops that a compiler leaves scalar are no reason for a warning.
kernel_cflags = $(AM_CFLAGS) $(OPENMP_CFLAGS) -fopenmp-simd -ffp-contract=fast -fno-math-errno \
	-fno-trapping-math -Wno-pass-failed

noinst_LTLIBRARIES += \
	%D%/libkernels.la \
	%D%/libloops_generic.la \
	%D%/libloops_avx2.la \
	%D%/libloops_avx512.la

%C%_libloops_generic_la_SOURCES = $(kernel_loop_sources)
%C%_libloops_generic_la_CPPFLAGS = $(AM_CPPFLAGS) -DLOOP_LEVEL=0
%C%_libloops_generic_la_CFLAGS = $(kernel_cflags)

%C%_libloops_avx2_la_SOURCES = $(kernel_loop_sources)
%C%_libloops_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DLOOP_LEVEL=1
%C%_libloops_avx2_la_CFLAGS = $(kernel_cflags)

%C%_libloops_avx512_la_SOURCES = $(kernel_loop_sources)
%C%_libloops_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DLOOP_LEVEL=2
%C%_libloops_avx512_la_CFLAGS = $(kernel_cflags)

%C%_libkernels_la_SOURCES = \
	%D%/arg_reduce.c \
	%D%/attention.c \
	%D%/attention.h \
	%D%/attention_backward.c \
	%D%/attention_tile.c \
	%D%/batch_norm.c \
	%D%/binary.c \
	%D%/conv_narrow.c \
	%D%/copy.c \
	%D%/cross_entropy.c \
	%D%/elem.c \
	%D%/elem.h \
	%D%/fill.c \
	%D%/gather.c \
	%D%/group_norm.c \
	%D%/index.h \
	%D%/indices.c \
	%D%/interpolate.c \
	%D%/isa.c \
	%D%/kernel.c \
	%D%/kernel.h \
	%D%/layer_norm.c \
	%D%/norm.c \
	%D%/norm.h \
	%D%/one_hot.c \
	%D%/optimizer.c \
	%D%/pool.c \
	%D%/pool.h \
	%D%/pool_backward.c \
	%D%/pool_geometry.c \
	%D%/random.c \
	%D%/reduce.c \
	%D%/reduction.c \
	%D%/reduction.h \
	%D%/rows.c \
	%D%/rows.h \
	%D%/scatter.c \
	%D%/softmax.c \
	%D%/stage.c \
	%D%/stage.h \
	%D%/table.c \
	%D%/unary.c \
	%D%/where.c
%C%_libkernels_la_CFLAGS = $(kernel_cflags)
%C%_libkernels_la_LIBADD = \
	%D%/libloops_generic.la \
	%D%/libloops_avx2.la \
	%D%/libloops_avx512.la \
	-lm
