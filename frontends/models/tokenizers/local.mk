# SPDX-License-Identifier: Apache-2.0
#
# Tokenizers. Without utf8proc there are none.
if HAVE_UTF8PROC
libaxle_models_la_SOURCES += \
	%D%/added.c \
	%D%/added.h \
	%D%/aligned.c \
	%D%/aligned.h \
	%D%/bpe.c \
	%D%/build.c \
	%D%/cache.c \
	%D%/cache.h \
	%D%/decode.c \
	%D%/describe.c \
	%D%/describe.h \
	%D%/encode.c \
	%D%/encoding.c \
	%D%/encoding.h \
	%D%/forms.c \
	%D%/forms.h \
	%D%/frozen_table.h \
	%D%/model.h \
	%D%/normalizer.c \
	%D%/normalizer.h \
	%D%/open.c \
	%D%/read.c \
	%D%/read.h \
	%D%/read_added.c \
	%D%/read_config.c \
	%D%/read_layout.c \
	%D%/read_model.c \
	%D%/read_text.c \
	%D%/save.c \
	%D%/splitter.c \
	%D%/splitter.h \
	%D%/template.c \
	%D%/template.h \
	%D%/tokenize.c \
	%D%/tokenizer.h \
	%D%/trie.c \
	%D%/trie.h \
	%D%/truncate.c \
	%D%/unicode.c \
	%D%/unicode.h \
	%D%/utf8.c \
	%D%/utf8.h \
	%D%/vocabulary.c \
	%D%/vocabulary.h \
	%D%/wordpiece.c \
	%D%/workspace.c \
	%D%/workspace.h
libaxle_models_la_LIBADD += $(UTF8PROC_LIBS)
else
libaxle_models_la_SOURCES += %D%/without_utf8proc.c
endif
%D%/%.lo: AM_CFLAGS += $(JANSSON_CFLAGS) $(UTF8PROC_CFLAGS)
