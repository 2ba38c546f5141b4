# SPDX-License-Identifier: Apache-2.0
#
# Cases from the field on the OpenBLAS backend.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend openblas cases
