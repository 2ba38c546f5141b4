# SPDX-License-Identifier: Apache-2.0

# AXLE_WITH_OPENCL
# ----------------
# The OpenCL plugin: headers and the ICD loader, of any version that knows OpenCL 1.2.
# Sets OPENCL_LIBS; makes the conditional WITH_OPENCL.
AC_DEFUN([AXLE_WITH_OPENCL],
[AXLE_ARG_WITH([opencl], [build the OpenCL backend])
OPENCL_LIBS=
AS_IF([test "x$with_opencl" != xno],
  [AC_MSG_CHECKING([for OpenCL])
   axle_save_LIBS=$LIBS
   LIBS="-lOpenCL $LIBS"
   AC_LINK_IFELSE(
     [AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>]],
       [[cl_uint n; return clGetPlatformIDs(0, 0, &n) == CL_SUCCESS
  && clEnqueueMarkerWithWaitList(0, 0, 0, 0) == CL_SUCCESS;]])],
     [AC_MSG_RESULT([yes])
      OPENCL_LIBS=-lOpenCL
      axle_have_opencl=yes
      axle_about_opencl=yes],
     [AC_MSG_RESULT([no])
      AXLE_WITH_MISSING([opencl], [CL/cl.h and libOpenCL were not found], [ocl-icd-opencl-dev])])
   LIBS=$axle_save_LIBS])
AC_SUBST([OPENCL_LIBS])
AM_CONDITIONAL([WITH_OPENCL], [test "x$axle_have_opencl" = xyes])
AS_IF([test "x$axle_have_opencl" = xyes],
  [AC_DEFINE([WITH_OPENCL], [1], [Whether the OpenCL backend is built.])])
])
