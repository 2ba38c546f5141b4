# SPDX-License-Identifier: Apache-2.0
#
# Cases from the field on the OpenCL backend, in groups of no more than a single work-item.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
AXLE_OPTIONS=opencl.max_local=1
export AXLE_FALLBACK AXLE_OPTIONS
on_backend opencl cases
