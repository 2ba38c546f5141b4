# SPDX-License-Identifier: Apache-2.0
#
# Language models on the OpenCL backend agree with those of transformers, and none needs the host.
# Kernels take time to build, so that there is one model of each kind unless OPENCL_TESTS=full.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
export AXLE_FALLBACK
[ "${OPENCL_TESTS-}" != full ] || on_backend opencl golden_transformers
golden=$top_srcdir/tests/golden/transformers
on_backend opencl golden_transformers "$golden/bert-masked" "$golden/roberta-sequence" \
    "$golden/electra-sequence" "$golden/distilbert-sequence"
