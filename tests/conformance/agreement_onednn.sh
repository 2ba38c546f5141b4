# SPDX-License-Identifier: Apache-2.0
#
# Operators of the oneDNN backend agree with the reference backend's.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend onednn agreement
