# SPDX-License-Identifier: Apache-2.0
#
# Optimizers and schedules on the OpenCL backend agree with PyTorch's.
. "$top_srcdir/tests/conformance/on_backend.sh"
AXLE_FALLBACK=error
export AXLE_FALLBACK
on_backend opencl golden_optim
