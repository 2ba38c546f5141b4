# SPDX-License-Identifier: Apache-2.0
#
# The axle command, one file a subcommand.
bin_PROGRAMS += axle
axle_SOURCES = \
	%D%/command.h \
	%D%/info.c \
	%D%/main.c \
	%D%/names.c \
	%D%/names.h \
	%D%/options.c \
	%D%/options.h
axle_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
axle_LDADD = libaxle-models.la libaxle.la $(JANSSON_LIBS)
axle_LDFLAGS = $(AM_LDFLAGS) $(AXLE_ORIGIN_LDFLAGS)
