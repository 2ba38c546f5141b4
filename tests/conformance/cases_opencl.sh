# SPDX-License-Identifier: Apache-2.0
#
# Cases from the field on the OpenCL backend, without help of the host.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
export AXLE_FALLBACK
on_backend opencl cases
