# SPDX-License-Identifier: Apache-2.0
#
# Large products of the OpenBLAS backend are exact for integers.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend openblas large_products
