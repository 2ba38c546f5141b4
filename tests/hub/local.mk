# SPDX-License-Identifier: Apache-2.0
#
# Models by name, against a server in Python.
check_PROGRAMS += %D%/resolve
%C%_resolve_LDADD = libaxle-models.la libaxle.la
%C%_resolve_LDFLAGS = $(black_box_ldflags)
TESTS += %D%/hub.sh
EXTRA_DIST += %D%/hub.sh %D%/server.py %D%/support.sh
