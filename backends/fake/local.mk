# SPDX-License-Identifier: Apache-2.0
#
# A backend that injects faults, for tests only. -rpath makes libtool build a shared object
# although it is not installed.
check_LTLIBRARIES += %D%/fake.la
%C%_fake_la_SOURCES = \
	%D%/fake.h \
	%D%/memory.c \
	%D%/ops.c \
	%D%/plugin.c \
	%D%/queue.c \
	%D%/settings.c \
	%D%/settings.h
%C%_fake_la_LDFLAGS = $(backend_ldflags) -rpath $(abs_top_builddir)/%D%
%C%_fake_la_LIBADD = -lm
