# SPDX-License-Identifier: Apache-2.0
#
# Every candidate for products gives the same matrices, for any size of a work-group, and what a
# trial found is remembered.
. "$top_srcdir/tests/opencl/support.sh"
takes_long
has_backend opencl || skip_all 'there is no OpenCL device'
products=$(cd "$top_builddir" && pwd)/tests/opencl/products

with()
{
    AXLE_BACKEND=opencl AXLE_FALLBACK=error AXLE_OPTIONS=$1 "$products"
}

for local in 1 7 64; do
    check "tiles in groups of $local" with "opencl.product=tiled,opencl.max_local=$local"
done
check 'tiles in groups of any size' with opencl.product=tiled
check 'an element a work-item' with opencl.product=plain
check 'blocks in vector registers' with opencl.product=vector
check 'attention, an element a work-item' env AXLE_BACKEND=opencl AXLE_FALLBACK=error \
    AXLE_OPTIONS=opencl.product=plain "$AXLE" backend-check opencl --op attention --quick
check 'CLBlast where it is installed' with opencl.product=clblast
# Not XDG_CACHE_HOME, below which PoCL has what it compiled above.
AXLE_CACHE_DIR=$work/cache
export AXLE_CACHE_DIR
check 'the fastest of two' with opencl.product=vector+tiled
check 'what a trial found is remembered' sh -c \
    'cd "$AXLE_CACHE_DIR" && before=$(ls -R) && "$@" && test "$before" = "$(ls -R)"' sh env \
    AXLE_BACKEND=opencl AXLE_OPTIONS=opencl.product=vector+tiled "$products"
check 'without trials' with opencl.product=vector+tiled,opencl.tune=0
finish
