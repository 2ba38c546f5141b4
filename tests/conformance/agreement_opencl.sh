# SPDX-License-Identifier: Apache-2.0
#
# Operators of the OpenCL backend, on its first device, agree with the reference backend's, and none
# of them needs the host.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
export AXLE_FALLBACK
on_backend opencl agreement
