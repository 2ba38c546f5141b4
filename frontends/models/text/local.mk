# SPDX-License-Identifier: Apache-2.0
#
# Data sets of texts, and metrics.
libaxle_models_la_SOURCES += \
	%D%/dataset.c \
	%D%/encoder.c \
	%D%/label_fields.c \
	%D%/label_fields.h \
	%D%/label_names.c \
	%D%/label_names.h \
	%D%/labels.c \
	%D%/labels.h \
	%D%/length_groups.c \
	%D%/metric_values.c \
	%D%/metrics.c \
	%D%/metrics.h \
	%D%/rows.c \
	%D%/rows.h \
	%D%/synthetic.c \
	%D%/tokens.c \
	%D%/tokens.h
%D%/%.lo: AM_CFLAGS += $(JANSSON_CFLAGS)
