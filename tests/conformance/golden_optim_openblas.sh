# SPDX-License-Identifier: Apache-2.0
#
# Optimizers and schedules on the OpenBLAS backend agree with PyTorch's.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend openblas golden_optim
