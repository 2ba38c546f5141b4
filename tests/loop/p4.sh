# SPDX-License-Identifier: Apache-2.0
processes=4
. "$top_srcdir/tests/loop/run.sh"
