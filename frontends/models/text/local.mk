# SPDX-License-Identifier: Apache-2.0
#
# Data sets of texts, and metrics.
libaxle_models_la_SOURCES += \
	%D%/length_groups.c \
	%D%/metric_values.c \
	%D%/metrics.c \
	%D%/metrics.h
