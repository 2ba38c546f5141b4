# SPDX-License-Identifier: Apache-2.0
#
# In Oclgrind, a simulated device, kernels touch no memory that is not theirs, race with nobody and read
# nothing that was not written. A simulator is slow: make check-oclgrind takes all operators.
#
# Buffers are kept below the size from which tensors share one, so that each has bounds of its own.
# (Oclgrind also forgets which later parts of a large buffer were written.) Its check of what was
# written does not know an instruction that optimised kernels have, so they are not optimised.
. "$top_srcdir/tests/opencl/support.sh"
takes_long

command -v oclgrind >/dev/null 2>&1 || skip_all 'oclgrind is not installed'
conformance=$top_builddir/tests/conformance

in_oclgrind()
{
    rm -f "$work/log"
    env AXLE_BACKEND=opencl AXLE_FALLBACK=error AXLE_CACHE_DIR=/dev/null/none \
        AXLE_OPTIONS="opencl.selftest=0,opencl.max_alloc=1000000${options-}" \
        oclgrind --check-api --data-races --uninitialized --build-options -cl-opt-disable --max-errors 20 \
        --log "$work/log" "$@"
}

# is_clean COMMAND...: it succeeds, and Oclgrind has nothing to say.
is_clean()
{
    in_oclgrind "$@" >"$work/out" 2>&1 || { grep -v '^ok' "$work/out"; head -n 40 "$work/log"; return 1; }
    [ ! -s "$work/log" ] || { head -n 60 "$work/log"; return 1; }
}

is_there()
{
    in_oclgrind "$conformance/golden_ops" interpolate >"$work/out" 2>&1 && grep -q '^# on opencl' "$work/out"
}

is_there || { diagnose "$work/out"; skip_all 'oclgrind does not run here'; }
families='unary binary select reduce arg_reduce matmul softmax loss norm index shape conv pool interpolate'
families="$families attention"
part=1/1
if [ "${OPENCL_TESTS-}" != full ]; then
    families='softmax pool matmul index'
    part=1/2
fi
for family in $families; do
    check "golden vectors of $family are clean" is_clean "$conformance/golden_ops" "$family" "$part"
done

# The kernels of products do not take the golden vectors' small ones.
is_clean_in_comparison()
{
    if [ -e "$conformance/agreement" ]; then
        check "$1: the comparison with the reference is clean" is_clean "$conformance/agreement" "$2"
    else
        skip "$1: the comparison with the reference is clean" 'built without cmocka'
    fi
}

# Two threads are too many for Oclgrind, whatever they do.
cases_of_one_thread()
{
    AXLE_BACKEND=reference "$conformance/cases" | sed -n 's/^ok [0-9]* - //p' | grep -v '^threads '
}

# The names have blanks, so they are separated by lines.
cases_are_clean()
(
    IFS='
'
    set -f
    # shellcheck disable=SC2046 # a list of names
    set -- $(cases_of_one_thread)
    unset IFS
    [ $# -gt 10 ] && is_clean "$conformance/cases" "$@"
)

if [ "${OPENCL_TESTS-}" = full ]; then
    check 'optimizers are clean' is_clean "$conformance/golden_optim"
    check 'field cases are clean' cases_are_clean
    options=,opencl.max_local=7
    check 'so they are in groups of seven' cases_are_clean
    options=
    parts=20
    for k in $(seq $parts); do
        is_clean_in_comparison "part $k of $parts" "$k/$parts"
    done
else
    is_clean_in_comparison 'a product' 'matmul, odd'
    is_clean_in_comparison 'a convolution' 'conv_transpose, many'
fi
finish
