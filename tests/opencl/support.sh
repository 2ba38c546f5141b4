# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the OpenCL backend share. Sources tests/cli/support.sh and skips where the backend
# is not built.
. "$top_srcdir/tests/cli/support.sh"

opencl=$top_builddir/.libs/backends/opencl.so
[ -e "$opencl" ] || skip_all 'the opencl backend is not built'
mock=$top_builddir/tests/opencl/.libs/mock_icd.so

# Both loaders' names for the folder of .icd files.
vendors()
{
    OCL_ICD_VENDORS=$1
    OPENCL_VENDOR_PATH=$1
    export OCL_ICD_VENDORS OPENCL_VENDOR_PATH
}

mkdir "$work/mock" "$work/empty"
echo "$mock" >"$work/mock/mock.icd"

# on_mock DESCRIPTION COMMAND...: with the devices that mock_icd.h describes and no others.
on_mock()
(
    MOCK_OPENCL=$1
    export MOCK_OPENCL
    shift
    vendors "$work/mock"
    "$@"
)

# in_vendors FOLDER COMMAND...
in_vendors()
(
    vendors "$1"
    shift
    "$@"
)

# opencl_info KEY...: members of what axle info says about the backend; see tests/cli/json.c.
opencl_info()
{
    "$AXLE" info --json >"$work/info.json" || return 1
    opencl_index=$("$json" "$work/info.json" backends '*' name | awk '$1 == "opencl" { print NR - 1 }')
    "$json" "$work/info.json" backends "$opencl_index" "$@"
}

# The names of the backend's devices, in order, on one line.
device_names()
{
    opencl_info devices '*' name | paste -s -d ' '
}
