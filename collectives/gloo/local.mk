# SPDX-License-Identifier: Apache-2.0
#
# The only C++ of the tree: Gloo has no other interface.
if WITH_GLOO
collective_LTLIBRARIES += %D%/gloo.la
endif
%C%_gloo_la_SOURCES = %D%/gloo.cc
%C%_gloo_la_LDFLAGS = $(collective_ldflags)
%C%_gloo_la_LIBADD = $(GLOO_LIBS)
