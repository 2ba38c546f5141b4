# SPDX-License-Identifier: Apache-2.0
#
# Flags of our own for the compiler. They are collected in AXLE_CFLAGS and AXLE_LDFLAGS, which
# stand before the user's CFLAGS and LDFLAGS on every command line, so that the user's win.

# AXLE_ADD_FLAG(VARIABLE, FLAG)
# -----------------------------
# Append FLAG to VARIABLE where a program compiles and links with it and nothing is said about it.
AC_DEFUN([AXLE_ADD_FLAG],
[AC_MSG_CHECKING([whether $CC takes $2])
axle_save_CFLAGS=$CFLAGS
axle_save_werror=$ac_c_werror_flag
CFLAGS="$CFLAGS -Werror $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM],
  [AC_MSG_RESULT([yes])
   $1="$$1 $2"],
  [AC_MSG_RESULT([no])])
CFLAGS=$axle_save_CFLAGS
ac_c_werror_flag=$axle_save_werror
])

# AXLE_COMPILER_FLAGS
# -------------------
# The language, the warnings and the visibility that the whole tree is compiled with.
AC_DEFUN([AXLE_COMPILER_FLAGS],
[AC_ARG_ENABLE([werror],
  [AS_HELP_STRING([--enable-werror], [make warnings errors (for developers)])],
  [], [enable_werror=no])
AS_CASE([$enable_werror], [yes | no], [],
  [AC_MSG_ERROR([--enable-werror=$enable_werror: the value must be yes or no])])
m4_foreach_w([axle_flag],
  [-std=c11 -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -fvisibility=hidden],
  [AXLE_ADD_FLAG([AXLE_CFLAGS], axle_flag)])
AXLE_CXXFLAGS='-Wall -Wextra -fvisibility=hidden'
AS_IF([test "x$enable_werror" = xyes],
  [AXLE_CFLAGS="$AXLE_CFLAGS -Werror"
   AXLE_CXXFLAGS="$AXLE_CXXFLAGS -Werror"])
AC_SUBST([AXLE_CFLAGS])
AC_SUBST([AXLE_CXXFLAGS])
AC_SUBST([AXLE_LDFLAGS])
])

# AXLE_SANITIZER
# --------------
# --with-sanitizer=LIST. A shared object that is linked with a sanitizer leaves symbols to the
# program, so only builds without one insist on complete linking.
AC_DEFUN([AXLE_SANITIZER],
[AC_ARG_WITH([sanitizer],
  [AS_HELP_STRING([--with-sanitizer=LIST],
    [instrument for errors at run time: address, undefined or address,undefined, or thread [no]])],
  [], [with_sanitizer=no])
AS_CASE([$with_sanitizer],
  [no], [AXLE_ADD_FLAG([AXLE_LDFLAGS], [-Wl,-z,defs])],
  [address | undefined | address,undefined | undefined,address | thread], [_AXLE_SANITIZE],
  [AC_MSG_ERROR([--with-sanitizer=$with_sanitizer: the value must be address, undefined, address,undefined or thread])])
AC_SUBST([with_sanitizer])
AM_CONDITIONAL([WITH_SANITIZER], [test "x$with_sanitizer" != xno])
])

AC_DEFUN([_AXLE_SANITIZE],
[axle_sanitize="-fsanitize=$with_sanitizer"
AS_CASE([$with_sanitizer], [*undefined*],
  [axle_sanitize="$axle_sanitize -fno-sanitize-recover=undefined"])
AC_MSG_CHECKING([whether $CC links with $axle_sanitize])
axle_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $axle_sanitize"
AC_LINK_IFELSE([AC_LANG_PROGRAM], [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([--with-sanitizer=$with_sanitizer cannot be met: $CC does not link with $axle_sanitize])])
CFLAGS=$axle_save_CFLAGS
AXLE_CFLAGS="$AXLE_CFLAGS $axle_sanitize -fno-omit-frame-pointer"
AXLE_CXXFLAGS="$AXLE_CXXFLAGS $axle_sanitize -fno-omit-frame-pointer"
AXLE_LDFLAGS="$AXLE_LDFLAGS $axle_sanitize"
])

# AXLE_ORIGIN_RUN_PATH
# --------------------
# A run path relative to the program itself, so that an installed tree works from any place it is
# moved to. Only where bindir and libdir lie in the same prefix. Sets AXLE_ORIGIN_LDFLAGS.
AC_DEFUN([AXLE_ORIGIN_RUN_PATH],
[AS_CASE([$prefix], [NONE], [axle_prefix=$ac_default_prefix], [axle_prefix=$prefix])
AS_CASE([$exec_prefix], [NONE], [axle_exec_prefix=$axle_prefix], [axle_exec_prefix=$exec_prefix])
axle_libdir=`prefix=$axle_prefix; exec_prefix=$axle_exec_prefix; eval "echo $libdir"`
axle_bindir=`prefix=$axle_prefix; exec_prefix=$axle_exec_prefix; eval "echo $bindir"`
AXLE_ORIGIN_LDFLAGS=
AS_CASE([$axle_libdir:$axle_bindir],
  [$axle_exec_prefix/*:$axle_exec_prefix/bin],
    [axle_below=`expr "$axle_libdir" : "$axle_exec_prefix/\(.*\)"`
     AXLE_ORIGIN_LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/../$axle_below'"])
AC_SUBST([AXLE_ORIGIN_LDFLAGS])
])
