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
	%D%/loss_log.c \
	%D%/loss_log.h \
	%D%/main.c \
	%D%/names.c \
	%D%/names.h \
	%D%/options.c \
	%D%/options.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/train.c \
	%D%/train.h \
	%D%/train_data.c \
	%D%/train_loop.c \
	%D%/train_optim.c \
	%D%/train_options.c \
	%D%/train_report.c \
	%D%/whole_file.c \
	%D%/whole_file.h
axle_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
axle_LDADD = libaxle-models.la libaxle.la $(JANSSON_LIBS)
axle_LDFLAGS = $(AM_LDFLAGS) $(AXLE_ORIGIN_LDFLAGS)
