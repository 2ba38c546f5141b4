# SPDX-License-Identifier: Apache-2.0
#
# Operators of the OpenBLAS backend agree with the reference backend's. Only products and
# convolutions are its own.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend openblas agreement
