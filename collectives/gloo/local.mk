# SPDX-License-Identifier: Apache-2.0
#
# In C++, as bench/gloo is and nothing else: Gloo has no other interface.
if WITH_GLOO
collective_LTLIBRARIES += %D%/gloo.la
endif
%C%_gloo_la_SOURCES = %D%/gloo.cc
%C%_gloo_la_LDFLAGS = $(collective_ldflags)
%C%_gloo_la_LIBADD = $(GLOO_LIBS)
