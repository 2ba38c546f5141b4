# SPDX-License-Identifier: Apache-2.0
#
# The axle command, one file a subcommand.
bin_PROGRAMS += axle
axle_SOURCES = \
	%D%/clock.h \
	%D%/command.h \
	%D%/info.c \
	%D%/interrupt.c \
	%D%/interrupt.h \
	%D%/main.c \
	%D%/names.c \
	%D%/names.h \
	%D%/options.c \
	%D%/options.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/whole_file.c \
	%D%/whole_file.h
axle_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
axle_LDADD = libaxle-models.la libaxle.la $(JANSSON_LIBS)
axle_LDFLAGS = $(AM_LDFLAGS) $(AXLE_ORIGIN_LDFLAGS)
