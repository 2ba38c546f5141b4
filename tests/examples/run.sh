# SPDX-License-Identifier: Apache-2.0
#
# The examples run to their end on every backend that was built.
. "$top_srcdir/tests/tap.sh"

examples=$top_builddir/examples
# Sanitizers make each update many times slower.
updates=10
gan_updates=5
[ "$sanitizer" = no ] || { updates=2; gan_updates=1; }

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
    check "$updates updates of fashion_mnist run on $1" on "$1" fashion_mnist "$updates" "$work/none"
    check "$gan_updates updates of the GAN run on $1" on "$1" gan "$gan_updates" "$work/none"
}

# Two processes, two batches an update: losses of each update, and pictures at the end.
gan_records()
{
    AXLE_BACKEND=reference AXLE_ACCUMULATE=2 "$AXLE" launch -n 2 "$examples/gan" 3 "$work/none" \
        "$work/gan" >"$work/gan.out" 2>&1 || { cat "$work/gan.out"; return 1; }
    [ "$(grep -c '"discriminator": [0-9].*"generator": [0-9]' "$work/gan/metrics.jsonl")" -eq 3 ] &&
        [ "$(wc -l <"$work/gan/metrics.jsonl")" -eq 3 ] || return 1
    ! "$AXLE" info | grep -q 'libpng *yes' || [ -s "$work/gan/images/samples/00000003.png" ]
}

run_all reference
for path in "$top_builddir"/.libs/backends/*.so; do
    [ ! -e "$path" ] || run_all "$(basename "$path" .so)"
done
name='the GAN records losses and pictures of two processes that accumulate'
if [ -f "$top_builddir/collectives/gloo/.libs/gloo.so" ] && [ "$sanitizer" = no ]; then
    check "$name" gan_records
else
    skip "$name" 'processes cannot meet in this build'
fi
finish
