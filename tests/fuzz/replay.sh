# SPDX-License-Identifier: Apache-2.0
#
# What fuzzing began with and what it found is read, or refused, without harm.
exec "$top_builddir/tests/fuzz/replay" "$top_srcdir/tests/fuzz"
