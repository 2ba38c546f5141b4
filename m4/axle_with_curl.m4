# SPDX-License-Identifier: Apache-2.0

# AXLE_WITH_CURL
# --------------
# Downloading models: libcurl's header (the library is opened at run time), and Nettle, which checks
# what came. There is no downloading without checking. Makes the conditional WITH_CURL.
AC_DEFUN([AXLE_WITH_CURL],
[AXLE_WITH_PKG([curl], [CURL], [libcurl >= 7.66], [download models], [libcurl4-openssl-dev])
AS_IF([test "x$axle_have_curl" = xyes],
  [PKG_CHECK_MODULES([NETTLE], [nettle >= 3.4], [],
    [AXLE_WITH_MISSING([curl], [pkg-config finds no nettle >= 3.4], [nettle-dev])])])
AS_IF([test "x$axle_have_curl" = xyes],
  [AC_DEFINE([WITH_CURL], [1], [Whether models can be downloaded.])])
AC_SUBST([can_download], [$axle_have_curl])
AM_CONDITIONAL([WITH_CURL], [test "x$axle_have_curl" = xyes])
])
