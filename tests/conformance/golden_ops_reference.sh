# SPDX-License-Identifier: Apache-2.0
#
# Operators of the reference backend agree with PyTorch's.
. "$top_srcdir/tests/conformance/on_backend.sh"
on_backend reference golden_ops
