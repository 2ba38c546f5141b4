# SPDX-License-Identifier: Apache-2.0
#
# on_backend BACKEND PROGRAM [ARGUMENT...]: become a program of this folder, on a backend. Skips
# visibly what was not built, and what finds no device.
on_backend()
{
    if [ "$1" != reference ] && [ ! -e "$top_builddir/.libs/backends/$1.so" ]; then
        echo "1..0 # SKIP the $1 backend is not built"
        exit 0
    fi
    if [ "$1" = opencl ] && [ "${LONG_TESTS-}" = no ]; then
        echo '1..0 # SKIP LONG_TESTS=no leaves the long ones out'
        exit 0
    fi
    if [ "$1" = opencl ] && ! "$AXLE" info | grep -q '^  opencl .*opencl\.so$'; then
        echo '1..0 # SKIP there is no OpenCL device'
        exit 0
    fi
    if [ ! -e "$top_builddir/tests/conformance/$2" ]; then
        echo "1..0 # SKIP $2 is not built without cmocka"
        exit 0
    fi
    # For binaries PoCL compiles all kernels once more, and these programs build hundreds. They are the
    # same kernels; that binaries work, training and tests/opencl show. PoCL's own cache stays.
    if [ "$1" = opencl ]; then
        AXLE_CACHE_DIR=/dev/null/none
        export AXLE_CACHE_DIR
    fi
    AXLE_BACKEND=$1
    export AXLE_BACKEND
    on_backend_program=$top_builddir/tests/conformance/$2
    shift 2
    exec "$on_backend_program" "$@"
}
