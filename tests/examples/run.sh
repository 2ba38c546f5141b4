# SPDX-License-Identifier: Apache-2.0
#
# The examples run to their end on every backend that was built.
. "$top_srcdir/tests/tap.sh"

examples=$top_builddir/examples

# on BACKEND EXAMPLE ARGUMENT...
on()
{
    AXLE_BACKEND=$1
    export AXLE_BACKEND
    shift
    example=$1
    shift
    "$examples/$example" "$@"
}

run_all()
{
    check "the tensor tour runs on $1" on "$1" 01_tensor
    check "linear regression runs on $1" on "$1" 02_linear_regression
    # That folder holds no pictures, so the synthetic ones are taken, which are fewer.
    check "ten updates of fashion_mnist run on $1" on "$1" fashion_mnist 10 "$work/none"
    check "five updates of the GAN run on $1" on "$1" gan 5 "$work/none"
}

run_all reference
for path in "$top_builddir"/.libs/backends/*.so; do
    [ ! -e "$path" ] || run_all "$(basename "$path" .so)"
done
finish
