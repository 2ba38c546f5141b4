# SPDX-License-Identifier: Apache-2.0
#
# Cases from the field on the OpenCL backend, in groups of no more than 7 work-items.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
AXLE_OPTIONS=opencl.max_local=7
export AXLE_FALLBACK AXLE_OPTIONS
on_backend opencl cases
