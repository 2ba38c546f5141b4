# SPDX-License-Identifier: Apache-2.0
#
# LeNet on each driver that is installed gives the losses of the reference backend, dropout included.
# Mesa's rusticl compiles slowly and is opt-in for its users; here, too: OPENCL_TESTS=full, or where
# RUSTICL_ENABLE is set.
. "$top_srcdir/tests/opencl/support.sh"
takes_long

data=/usr/share/datasets/fashion-mnist
if [ -d "$data" ] && "$AXLE" info | grep -q '^ *zlib *yes'; then
    set -- --data "$data"
else
    set --
fi

# log_on BACKEND LOG OPTION...
log_on()
(
    AXLE_BACKEND=$1
    AXLE_FALLBACK=error
    export AXLE_BACKEND AXLE_FALLBACK
    log_file=$2
    shift 2
    rm -f "$log_file"
    "$AXLE" train --task image --model lenet --batch-size 64 --lr 1e-3 --seed 1 --dropout 0.1 --no-eval --quiet \
        --loss-log "$log_file" "$@"
)

# agrees TOLERANCE REFERENCE UPDATES OPTION...
agrees()
{
    agrees_tolerance=$1
    agrees_with=$2
    agrees_updates=$3
    shift 3
    log_on opencl "$work/log" --max-steps "$agrees_updates" "$@" && paste -d ' ' "$agrees_with" "$work/log" |
        awk -v tolerance="$agrees_tolerance" -v updates="$agrees_updates" '
            NF != 4 || $1 != $3 { print; bad = 1 }
            { d = $2 - $4; d = d < 0 ? -d : d; if (!(d <= tolerance * $2)) { print; bad = 1 } }
            END { exit bad || NR != updates }'
}

has_f64()
{
    opencl_info devices 0 dtypes | grep -q '"f64"'
}

# What is found under a platform of this name; its .icd file is the only one that the loader sees.
driver()
{
    OCL_ICD_VENDORS=$1
    export OCL_ICD_VENDORS
    [ -e "/etc/OpenCL/vendors/$1" ] && has_backend opencl
}

check 'the reference backend trains' log_on reference "$work/f32" --max-steps 40 "$@"
if (driver pocl.icd); then
    driver pocl.icd
    check 'on PoCL the losses agree to 1e-5 over 40 updates' agrees 1e-5 "$work/f32" 40 "$@"
    updates=20
    [ "${OPENCL_TESTS-}" != full ] || updates=100
    if has_f64; then
        log_on reference "$work/f64" --dtype f64 --max-steps "$updates" "$@" >"$work/out" 2>&1
        check "in f64 they agree to 1e-9 over $updates updates" agrees 1e-9 "$work/f64" "$updates" --dtype f64 "$@"
    else
        skip 'in f64 they agree to 1e-9' 'the device has no f64'
    fi
else
    skip 'on PoCL the losses agree to 1e-5 over 40 updates' 'PoCL is not installed'
fi
if [ "${OPENCL_TESTS-}" != full ] && [ -z "${RUSTICL_ENABLE-}" ]; then
    skip 'on rusticl the losses agree to 1e-5 over 40 updates' 'it is slow to compile: make check-opencl'
elif RUSTICL_ENABLE=${RUSTICL_ENABLE:-llvmpipe} && export RUSTICL_ENABLE && driver rusticl.icd; then
    check 'on rusticl the losses agree to 1e-5 over 40 updates' agrees 1e-5 "$work/f32" 40 "$@"
else
    skip 'on rusticl the losses agree to 1e-5 over 40 updates' 'it is not installed or has no device'
fi
finish
