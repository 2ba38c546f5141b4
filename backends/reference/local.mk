# SPDX-License-Identifier: Apache-2.0
#
# The built-in backend, part of libaxle. Contracting a product and a sum to one operation would make
# results depend on the processor that the compiler was told to aim at, so it is off.
noinst_LTLIBRARIES += %D%/libreference.la
%C%_libreference_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
%C%_libreference_la_LIBADD = -lm
%C%_libreference_la_SOURCES = \
	%D%/activation.h \
	%D%/arg_reduce.c \
	%D%/attention.c \
	%D%/batch_norm.c \
	%D%/binary.c \
	%D%/contraction.c \
	%D%/contraction.h \
	%D%/conv.c \
	%D%/conv_planes.c \
	%D%/conv_planes.h \
	%D%/copy.c \
	%D%/cross_entropy.c \
	%D%/decline.c \
	%D%/dispatch.c \
	%D%/element.h \
	%D%/embedding.c \
	%D%/fill.c \
	%D%/fold.c \
	%D%/fold.h \
	%D%/group_norm.c \
	%D%/host.c \
	%D%/index.c \
	%D%/index.h \
	%D%/index_add.c \
	%D%/index_move.c \
	%D%/interpolate.c \
	%D%/layer_norm.c \
	%D%/map.c \
	%D%/map.h \
	%D%/masking.c \
	%D%/masking.h \
	%D%/matmul.c \
	%D%/memory.c \
	%D%/moments.c \
	%D%/moments.h \
	%D%/number.c \
	%D%/one_hot.c \
	%D%/operand.c \
	%D%/operand.h \
	%D%/optimizer.c \
	%D%/philox.c \
	%D%/plugin.c \
	%D%/pool.c \
	%D%/random.c \
	%D%/reduce.c \
	%D%/reference.h \
	%D%/slots.h \
	%D%/softmax.c \
	%D%/unary.c \
	%D%/unary_backward.c \
	%D%/where.c
