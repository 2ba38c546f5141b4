# SPDX-License-Identifier: Apache-2.0
#
# What users of a training loop rely on, by 1, 2 and 4 processes.
check_PROGRAMS += %D%/loop
%C%_loop_SOURCES = \
	%D%/accumulation.c \
	%D%/checkpoints.c \
	%D%/collectives.c \
	%D%/equality.c \
	%D%/loading.c \
	%D%/loop.c \
	%D%/loop.h \
	%D%/precision.c \
	%D%/split.c \
	%D%/state.c \
	%D%/streams.c \
	%D%/support.c \
	%D%/uneven.c
%C%_loop_LDADD = libaxle.la -lm
%C%_loop_LDFLAGS = $(black_box_ldflags)

loop_tests = \
	%D%/p1.sh \
	%D%/p2.sh \
	%D%/p4.sh
TESTS += $(loop_tests)
EXTRA_DIST += $(loop_tests) %D%/README.md %D%/run.sh
