# SPDX-License-Identifier: Apache-2.0
#
# The same training on every backend: on Fashion-MNIST where it is installed and can be unpacked, else
# on synthetic pictures.
. "$top_srcdir/tests/cli/support.sh"
takes_long

# Sanitizers make each update many times slower, and find nothing new in the fortieth.
updates=40
updates_f64=100
[ "$sanitizer" = no ] || { updates=10; updates_f64=10; }
data=/usr/share/datasets/fashion-mnist
if [ -d "$data" ] && "$AXLE" info | grep -q '^ *zlib *yes'; then
    set -- --data "$data"
else
    set --
fi

# log_on BACKEND LOG OPTION...: the first updates of LeNet.
log_on()
{
    log_backend=$1
    log_file=$2
    shift 2
    AXLE_BACKEND=$log_backend "$AXLE" train --task image --model lenet --batch-size 64 --lr 1e-3 --seed 1 \
        --no-eval --json --loss-log "$log_file" "$@" >"$work/out" 2>"$work/err" ||
        { cat "$work/err"; return 1; }
}

agrees()
{
    agrees_backend=$1
    shift
    log_on "$agrees_backend" "$work/other" "$@" && paste -d ' ' "$work/reference" "$work/other" | awk -v updates="$updates" '
        NF != 4 || $1 != NR || $3 != NR { print; bad = 1 }
        { d = $2 - $4; d = d < 0 ? -d : d; if (d > 1e-5 * $2) { print; bad = 1 } }
        END { exit bad || NR != updates }'
}

# agrees_up_to LIMIT UPDATES BACKEND OPTION...: relative to the reference, with dropout.
agrees_up_to()
{
    limit=$1
    updates=$2
    limit_backend=$3
    shift 3
    set -- --dropout 0.1 --max-steps "$updates" "$@"
    log_on reference "$work/expected" "$@" && log_on "$limit_backend" "$work/got" "$@" &&
        paste -d ' ' "$work/expected" "$work/got" | awk -v limit="$limit" -v updates="$updates" '
            NF != 4 || $1 != $3 { print; bad = 1 }
            { d = $2 - $4; d = d < 0 ? -d : d; if (!(d <= limit * $2)) { print; bad = 1 } }
            END { exit bad || NR != updates }'
}

repeats()
{
    repeats_backend=$1
    shift
    log_on "$repeats_backend" "$work/again" "$@" && cmp "$work/again" "$work/other"
}

# What the OpenBLAS backend does not do itself is the host's by design.
needs_no_fallback()
{
    tail -n 1 "$work/out" >"$work/result.json" && [ "$("$json" "$work/result.json" fallbacks)" = 0 ]
}

learns()
{
    awk 'NR == 1 { first = $2 } { last = $2 } END { exit !(last < 0.9 * first) }' "$work/reference"
}

in_f64()
{
    log_on reference "$work/f64" --dtype f64 --max-steps 5 "$@" && paste -d ' ' "$work/reference" "$work/f64" |
        awk 'NF == 4 { d = $2 - $4; d = d < 0 ? -d : d; if (d > 1e-4 * $2) bad = 1; n++ }
            END { exit bad || n != 5 }'
}

check 'LeNet trains on the reference backend' log_on reference "$work/reference" --max-steps "$updates" "$@"
if [ "$updates" -eq 40 ]; then
    check 'its loss falls' learns
fi
check 'in f64 it has the same losses up to rounding' in_f64 "$@"
for name in $(backends); do
    [ "$name" != reference ] || continue
    check "the losses of $name agree with reference to 1e-5 over $updates updates" agrees "$name" --max-steps "$updates" "$@"
    [ "$name" = openblas ] || check "$name runs LeNet without fallback" needs_no_fallback
    check "a second run on $name gives a byte-identical log" repeats "$name" --max-steps "$updates" "$@"
done
has_backend onednn || skip 'onednn trains LeNet' 'it was not built'
if has_backend openblas; then
    check 'openblas agrees to 1e-5 with dropout, too' agrees_up_to 1e-5 "$updates" openblas "$@"
    check "and to 1e-9 over $updates_f64 updates in f64" agrees_up_to 1e-9 "$updates_f64" openblas --dtype f64 "$@"
else
    skip 'openblas trains LeNet' 'it was not built'
fi
finish
