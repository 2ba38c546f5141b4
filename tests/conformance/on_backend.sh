# SPDX-License-Identifier: Apache-2.0
#
# on_backend BACKEND PROGRAM: become a program of this folder, on a backend. Skips visibly what was
# not built.
on_backend()
{
    if [ "$1" != reference ] && [ ! -e "$top_builddir/.libs/backends/$1.so" ]; then
        echo "1..0 # SKIP the $1 backend is not built"
        exit 0
    fi
    if [ ! -e "$top_builddir/tests/conformance/$2" ]; then
        echo "1..0 # SKIP $2 is not built without cmocka"
        exit 0
    fi
    AXLE_BACKEND=$1
    export AXLE_BACKEND
    exec "$top_builddir/tests/conformance/$2"
}
