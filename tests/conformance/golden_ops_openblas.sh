# SPDX-License-Identifier: Apache-2.0
#
# Operators of the OpenBLAS backend agree with PyTorch's.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend openblas golden_ops
