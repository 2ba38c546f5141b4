# SPDX-License-Identifier: Apache-2.0
#
# Optional dependencies. Each has a --with option that is yes (an error where it cannot be met),
# no, or auto (used where found, the default). The result is in the shell variable axle_have_NAME
# (yes or no), what to tell about it in axle_about_NAME.

# _AXLE_NAME(NAME)
# ----------------
# As it may be part of a shell variable's name.
m4_define([_AXLE_NAME], [m4_translit([$1], [-], [_])])

# AXLE_ARG_WITH(NAME, HELP, [MORE-VALUES])
# ----------------------------------------
# Declare the option and reject other values; MORE-VALUES is a shell pattern of further valid ones.
AC_DEFUN([AXLE_ARG_WITH],
[AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1=yes|no|auto]m4_ifval([$3], [[|DIR]]), [$2 [auto]])],
  [], [with_[]_AXLE_NAME([$1])=auto])
case $with_[]_AXLE_NAME([$1]) in
  yes | no | auto[]m4_ifval([$3], [ | $3])) ;;
  *) AC_MSG_ERROR([--with-$1=$with_[]_AXLE_NAME([$1]): the value must be yes, no or auto[]m4_ifval([$3], [, or a folder that begins with /])]) ;;
esac
axle_have_[]_AXLE_NAME([$1])=no
axle_about_[]_AXLE_NAME([$1])='no (not asked for)'
])

# AXLE_WITH_MISSING(NAME, WHY, DEBIAN-PACKAGE)
# --------------------------------------------
# The dependency was not found: an error where it was asked for, else a line of the summary.
AC_DEFUN([AXLE_WITH_MISSING],
[AS_IF([test "x$with_[]_AXLE_NAME([$1])" != xauto],
  [AC_MSG_ERROR([--with-$1 cannot be met: $2 (Debian package: $3)])])
axle_have_[]_AXLE_NAME([$1])=no
axle_about_[]_AXLE_NAME([$1])="no ($2)"
])

# AXLE_WITH_PKG(NAME, PREFIX, MODULE, HELP, DEBIAN-PACKAGE)
# ---------------------------------------------------------
# A dependency that pkg-config knows as MODULE. Sets PREFIX_CFLAGS and PREFIX_LIBS, defines
# HAVE_PREFIX, and makes the Automake conditional HAVE_PREFIX.
AC_DEFUN([AXLE_WITH_PKG],
[AXLE_ARG_WITH([$1], [$4])
AS_IF([test "x$with_[]_AXLE_NAME([$1])" != xno],
  [PKG_CHECK_MODULES([$2], [$3],
    [axle_have_[]_AXLE_NAME([$1])=yes
     axle_about_[]_AXLE_NAME([$1])="yes (`$PKG_CONFIG --modversion "$3"`)"
     AC_DEFINE([HAVE_$2], [1], [Whether $1 is there: $4.])],
    [AXLE_WITH_MISSING([$1], [pkg-config finds no $3], [$5])])])
AM_CONDITIONAL([HAVE_$2], [test "x$axle_have_[]_AXLE_NAME([$1])" = xyes])
])
