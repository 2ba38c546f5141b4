# SPDX-License-Identifier: Apache-2.0
#
# The table at the end of configure, which the program repeats at run time.

# AXLE_SUMMARY(LABEL, SHELL-VALUE)
# --------------------------------
# Add a row to the table.
AC_DEFUN([AXLE_SUMMARY],
[axle_value="$2"
axle_summary="$axle_summary`printf '  %-16s %s' '$1:' "$axle_value"`
"
axle_build_options="$axle_build_options X(\"$1\", \"`AS_ECHO(["$axle_value"]) | sed 's/[[\\\\"]]/\\\\&/g'`\")"
])

# AXLE_SUMMARY_DEFINE
# -------------------
# Store the rows so far in config.h, as a list for a macro X(label, value).
AC_DEFUN([AXLE_SUMMARY_DEFINE],
[AC_DEFINE_UNQUOTED([AXLE_BUILD_OPTIONS(X)], [$axle_build_options],
  [How this build was configured: X(label, value) for each row of configure's summary.])
])

# AXLE_SUMMARY_PRINT
# ------------------
AC_DEFUN([AXLE_SUMMARY_PRINT],
[AS_ECHO(["
$PACKAGE_NAME $PACKAGE_VERSION
$axle_summary"])
])
