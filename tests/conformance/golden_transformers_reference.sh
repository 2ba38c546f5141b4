# SPDX-License-Identifier: Apache-2.0
#
# Language models on the reference backend agree with those of transformers.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend reference golden_transformers
