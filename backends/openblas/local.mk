# SPDX-License-Identifier: Apache-2.0
#
# The OpenBLAS backend: products and convolutions through CBLAS, everything else on the host. The
# library is opened at run time; see library.h.

# What checks a library needs none, so its test is always built.
noinst_LTLIBRARIES += %D%/libselfcheck.la
%C%_libselfcheck_la_SOURCES = \
	%D%/blas.h \
	%D%/error.c \
	%D%/library.h \
	%D%/selfcheck.c \
	%D%/selfcheck.h

if WITH_OPENBLAS

backend_LTLIBRARIES += %D%/openblas.la
%C%_openblas_la_SOURCES = \
	%D%/blas.c \
	%D%/conv.c \
	%D%/conv_blocks.c \
	%D%/conv_blocks.h \
	%D%/conv_data.c \
	%D%/conv_shape.c \
	%D%/conv_shape.h \
	%D%/conv_weight.c \
	%D%/dispatch.c \
	%D%/gemm.c \
	%D%/gemm.h \
	%D%/library.c \
	%D%/lowering.c \
	%D%/lowering.h \
	%D%/matmul.c \
	%D%/matmul_shape.c \
	%D%/matmul_shape.h \
	%D%/memory.c \
	%D%/plugin.c \
	%D%/run.c \
	%D%/run.h \
	%D%/slots.h
%C%_openblas_la_LDFLAGS = $(backend_ldflags)
%C%_openblas_la_LIBADD = %D%/libselfcheck.la -lm

endif
