# SPDX-License-Identifier: Apache-2.0
#
# Large products of the oneDNN backend are exact for integers.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend onednn large_products
