# SPDX-License-Identifier: Apache-2.0
#
# The OpenBLAS backend opens its library when it is used, and looks at it before it uses it.
. "$top_srcdir/tests/cli/support.sh"

[ -e "$top_builddir/.libs/backends/openblas.so" ] || skip_all 'the openblas backend is not built'
wrong=$top_builddir/tests/unit/openblas/.libs/wrong.so

# with LIBRARY COMMAND...
with()
(
    AXLE_OPTIONS=openblas.library=$1
    export AXLE_OPTIONS
    shift
    "$@"
)

# trains BACKENDS: a few updates.
trains()
(
    AXLE_BACKEND=$1
    export AXLE_BACKEND
    train --max-steps 2 --json >"$work/out" && tail -n 1 "$work/out" >"$work/result.json"
)

moves_on()
{
    trains openblas,reference && [ "$("$json" "$work/result.json" backend)" = reference ]
}

# opens COMMAND...: whether the dynamic linker is asked for the library meanwhile.
opens()
{
    library=$("$AXLE" info | sed -n '/^  openblas /,$ s/^ *driver: \(.*blas.*\)/\1/p' | head -n 1)
    LD_DEBUG=files "$@" >"$work/files" 2>&1
    grep -q "file=$library .*dynamically loaded" "$work/files"
}

# A better backend is there, but probing all of them comes first.
only_looks()
{
    ! opens trains auto && [ "$("$json" "$work/result.json" backend)" != openblas ]
}

check 'the library that was found is right, and trains' trains openblas
if ! has_backend onednn; then
    skip 'choosing another backend does not open it' 'there is no better one'
elif opens trains openblas; then
    check 'choosing another backend does not open it' only_looks
else
    skip 'choosing another backend does not open it' 'the dynamic linker tells nothing'
fi
check_fails 'a library with wrong products is refused, by name' 'wrong.so computes .* instead of' \
    with "$wrong" trains openblas
check_fails 'a library that is not there is an error that names it' 'libmissing-blas.so' \
    with libmissing-blas.so trains openblas
check_fails 'a library without CBLAS is an error' 'has no cblas_sgemm' \
    with "$top_builddir/.libs/libaxle.so" trains openblas
check 'a list of backends moves on from a wrong library' with "$wrong" moves_on
finish
