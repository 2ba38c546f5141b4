# SPDX-License-Identifier: Apache-2.0
#
# axle estimate-memory: beside what training takes.
. "$top_srcdir/tests/cli/support.sh"

idx_folder "$work/data" 64 8

AXLE_BACKEND=${AXLE_BACKEND:-reference}
export AXLE_BACKEND

# of KEY: in the last report.
of()
{
    "$json" "$work/estimate.json" estimates 0 "$1"
}

# agrees MODEL BATCH PRECISION OPTION...: within 15 % of the allocator's peak in training.
agrees()
{
    agrees_model=$1
    agrees_batch=$2
    agrees_precision=$3
    shift 3
    "$AXLE" estimate-memory "$agrees_model" --height 8 --width 8 --json --batch-size "$agrees_batch" \
        --precision "$agrees_precision" "$@" >"$work/estimate.json" || return 1
    "$AXLE" train --quiet --json --no-eval --data "$work/data" --max-steps 2 --epochs 2 --model "$agrees_model" \
        --batch-size "$agrees_batch" --precision "$(echo "$agrees_precision" | sed s/f32/no/)" "$@" >"$work/train.out" ||
        return 1
    tail -n 1 "$work/train.out" >"$work/train.json"
    agrees_real=$("$json" "$work/train.json" device_peak_bytes) || return 1
    echo "$agrees_model $agrees_batch $agrees_precision: estimated $(of total_bytes), measured $agrees_real"
    awk -v estimated="$(of total_bytes)" -v real="$agrees_real" 'BEGIN {
        d = estimated - real; exit !(estimated > 0 && (d < 0 ? -d : d) <= 0.15 * real) }'
}

for model in mlp lenet; do
    for batch in 16 64; do
        check "$model in batches of $batch agrees with training" agrees $model $batch f32
    done
done
check 'lenet in bf16 agrees with training' agrees lenet 64 bf16
check 'lenet with sgd and momentum agrees with training' agrees lenet 64 f32 --optimizer sgd --momentum 0.9
check 'lenet that is computed again agrees with training' agrees lenet 64 f32 --grad-checkpoint
# It would take minutes with a sanitizer.
if [ "$sanitizer" = no ]; then
    for batch in 4 16; do
        check "resnet18 in batches of $batch agrees with training" agrees resnet18 $batch f32
    done
fi

# 64 x 32 + 32 + 32 x 10 + 10 parameters of 4 bytes; two moments of adam, one of sgd with momentum, in arenas of
# multiples of 16 elements, by which moments are rounded up.
counts()
{
    "$AXLE" estimate-memory mlp --height 8 --width 8 --json --precision f32 >"$work/estimate.json" || return 1
    [ "$("$json" "$work/estimate.json" parameters)" = 2410 ] && [ "$(of parameters_bytes)" = 9640 ] &&
        [ "$(of gradients_bytes)" = 9640 ] && [ "$(of buffers_bytes)" = 0 ] || return 1
    awk -v moments="$(of moments_bytes)" 'BEGIN { exit !(moments >= 19280 && moments < 19280 * 1.15) }' || return 1
    "$AXLE" estimate-memory mlp --height 8 --width 8 --json --optimizer sgd --precision f32 >"$work/estimate.json" &&
        awk -v moments="$(of moments_bytes)" 'BEGIN { exit !(moments < 9640 * 0.15) }'
}

shares()
{
    "$AXLE" estimate-memory lenet --json --precision f32 >"$work/estimate.json" || return 1
    shares_whole=$(of moments_bytes)
    "$AXLE" estimate-memory lenet --json --precision f32 --processes 4 >"$work/estimate.json" || return 1
    [ "$(of moments_bytes)" = "$shares_whole" ] || return 1
    "$AXLE" estimate-memory lenet --json --precision f32 --processes 4 --shard-optimizer >"$work/estimate.json" || return 1
    [ "$(of moments_bytes)" = $(((shares_whole + 3) / 4)) ]
}

# A batch whose activations take more than there is.
scales()
{
    AXLE_MEMORY_LIMIT=64 "$AXLE" estimate-memory lenet --json --precision f32 --batch-size 4096 >"$work/estimate.json" ||
        return 1
    [ "$(of measured_batch_size)" -lt 4096 ] || return 1
    scales_scaled=$(of total_bytes)
    "$AXLE" estimate-memory lenet --json --precision f32 --batch-size 4096 >"$work/estimate.json" || return 1
    awk -v a="$scales_scaled" -v b="$(of total_bytes)" 'BEGIN { exit !(a > 0.85 * b && a < 1.15 * b) }' ||
        { echo "$scales_scaled, not $(of total_bytes)"; return 1; }
}

tells()
{
    "$AXLE" estimate-memory lenet >"$work/out" && grep -q '^lenet, 105194 parameters, batches of 64, adam' "$work/out" &&
        grep -q '^ *f32 *bf16 *fp16$' "$work/out" && [ "$(grep -c '^[a-z].* [0-9]*\.[0-9][0-9]$' "$work/out")" -eq 7 ]
}

check 'parameters, gradients and moments are counted' counts
check 'a shared-out optimizer has a part of the moments a process' shares
check 'a batch that does not fit is scaled from one that does' scales
check 'without --json it is a table with a column a precision' tells
exits 'an unknown model is wrong usage' 2 'lenet' "$AXLE" estimate-memory alexnet
exits 'a model is needed' 2 'MODEL' "$AXLE" estimate-memory
finish
