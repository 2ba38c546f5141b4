# SPDX-License-Identifier: Apache-2.0
#
# Models by name. libcurl is opened when it is needed (curl.h says why); its header is enough here.
libaxle_models_la_SOURCES += \
	%D%/cache.c \
	%D%/hub.h \
	%D%/listing.c \
	%D%/lock.c \
	%D%/names.c \
	%D%/names.h \
	%D%/request.c \
	%D%/resolve.c \
	%D%/together.c
if WITH_CURL
libaxle_models_la_SOURCES += \
	%D%/curl.c \
	%D%/curl.h \
	%D%/digest.c \
	%D%/http.c \
	%D%/http.h \
	%D%/server.c
libaxle_models_la_LIBADD += $(NETTLE_LIBS)
else
libaxle_models_la_SOURCES += %D%/without_curl.c
endif
libaxle_models_la_LIBADD += $(JANSSON_LIBS) -lm
%D%/%.lo: AM_CFLAGS += $(JANSSON_CFLAGS) $(CURL_CFLAGS) $(NETTLE_CFLAGS)
