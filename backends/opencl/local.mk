# SPDX-License-Identifier: Apache-2.0
#
# The OpenCL backend. The kernels are embedded: embed.awk makes one C source of all .cl files.
opencl_kernels = \
	%D%/kernels/arg_reduce.cl \
	%D%/kernels/attend.cl \
	%D%/kernels/attention.cl \
	%D%/kernels/binary.cl \
	%D%/kernels/conv.cl \
	%D%/kernels/copy.cl \
	%D%/kernels/cross_entropy.cl \
	%D%/kernels/draws.cl \
	%D%/kernels/flat.cl \
	%D%/kernels/functions.cl \
	%D%/kernels/index.cl \
	%D%/kernels/interpolate.cl \
	%D%/kernels/matmul.cl \
	%D%/kernels/max_pool.cl \
	%D%/kernels/norm.cl \
	%D%/kernels/optimizer.cl \
	%D%/kernels/pool.cl \
	%D%/kernels/prelude.cl \
	%D%/kernels/product.cl \
	%D%/kernels/random.cl \
	%D%/kernels/reduce.cl \
	%D%/kernels/softmax.cl \
	%D%/kernels/tiled.cl \
	%D%/kernels/unary.cl \
	%D%/kernels/unary_backward.cl \
	%D%/kernels/vectors.cl
EXTRA_DIST += %D%/embed.awk $(opencl_kernels)

if WITH_OPENCL

%D%/kernels.c: %D%/embed.awk $(opencl_kernels)
	$(AM_V_GEN)$(MKDIR_P) %D% && files= && for file in $(opencl_kernels); do \
	  test -f "$$file" || file="$(srcdir)/$$file"; files="$$files $$file"; done && \
	$(AWK) -f "$(srcdir)/%D%/embed.awk" $$files > $@.tmp && mv -f $@.tmp $@
CLEANFILES += %D%/kernels.c %D%/kernels.c.tmp

backend_LTLIBRARIES += %D%/opencl.la
%C%_opencl_la_SOURCES = \
	%D%/attend.c \
	%D%/attention.c \
	%D%/attention.h \
	%D%/clblast.c \
	%D%/clblast.h \
	%D%/conv.c \
	%D%/conv.h \
	%D%/cross_entropy.c \
	%D%/dispatch.c \
	%D%/elementwise.c \
	%D%/error.c \
	%D%/event.c \
	%D%/findings.c \
	%D%/flat.c \
	%D%/index.c \
	%D%/map.c \
	%D%/map.h \
	%D%/matmul.c \
	%D%/memory.c \
	%D%/norm.c \
	%D%/opencl.h \
	%D%/optimizer.c \
	%D%/options.c \
	%D%/philox.c \
	%D%/plan.c \
	%D%/plan.h \
	%D%/planners.h \
	%D%/platform.c \
	%D%/plugin.c \
	%D%/pool.c \
	%D%/product.c \
	%D%/product.h \
	%D%/program.c \
	%D%/queue.c \
	%D%/reduce.c \
	%D%/run.c \
	%D%/selftest.c \
	%D%/slots.h \
	%D%/softmax.c \
	%D%/sources.h \
	%D%/transfer.c \
	%D%/tune.c \
	%D%/tune.h \
	%D%/unfold.c
nodist_%C%_opencl_la_SOURCES = %D%/kernels.c
%C%_opencl_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_opencl_la_LDFLAGS = $(backend_ldflags)
%C%_opencl_la_LIBADD = $(OPENCL_LIBS) -lm

endif
