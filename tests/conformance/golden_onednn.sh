# SPDX-License-Identifier: Apache-2.0
#
# Operators, optimizers and schedules on the oneDNN backend agree with PyTorch's.
if [ ! -e "$top_builddir/.libs/backends/onednn.so" ]; then
    echo '1..0 # SKIP the oneDNN backend is not built'
    exit 0
fi
AXLE_BACKEND=onednn
export AXLE_BACKEND
status=0
for program in golden_ops golden_optim; do
    "$top_builddir/tests/conformance/$program" || status=1
done
exit $status
