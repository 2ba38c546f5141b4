# SPDX-License-Identifier: Apache-2.0
processes=2
. "$top_srcdir/tests/loop/run.sh"
