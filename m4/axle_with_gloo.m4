# SPDX-License-Identifier: Apache-2.0

# AXLE_WITH_GLOO
# --------------
# The Gloo transport, written in C++: Gloo of 2022 and newer.
# Sets GLOO_LIBS; makes the conditional WITH_GLOO.
AC_DEFUN([AXLE_WITH_GLOO],
[AXLE_ARG_WITH([gloo], [build the transport between processes over Gloo])
GLOO_LIBS=
AS_IF([test "x$with_gloo" != xno],
  [AC_MSG_CHECKING([for Gloo])
   AC_LANG_PUSH([C++])
   axle_save_LIBS=$LIBS
   axle_save_CXXFLAGS=$CXXFLAGS
   LIBS="-lgloo $LIBS"
   CXXFLAGS="$CXXFLAGS -std=c++17"
   AC_LINK_IFELSE(
     [AC_LANG_PROGRAM([[#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>]],
       [[gloo::transport::tcp::attr attributes;
gloo::rendezvous::Context context(0, 1);
return gloo::transport::tcp::CreateDevice(attributes) == nullptr]])],
     [AC_MSG_RESULT([yes])
      GLOO_LIBS=-lgloo
      axle_have_gloo=yes
      axle_about_gloo=yes],
     [AC_MSG_RESULT([no])
      AXLE_WITH_MISSING([gloo], [no C++ compiler that finds gloo/ and libgloo], [libgloo-dev])])
   LIBS=$axle_save_LIBS
   CXXFLAGS=$axle_save_CXXFLAGS
   AC_LANG_POP([C++])])
AC_SUBST([GLOO_LIBS])
AM_CONDITIONAL([WITH_GLOO], [test "x$axle_have_gloo" = xyes])
AS_IF([test "x$axle_have_gloo" = xyes],
  [AC_DEFINE([WITH_GLOO], [1], [Whether the Gloo transport is built.])])
])
