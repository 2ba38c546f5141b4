# SPDX-License-Identifier: Apache-2.0
#
# Operators of the OpenCL backend agree with PyTorch's, and none of them needs the host. Each kind of
# an elementwise operator is a program of its own, which takes time to build: OPENCL_TESTS=full.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
export AXLE_FALLBACK
[ "${OPENCL_TESTS-}" != full ] || on_backend opencl golden_ops
on_backend opencl golden_ops select reduce arg_reduce matmul softmax loss norm index shape conv pool \
    interpolate attention
