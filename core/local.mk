# SPDX-License-Identifier: Apache-2.0
#
# libaxle. Its objects are gathered in a convenience library, which white-box tests link too.
# Folders stand in the order of dependency: each includes only from those above it.
noinst_LTLIBRARIES += %D%/libcore.la
%C%_libcore_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/core \
	-DAXLE_PKGLIBDIR='"$(pkglibdir)"'
%C%_libcore_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZLIB_CFLAGS) $(HWLOC_CFLAGS)
%C%_libcore_la_LIBADD = $(JANSSON_LIBS) $(ZLIB_LIBS) $(HWLOC_LIBS)
%C%_libcore_la_SOURCES = \
	%D%/base/cores.c \
	%D%/base/cores.h \
	%D%/base/dtype.c \
	%D%/base/error.c \
	%D%/base/error.h \
	%D%/base/file.c \
	%D%/base/file.h \
	%D%/base/file_writer.c \
	%D%/base/finalize.c \
	%D%/base/finalize.h \
	%D%/base/list.c \
	%D%/base/list.h \
	%D%/base/log.c \
	%D%/base/log.h \
	%D%/base/memory.c \
	%D%/base/memory.h \
	%D%/base/object.h \
	%D%/base/options.c \
	%D%/base/options.h \
	%D%/base/settings.c \
	%D%/base/settings.def \
	%D%/base/settings.h \
	%D%/base/text.c \
	%D%/base/text.h \
	%D%/base/threads.c \
	%D%/base/threads.h \
	%D%/base/version.c \
	%D%/device/allocator.c \
	%D%/device/allocator.h \
	%D%/device/cache.c \
	%D%/device/cache.h \
	%D%/device/device.c \
	%D%/device/device.h \
	%D%/device/dispatch.c \
	%D%/device/dispatch.h \
	%D%/device/elf.c \
	%D%/device/elf.h \
	%D%/device/fallback.c \
	%D%/device/fallback.h \
	%D%/device/guard.c \
	%D%/device/guard.h \
	%D%/device/host.c \
	%D%/device/info.c \
	%D%/device/large.c \
	%D%/device/op_cache.c \
	%D%/device/op_cache.h \
	%D%/device/plugin.c \
	%D%/device/plugin.h \
	%D%/device/ranges.c \
	%D%/device/registry.c \
	%D%/device/registry.h \
	%D%/device/search.c \
	%D%/device/search.h \
	%D%/device/selection.c \
	%D%/device/small.c \
	%D%/device/transfer.c \
	%D%/tensor/create.c \
	%D%/tensor/elementwise.c \
	%D%/tensor/elementwise.h \
	%D%/tensor/host.c \
	%D%/tensor/matmul.c \
	%D%/tensor/matmul.h \
	%D%/tensor/random.c \
	%D%/tensor/random.h \
	%D%/tensor/reduce.c \
	%D%/tensor/reduce.h \
	%D%/tensor/run.h \
	%D%/tensor/scope.c \
	%D%/tensor/shape.c \
	%D%/tensor/shape.h \
	%D%/tensor/tensor.c \
	%D%/tensor/tensor.h \
	%D%/autograd/binary.c \
	%D%/autograd/cast.c \
	%D%/autograd/engine.c \
	%D%/autograd/function.c \
	%D%/autograd/hooks.c \
	%D%/autograd/join.c \
	%D%/autograd/leaf.c \
	%D%/autograd/node.c \
	%D%/autograd/node.h \
	%D%/autograd/ops.h \
	%D%/autograd/unary.c \
	%D%/autograd/view.c \
	%D%/data/batch.c \
	%D%/data/batch.h \
	%D%/data/bytes.h \
	%D%/data/collate.c \
	%D%/data/csv.c \
	%D%/data/csv.h \
	%D%/data/dataset.c \
	%D%/data/dataset.h \
	%D%/data/fetch_tensor.c \
	%D%/data/idx.c \
	%D%/data/idx.h \
	%D%/data/idx_dataset.c \
	%D%/data/images.c \
	%D%/data/images.h \
	%D%/data/jsonl.c \
	%D%/data/jsonl.h \
	%D%/data/jsonl_column.c \
	%D%/data/number.c \
	%D%/data/number.h \
	%D%/data/source.c \
	%D%/data/source.h \
	%D%/data/subset.c \
	%D%/data/table.c \
	%D%/data/table.h \
	%D%/data/table_read.c \
	%D%/data/tensor_dataset.c \
	%D%/io/safetensors.c \
	%D%/io/safetensors.h \
	%D%/io/safetensors_dtype.c \
	%D%/io/safetensors_dtype.h \
	%D%/io/safetensors_write.c

# The numbers are current:revision:age of the interface that include/axle declares. At a release:
# revision + 1 where only the code changed; if functions were added, current + 1, revision 0 and
# age + 1; if any was removed or changed, current + 1, revision 0 and age 0.
lib_LTLIBRARIES += libaxle.la
libaxle_la_SOURCES =
libaxle_la_LIBADD = %D%/libcore.la backends/reference/libreference.la
libaxle_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined
