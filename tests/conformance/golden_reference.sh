# SPDX-License-Identifier: Apache-2.0
#
# Operators, optimizers and schedules on the reference backend agree with PyTorch's.
AXLE_BACKEND=reference
export AXLE_BACKEND
status=0
for program in golden_ops golden_optim; do
    "$top_builddir/tests/conformance/$program" || status=1
done
exit $status
