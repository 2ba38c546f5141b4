# SPDX-License-Identifier: Apache-2.0
#
# AXLE_KEEP_CORE_DIR
# ------------------
# configure removes core dumps with "rm -f core" after its checks and in its exit trap. Here core
# is a folder (of the sources, or of a build tree), which makes that rm fail and the trap stop
# half-way, so that confdefs.h is left behind. Wrap rm in a function that leaves the operand out
# where it names a folder. Call this right after AC_INIT.
AC_DEFUN([AXLE_KEEP_CORE_DIR],
[rm ()
{
  axle_left=$[#]
  while test "$axle_left" -gt 0; do
    if test "x$[1]" = xcore && test -d core; then :; else
      set -- "$[@]" "$[1]"
    fi
    shift
    axle_left=`expr "$axle_left" - 1`
  done
  command rm "$[@]"
}
])
