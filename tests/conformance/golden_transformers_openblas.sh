# SPDX-License-Identifier: Apache-2.0
#
# Language models on the OpenBLAS backend agree with those of transformers.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend openblas golden_transformers
