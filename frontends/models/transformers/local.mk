# SPDX-License-Identifier: Apache-2.0
#
# Language models, and their files.
libaxle_models_la_SOURCES += \
	%D%/architecture.h \
	%D%/architectures.c \
	%D%/bert.c \
	%D%/build.c \
	%D%/build.h \
	%D%/choose.c \
	%D%/choose.h \
	%D%/classifiers.c \
	%D%/config.c \
	%D%/config.h \
	%D%/config_file.c \
	%D%/decoder.c \
	%D%/decoder.h \
	%D%/decoder_layer.c \
	%D%/distilbert.c \
	%D%/electra.c \
	%D%/embeddings.c \
	%D%/encoder.c \
	%D%/encoder.h \
	%D%/encoder_layer.c \
	%D%/forward.c \
	%D%/generate.c \
	%D%/gpt2.c \
	%D%/heads.h \
	%D%/initialise.c \
	%D%/labels.c \
	%D%/language_heads.c \
	%D%/load.h \
	%D%/load_match.c \
	%D%/load_report.c \
	%D%/load_values.c \
	%D%/losses.c \
	%D%/network.c \
	%D%/network.h \
	%D%/past.c \
	%D%/past.h \
	%D%/pretrained.c \
	%D%/roberta.c \
	%D%/save.c \
	%D%/sizes.c \
	%D%/sizes.h
%D%/%.lo: AM_CFLAGS += $(JANSSON_CFLAGS)
