# SPDX-License-Identifier: Apache-2.0
#
# libaxle-track: records of training on top of the public interface. For the numbers see
# core/local.mk.
lib_LTLIBRARIES += libaxle-track.la
libaxle_track_la_SOURCES = \
	%D%/append_file.c \
	%D%/append_file.h \
	%D%/callback.c \
	%D%/csv.c \
	%D%/files.c \
	%D%/image.c \
	%D%/image.h \
	%D%/jsonl.c \
	%D%/number.c \
	%D%/number.h \
	%D%/sink.h \
	%D%/tracker.c
libaxle_track_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/%D%
libaxle_track_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(LIBPNG_CFLAGS)
libaxle_track_la_LIBADD = frontends/common/libcommon.la libaxle.la $(JANSSON_LIBS) $(LIBPNG_LIBS)
libaxle_track_la_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$$ORIGIN' -version-info 0:0:0 -no-undefined

# The messages are compiled from their description.
EXTRA_DIST += %D%/event.proto
if WITH_PROTOBUF_C
libaxle_track_la_SOURCES += %D%/record.c %D%/record.h %D%/tensorboard.c
nodist_libaxle_track_la_SOURCES = %D%/event.pb-c.c %D%/event.pb-c.h
BUILT_SOURCES += %D%/event.pb-c.h
CLEANFILES += %D%/event.pb-c.c %D%/event.pb-c.h
libaxle_track_la_CFLAGS += $(PROTOBUF_C_CFLAGS)
libaxle_track_la_LIBADD += $(PROTOBUF_C_LIBS)
endif

%D%/event.pb-c.c: $(srcdir)/%D%/event.proto
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	  $(PROTOC_C) --proto_path='$(srcdir)/%D%' --c_out=%D% '$(srcdir)/%D%/event.proto'
%D%/event.pb-c.h: %D%/event.pb-c.c
	@test -f $@ || { rm -f $< && $(MAKE) $<; }
