# SPDX-License-Identifier: Apache-2.0
#
# What the group's tests show over the transport of the tests, over Gloo.
. "$top_srcdir/tests/tap.sh"
takes_long

AXLE_TRANSPORT=$top_builddir/collectives/gloo/.libs/gloo.so
export AXLE_TRANSPORT

[ -f "$AXLE_TRANSPORT" ] || skip_all 'the Gloo transport was not built'
[ -x "$top_builddir/tests/unit/group/collectives" ] || skip_all 'the unit tests were not built'
[ "$sanitizer" != thread ] || skip_all 'ThreadSanitizer does not see how Gloo synchronises'

for program in group/collectives group/mismatches group/deaths train/parallel train/processes; do
    check "$program over Gloo" "$top_builddir/tests/unit/$program"
done
finish
