# SPDX-License-Identifier: Apache-2.0
#
# libaxle. Its objects are gathered in a convenience library, which white-box tests link too.
# Folders stand in the order of dependency: each includes only from those above it.
noinst_LTLIBRARIES += %D%/libcore.la
%C%_libcore_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/core \
	-DAXLE_PKGLIBDIR='"$(pkglibdir)"'
%C%_libcore_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZLIB_CFLAGS) $(HWLOC_CFLAGS)
%C%_libcore_la_LIBADD = $(JANSSON_LIBS) $(ZLIB_LIBS) $(HWLOC_LIBS)
%C%_libcore_la_SOURCES =

# The numbers are current:revision:age of the interface that include/axle declares. At a release:
# revision + 1 where only the code changed; if functions were added, current + 1, revision 0 and
# age + 1; if any was removed or changed, current + 1, revision 0 and age 0.
lib_LTLIBRARIES += libaxle.la
libaxle_la_SOURCES =
libaxle_la_LIBADD = %D%/libcore.la backends/reference/libreference.la
libaxle_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined
