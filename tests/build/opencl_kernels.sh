# SPDX-License-Identifier: Apache-2.0
#
# Kernels are OpenCL C 1.2 that needs neither double nor half: clang compiles every program that the
# backend builds, with the options that it builds it with, for devices of all classes. A mock driver
# records them while the operators' tests run on it (and fail, since it computes nothing).
. "$top_srcdir/tests/opencl/support.sh"
takes_long

clang=${CLANG:-clang}
# Options leave out code, and with it uses of arguments; a value is compared with itself to find NaN.
warnings='-Wall -Wextra -Werror -Wno-unused -Wno-unused-parameter -Wno-unused-but-set-parameter
    -Wno-tautological-compare'

# compile EXTENSIONS OPTION... FILE
compile()
{
    compile_extensions=$1
    shift
    # shellcheck disable=SC2086 # a list of options
    "$clang" -x cl -Xclang -finclude-default-header -Xclang -fdeclare-opencl-builtins -target spir64 \
        -fsyntax-only $warnings -Xclang "-cl-ext=$compile_extensions" "$@"
}

# compiles FILE...: as the options in each file's first line say. Double is there only for programs
# that were told of it, half never.
compiles()
{
    for compiles_file in "$@"; do
        compiles_options=$(head -n 1 "$compiles_file" | cut -c 3-)
        case " $compiles_options " in
        *' -DHAVE_F64 '*) compiles_extensions=+cl_khr_fp64,-cl_khr_fp16 ;;
        *) compiles_extensions=-cl_khr_fp64,-cl_khr_fp16 ;;
        esac
        # shellcheck disable=SC2086
        compile "$compiles_extensions" $compiles_options "$compiles_file" ||
            { echo "with $compiles_options"; return 1; }
    done
}

# record FOLDER DEVICE: leave the programs that operators, optimizers and training build on a device.
record()
{
    mkdir "$work/$1"
    for record_program in agreement cases golden_ops golden_optim; do
        record_program=$top_builddir/tests/conformance/$record_program
        [ ! -e "$record_program" ] || on_mock "platform Acme; $2" env MOCK_OPENCL_RECORD="$work/$1" \
            AXLE_CACHE_DIR=/dev/null/none AXLE_OPTIONS=opencl.selftest=0 AXLE_BACKEND=opencl \
            "$record_program" >"$work/record.out" 2>&1
    done
    on_mock "platform Acme; $2" env MOCK_OPENCL_RECORD="$work/$1" AXLE_CACHE_DIR=/dev/null/none \
        AXLE_OPTIONS=opencl.selftest=0 AXLE_BACKEND=opencl "$AXLE" train --model lenet --quiet --max-steps 1 \
        >"$work/record.out" 2>&1
    ls "$work/$1" >"$work/list"
    [ -s "$work/list" ]
}

names_in()
{
    sed -n 's/^__kernel void \([a-z_0-9]*\)(.*/\1/p' "$@"
}

# The kernels that a recorded program holds: that which its options name, else all.
names_built()
{
    for names_built_file in "$@"; do
        head -n 1 "$names_built_file" | grep ' -DONE_KERNEL ' | sed 's/.* -DWITH_\([a-z_0-9]*\)=1 .*/\1/' |
            grep . || names_in "$names_built_file"
    done
}

# Every kernel is in a program that was recorded.
nothing_is_missing()
{
    names_in "$top_srcdir"/backends/opencl/kernels/*.cl | sort -u >"$work/all" &&
        names_built "$work"/*/*.cl | sort -u >"$work/recorded" && [ -s "$work/all" ] &&
        comm -23 "$work/all" "$work/recorded" >"$work/missing" && cat "$work/missing" &&
        [ ! -s "$work/missing" ]
}

fails_with()
{
    printf '%s\n' "$1" >"$work/bad.cl"
    ! compile -cl_khr_fp64,-cl_khr_fp16 -cl-std=CL1.2 "$work/bad.cl" 2>"$work/bad.err" || return 1
    cat "$work/bad.err"
    grep -q "$2" "$work/bad.err"
}

echo '__kernel void f(__global float *x) { x[get_global_id(0)] = native_exp(1.0f); }' >"$work/good.cl"
compile -cl_khr_fp64,-cl_khr_fp16 -cl-std=CL1.2 "$work/good.cl" 2>/dev/null ||
    skip_all "$clang compiles no OpenCL C"

check 'the check notices a double' \
    fails_with '__kernel void f(__global double *x) { *x = 0; }' cl_khr_fp64
check 'the check notices a constant in double' \
    fails_with '__kernel void f(__global float *x) { *x = *x * 0.1; }' 'double precision constant'
devices='gpu gpu Alpha/cpu64 cpu Delta fp64'
[ "${OPENCL_TESTS-}" != full ] || devices="$devices/cpu cpu Beta/gpu64 gpu Gamma fp64"
while [ -n "$devices" ]; do
    device=${devices%%/*}
    devices=${devices#"$device"}
    devices=${devices#/}
    folder=${device%% *}
    device=${device#* }
    check "programs for a device like '$device' are built" record "$folder" "$device"
    check "the programs for '$device' are OpenCL C 1.2 without warnings" compiles "$work/$folder"/*.cl
done
check 'every kernel is in one of them' nothing_is_missing
finish
