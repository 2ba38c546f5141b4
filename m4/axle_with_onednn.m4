# SPDX-License-Identifier: Apache-2.0

# AXLE_WITH_ONEDNN
# ----------------
# The oneDNN plugin. oneDNN ships no pkg-config file, so header and library are looked for where
# the compiler looks, or under the prefix given with --with-onednn=DIR (whose lib folder then
# becomes a run path of the plugin). Any version from 2.6 will do. The plugin's own kernels are
# written with OpenMP, which therefore is a condition, too.
# Sets ONEDNN_CPPFLAGS, ONEDNN_LIBS; makes the conditional WITH_ONEDNN.
AC_DEFUN([AXLE_WITH_ONEDNN],
[AC_REQUIRE([AC_OPENMP])
AXLE_ARG_WITH([onednn], [build the oneDNN backend], [/*])
AS_CASE([$with_onednn],
  [no], [],
  [yes | auto], [_AXLE_ONEDNN_CHECK([], [])],
  [AS_IF([test -f "$with_onednn/include/dnnl.h"], [],
     [AC_MSG_ERROR([--with-onednn=$with_onednn cannot be met: there is no $with_onednn/include/dnnl.h])])
   axle_onednn_lib=$with_onednn/lib
   AS_IF([test -d "$with_onednn/lib64" && test ! -e "$with_onednn/lib/libdnnl.so"],
     [axle_onednn_lib=$with_onednn/lib64])
   AS_IF([test -e "$axle_onednn_lib/libdnnl.so"], [],
     [AC_MSG_ERROR([--with-onednn=$with_onednn cannot be met: there is no $axle_onednn_lib/libdnnl.so])])
   _AXLE_ONEDNN_CHECK([-I$with_onednn/include],
     [-L$axle_onednn_lib -Wl,-rpath,$axle_onednn_lib])])
AC_SUBST([ONEDNN_CPPFLAGS])
AC_SUBST([ONEDNN_LIBS])
AM_CONDITIONAL([WITH_ONEDNN], [test "x$axle_have_onednn" = xyes])
AS_IF([test "x$axle_have_onednn" = xyes],
  [AC_DEFINE([WITH_ONEDNN], [1], [Whether the oneDNN backend is built.])])
])

# _AXLE_ONEDNN_CHECK(CPPFLAGS, LDFLAGS)
AC_DEFUN([_AXLE_ONEDNN_CHECK],
[ONEDNN_CPPFLAGS="$1"
ONEDNN_LIBS="m4_ifval([$2], [$2 ])-ldnnl"
axle_save_CPPFLAGS=$CPPFLAGS
axle_save_CFLAGS=$CFLAGS
axle_save_LIBS=$LIBS
CPPFLAGS="$ONEDNN_CPPFLAGS $CPPFLAGS"
CFLAGS="$CFLAGS $OPENMP_CFLAGS"
LIBS="$ONEDNN_LIBS $LIBS"
axle_onednn_problem=
_AXLE_ONEDNN_VERSION
AS_IF([test "x$axle_onednn_version" = xnone],
    [axle_onednn_problem='dnnl.h was not found'],
  [test "$axle_onednn_major" -lt 2 || { test "$axle_onednn_major" -eq 2 && test "$axle_onednn_minor" -lt 6; }],
    [axle_onednn_problem="version $axle_onednn_version is older than 2.6"],
  [_AXLE_ONEDNN_LINK])
CPPFLAGS=$axle_save_CPPFLAGS
CFLAGS=$axle_save_CFLAGS
LIBS=$axle_save_LIBS
AS_IF([test -n "$axle_onednn_problem"],
  [AXLE_WITH_MISSING([onednn], [$axle_onednn_problem], [libdnnl-dev])],
  [axle_have_onednn=yes
   axle_about_onednn="yes ($axle_onednn_version[]m4_ifval([$1], [, $with_onednn]))"])
])

# Set axle_onednn_version ("2.6.3" or "none"), axle_onednn_major and axle_onednn_minor.
AC_DEFUN([_AXLE_ONEDNN_VERSION],
[AC_MSG_CHECKING([for oneDNN])
axle_onednn_version=none
axle_onednn_includes='#include <dnnl_version.h>'
AC_COMPUTE_INT([axle_onednn_major], [DNNL_VERSION_MAJOR], [$axle_onednn_includes], [axle_onednn_major=])
AS_IF([test -n "$axle_onednn_major"],
  [AC_COMPUTE_INT([axle_onednn_minor], [DNNL_VERSION_MINOR], [$axle_onednn_includes])
   AC_COMPUTE_INT([axle_onednn_patch], [DNNL_VERSION_PATCH], [$axle_onednn_includes])
   axle_onednn_version=$axle_onednn_major.$axle_onednn_minor.$axle_onednn_patch])
AC_MSG_RESULT([$axle_onednn_version])
])

# Set axle_onednn_problem where a program does not link, or finds another version when it runs.
AC_DEFUN([_AXLE_ONEDNN_LINK],
[AC_MSG_CHECKING([whether oneDNN works])
AC_RUN_IFELSE(
  [AC_LANG_PROGRAM([[#include <dnnl.h>]],
    [[const dnnl_version_t *found = dnnl_version();
return found->major != DNNL_VERSION_MAJOR || found->minor != DNNL_VERSION_MINOR;]])],
  [], [axle_onednn_problem="its library does not link, or is not version $axle_onednn_version"],
  [AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <dnnl.h>]], [[return dnnl_version() == 0;]])],
    [], [axle_onednn_problem='its library does not link'])])
AS_IF([test -z "$axle_onednn_problem"],
  [AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <omp.h>
#ifndef _OPENMP
#error no OpenMP
#endif]], [[return omp_get_max_threads() == 0;]])],
    [], [axle_onednn_problem="$CC has no OpenMP"])])
AS_IF([test -z "$axle_onednn_problem"], [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no ($axle_onednn_problem)])])
])
