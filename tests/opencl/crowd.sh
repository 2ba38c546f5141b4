# SPDX-License-Identifier: Apache-2.0
#
# Eight processes at once on empty caches, the driver's included: kernels that differ in one -D compute
# what each should, and training starts. OPENCL_TESTS=full takes fifty such kernels, a larger model, and the
# kernels that are slow to build.
. "$top_srcdir/tests/opencl/support.sh"
takes_long
has_backend opencl || skip_all 'there is no OpenCL device'

variants=$top_builddir/tests/opencl/variants
count=5
model=mlp
AXLE_OPTIONS=opencl.selftest=0,opencl.product=plain
export AXLE_OPTIONS
if [ "${OPENCL_TESTS-}" = full ]; then
    count=$("$variants" 0 0)
    model=lenet
    unset AXLE_OPTIONS
fi

empty_caches()
{
    rm -rf "$work/caches"
    mkdir -p "$work/caches/axle" "$work/caches/pocl" "$work/caches/mesa"
    XDG_CACHE_HOME=$work/caches/axle
    POCL_CACHE_DIR=$work/caches/pocl
    MESA_SHADER_CACHE_DIR=$work/caches/mesa
    AXLE_BACKEND=opencl
    AXLE_FALLBACK=error
    export XDG_CACHE_HOME POCL_CACHE_DIR MESA_SHADER_CACHE_DIR AXLE_BACKEND AXLE_FALLBACK
}

# together COMMAND...: eight of it at once; each succeeds.
together()
{
    together_pids=
    together_failed=0
    for k in 0 1 2 3 4 5 6 7; do
        "$@" >"$work/out.$k" 2>&1 &
        together_pids="$together_pids $!"
    done
    k=0
    for pid in $together_pids; do
        wait "$pid" || { echo "process $k exits with $?:"; cat "$work/out.$k"; together_failed=1; }
        k=$((k + 1))
    done
    return $together_failed
}

halve_all()
{
    find "$work/caches/axle" -name '*.blob' >"$work/list" && [ -s "$work/list" ] || return 1
    while read -r entry; do
        head -c $(($(wc -c <"$entry") / 2)) "$entry" >"$entry.half" && mv "$entry.half" "$entry" || return 1
    done <"$work/list"
}

empty_caches
check "eight processes build $count kernels that differ in one -D, and get their own" together "$variants" 0 "$count"
check 'every entry of the cache can be cut to half' halve_all
check 'after that the results are still right' "$variants" 0 "$count"
empty_caches
check 'eight trainings at once on an empty cache succeed' together "$AXLE" train --task image --model "$model" \
    --batch-size 8 --max-steps 2 --no-eval --quiet
finish
