# SPDX-License-Identifier: Apache-2.0
#
# What `axle bench` opens at run time to measure oneDNN called directly, so that neither libaxle nor
# the command links oneDNN. Loops that a compiler leaves scalar are no reason for a warning.
EXTRA_DIST += %D%/slow_link.sh

# Comparisons with other frameworks, which are no dependencies; see README.md there.
EXTRA_DIST += %D%/README.md %D%/compare.py %D%/reviews.py %D%/roofline.py \
	%D%/peers/pytorch_reviews.py %D%/peers/pytorch_step.py %D%/peers/tinygrad_step.py
pkglib_LTLIBRARIES =
if WITH_ONEDNN
pkglib_LTLIBRARIES += %D%/axle-bench-onednn.la
endif
%C%_axle_bench_onednn_la_SOURCES = \
	%D%/onednn/direct.h \
	%D%/onednn/lenet.c \
	%D%/onednn/matmul.c \
	%D%/onednn/module.c \
	%D%/onednn/program.c \
	%D%/onednn/program.h
%C%_axle_bench_onednn_la_CPPFLAGS = $(AM_CPPFLAGS) $(ONEDNN_CPPFLAGS)
%C%_axle_bench_onednn_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-pass-failed
%C%_axle_bench_onednn_la_LIBADD = $(ONEDNN_LIBS) -lm
%C%_axle_bench_onednn_la_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS) -module -avoid-version -no-undefined \
	-export-symbols-regex '^axle_bench_'

# A plain Gloo program, for `axle bench allreduce --direct`.
if WITH_GLOO
pkglib_LTLIBRARIES += %D%/axle-bench-gloo.la
endif
%C%_axle_bench_gloo_la_SOURCES = %D%/gloo/ring.cc
%C%_axle_bench_gloo_la_LIBADD = $(GLOO_LIBS)
%C%_axle_bench_gloo_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -no-undefined \
	-export-symbols-regex '^axle_bench_'
