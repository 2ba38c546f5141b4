# SPDX-License-Identifier: Apache-2.0
#
# Language models on the oneDNN backend agree with those of transformers, and none needs the host.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
export AXLE_FALLBACK
on_backend onednn golden_transformers
