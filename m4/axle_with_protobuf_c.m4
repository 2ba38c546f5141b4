# SPDX-License-Identifier: Apache-2.0

# AXLE_WITH_PROTOBUF_C
# --------------------
# The library that event files of TensorBoard are written with, and its compiler. Sets PROTOC_C and
# PROTOBUF_C_LIBS; makes the conditional WITH_PROTOBUF_C.
AC_DEFUN([AXLE_WITH_PROTOBUF_C],
[AXLE_WITH_PKG([protobuf-c], [PROTOBUF_C], [libprotobuf-c >= 1.3], [write event files of TensorBoard],
  [libprotobuf-c-dev])
AC_CHECK_PROGS([PROTOC_C], [protoc-c], [no])
AS_IF([test "x$axle_have_protobuf_c:$PROTOC_C" = xyes:no],
  [AXLE_WITH_MISSING([protobuf-c], [there is no protoc-c], [protobuf-c-compiler])])
AS_IF([test "x$axle_have_protobuf_c" = xyes],
  [AC_DEFINE([WITH_PROTOBUF_C], [1], [Whether event files of TensorBoard can be written.])])
AM_CONDITIONAL([WITH_PROTOBUF_C], [test "x$axle_have_protobuf_c" = xyes])
])
