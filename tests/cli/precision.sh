# SPDX-License-Identifier: Apache-2.0
#
# LeNet in bf16 and fp16: backends agree with the reference, need no help from the host, and learn what f32 learns.
. "$top_srcdir/tests/cli/support.sh"
takes_long

# Several threads of OpenMP that share cores with other tests wait for each other most of the time.
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
updates=40
[ "$sanitizer" = no ] || updates=5
data=/usr/share/datasets/fashion-mnist
if [ -d "$data" ] && "$AXLE" info | grep -q '^ *zlib *yes'; then
    set -- --data "$data"
else
    set --
fi

# lenet BACKEND PRECISION OPTION...: its result to $work/result.json.
lenet()
{
    lenet_backend=$1
    lenet_precision=$2
    shift 2
    AXLE_BACKEND=$lenet_backend "$AXLE" train --model lenet --lr 1e-3 --seed 1 --precision "$lenet_precision" --json --quiet \
        "$@" >"$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
    tail -n 1 "$work/out" >"$work/result.json"
}

# Ten updates alike; after 40 the choice of max-pooling between nearly equal pixels has had its part.
agrees()
{
    agrees_on=$1
    agrees_precision=$2
    agrees_limit=$3
    shift 3
    AXLE_FALLBACK=error lenet "$agrees_on" "$agrees_precision" --batch-size 32 --max-steps "$updates" --no-eval --loss-log "$work/got" "$@" ||
        return 1
    paste -d ' ' "$work/expected.$agrees_precision" "$work/got" | awk -v limit="$agrees_limit" -v updates="$updates" '
        NF != 4 || $1 != $3 { print; bad = 1 }
        { d = $2 - $4; d = d < 0 ? -d : d; if (!(d <= (NR <= 10 ? 1e-4 : limit))) { print; bad = 1 } }
        END { exit bad || NR != updates }'
}

for precision in bf16 fp16; do
    check "the reference trains in $precision" lenet reference "$precision" --batch-size 32 --max-steps "$updates" --no-eval \
        --loss-log "$work/expected.$precision" "$@"
    for backend in onednn opencl; do
        if ! has_backend "$backend"; then
            skip "$backend agrees in $precision" 'it does not work here'
        elif [ "$precision" = bf16 ]; then
            check "$backend agrees in bf16 to 2e-2, without fallbacks" agrees "$backend" bf16 2e-2 "$@"
        else
            check "$backend agrees in fp16 to 5e-3, without fallbacks" agrees "$backend" fp16 5e-3 "$@"
        fi
    done
done

halves_differ_from_f32()
{
    lenet reference no --batch-size 32 --max-steps "$updates" --no-eval --loss-log "$work/f32" "$@" &&
        ! cmp -s "$work/f32" "$work/expected.bf16" && ! cmp -s "$work/f32" "$work/expected.fp16"
}
check 'and differs from f32' halves_differ_from_f32 "$@"

# learns PRECISION: to two points of f32, which comes first; a whole epoch differs by less.
learns()
{
    learns_precision=$1
    shift
    lenet onednn "$learns_precision" --max-steps 150 "$@" &&
        "$json" "$work/result.json" eval_accuracy >"$work/accuracy.$learns_precision" &&
        awk -v a="$(cat "$work/accuracy.no")" -v b="$(cat "$work/accuracy.$learns_precision")" 'BEGIN {
            print a, b
            exit !(a > 0.5 && b >= a - 0.02)
        }'
}
if [ $# -eq 0 ]; then
    skip 'bf16 and fp16 learn what f32 learns' 'Fashion-MNIST is not there'
elif ! has_backend onednn; then
    skip 'bf16 and fp16 learn what f32 learns' 'there is no oneDNN'
else
    for precision in no bf16 fp16; do
        check "150 updates in precision $precision learn what those in f32 do" learns "$precision" "$@"
    done
fi

exits 'an unknown precision is told with those there are' 2 "no.*bf16.*fp16" "$AXLE" train --precision fp8
finish
