# SPDX-License-Identifier: Apache-2.0
#
# AXLE_CHECK_PATHS
# ----------------
# make splits its words at white space, and libtool does not quote what it links: say so now
# instead of failing half-way through a build.
AC_DEFUN([AXLE_CHECK_PATHS],
[for axle_path in "$srcdir" "`pwd`" "`cd "$srcdir" && pwd`"; do
  case $axle_path in
    *[[\ \	]]*)
      AC_MSG_ERROR([the path '$axle_path' contains white space, which make and libtool cannot handle; build in, and from, folders without it]) ;;
  esac
done
])
