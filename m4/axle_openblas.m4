# SPDX-License-Identifier: Apache-2.0

# AXLE_WITH_OPENBLAS
# ------------------
# The OpenBLAS plugin, over any library with the CBLAS interface: what pkg-config knows as openblas,
# else the first of some names that links. The plugin opens the library when it is used, so what is
# wanted here is the name under which the dynamic linker knows it.
# Defines CBLAS_LIBRARY; makes the conditional WITH_OPENBLAS.
AC_DEFUN([AXLE_WITH_OPENBLAS],
[AXLE_ARG_WITH([openblas], [build the OpenBLAS backend])
AS_IF([test "x$with_openblas" != xno],
  [AC_CHECK_TOOLS([READELF], [readelf llvm-readelf], [:])
   axle_cblas=
   axle_cblas_libs=`$PKG_CONFIG --libs openblas 2>/dev/null`
   for axle_try in "$axle_cblas_libs" -lopenblas -lcblas -lblas; do
     test -n "$axle_try" || continue
     _AXLE_CBLAS_CHECK([$axle_try])
     test -z "$axle_cblas" || break
   done
   AS_IF([test -n "$axle_cblas"],
     [axle_have_openblas=yes
      axle_about_openblas="yes ($axle_cblas)"
      AC_DEFINE_UNQUOTED([CBLAS_LIBRARY], ["$axle_cblas"],
        [The CBLAS library that the OpenBLAS backend opens unless told otherwise.])],
     [AXLE_WITH_MISSING([openblas], [no shared library with cblas_sgemm was found],
        [libopenblas-dev])])])
AM_CONDITIONAL([WITH_OPENBLAS], [test "x$axle_have_openblas" = xyes])
])

# _AXLE_CBLAS_CHECK(LIBS)
# -----------------------
# Set axle_cblas to the name of the shared library that LIBS leads to, if it is one with CBLAS. A
# sanitizer's library, or one of the C library, has another name.
AC_DEFUN([_AXLE_CBLAS_CHECK],
[AC_MSG_CHECKING([for CBLAS in $1])
axle_save_LIBS=$LIBS
LIBS="$1 $LIBS"
AC_LINK_IFELSE(
  [AC_LANG_PROGRAM([[char cblas_sgemm(void);
char cblas_dgemm(void);]], [[return cblas_sgemm() + cblas_dgemm();]])],
  [axle_cblas=`$READELF -d conftest$ac_exeext 2>/dev/null |
     $SED -n 's/.*(NEEDED).*\@<:@\(.*\(blas\|blis\|mkl\|armpl\|essl\).*\)\@:>@.*/\1/p' | $SED 1q`])
LIBS=$axle_save_LIBS
AC_MSG_RESULT([${axle_cblas:-no}])
])
