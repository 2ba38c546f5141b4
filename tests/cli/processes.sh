# SPDX-License-Identifier: Apache-2.0
#
# axle launch and axle train: several processes train to the numbers of one.
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

[ -f "$top_builddir/collectives/gloo/.libs/gloo.so" ] || skip_all 'the Gloo transport was not built'
[ "$sanitizer" != thread ] || skip_all 'ThreadSanitizer does not see how Gloo synchronises'

AXLE_TIMEOUT=60
export AXLE_TIMEOUT
pictures=/usr/share/datasets/fashion-mnist
if [ -d "$pictures" ] && "$AXLE" info | grep -q '^ *zlib *yes'; then
    data="--data $pictures"
else
    data=
fi
updates=40
[ "$sanitizer" = no ] || updates=5
fast=reference
! has_backend onednn || fast=onednn

# run NAME PROCESSES BACKENDS OPTION...: train; the loss log is NAME.log, the report NAME.json.
run()
{
    run_name=$work/$1
    run_processes=$2
    run_backends=$3
    shift 3
    timeout -k 5 300 "$AXLE" launch --quiet -n "$run_processes" --backend "$run_backends" --threads 1 \
        "$AXLE" train --quiet --json --no-eval --loss-log "$run_name.log" "$@" >"$run_name.out" 2>"$run_name.err" ||
        { cat "$run_name.out" "$run_name.err"; return 1; }
    tail -n 1 "$run_name.out" >"$run_name.json"
}

# close FILE FILE LINES RELATIVE: whether two logs of so many lines agree.
close()
{
    paste -d ' ' "$1" "$2" | awk -v lines="$3" -v most="$4" '
        NF != 4 || $1 != $3 { print; bad = 1 }
        { d = $2 - $4; d = d < 0 ? -d : d; if (d > most * ($4 < 0 ? -$4 : $4)) { print; bad = 1 } }
        END { if (NR != lines) { print NR " lines"; bad = 1 } exit bad }'
}

# The processes of run NAME end with the same bits.
ends_equal()
{
    [ "$("$json" "$work/$1.json" parameters_equal)" = true ] &&
        [ "$("$json" "$work/$1.json" processes)" = "$2" ] || { cat "$work/$1.json"; return 1; }
}

# as_one NAME PROCESSES BACKENDS LINES RELATIVE OPTION...: it trains like the run `one`.
as_one()
{
    as_name=$1
    as_processes=$2
    as_lines=$4
    as_relative=$5
    as_backends=$3
    shift 5
    run "$as_name" "$as_processes" "$as_backends" "$@" && ends_equal "$as_name" "$as_processes" &&
        close "$work/$as_name.log" "$work/one.log" "$as_lines" "$as_relative"
}

# ------------------------------------------------------------------ f32

# shellcheck disable=SC2086 # words
lenet()
{
    "$@" $data --model lenet --dropout 0.1 --seed 1 --max-steps $updates
}

check "lenet on $fast, one process of 64 samples" lenet run one 1 "$fast" --batch-size 64
check 'two processes of 32 have its losses' lenet as_one two 2 "$fast" "$updates" 1e-5 --batch-size 32
check 'four processes of 16 have its losses' lenet as_one four 4 "$fast" "$updates" 1e-5 --batch-size 16
check 'two processes of 16, two batches an update, have its losses' \
    lenet as_one windows 2 "$fast" "$updates" 1e-5 --batch-size 16 --accumulate 2
if [ "$fast" = onednn ]; then
    check 'processes on onednn and on reference have its losses' \
        lenet as_one mixed 2 onednn,reference "$updates" 1e-5 --batch-size 32
else
    skip 'processes on onednn and on reference have its losses' 'there is no onednn backend'
fi

if has_backend opencl; then
    check "processes on $fast and on opencl have its losses" \
        lenet as_one opencl 2 "$fast,opencl" "$updates" 1e-5 --batch-size 32
else
    skip "processes on $fast and on opencl have its losses" 'there is no opencl backend'
fi

# ------------------------------------------------------------------ f64

# 67 samples divide by nothing: 5 updates an epoch of 16, the last of 3.
idx_folder "$work/data" 67 8

exact()
{
    "$@" --data "$work/data" --dtype f64 --dropout 0.1 --seed 1 --epochs 20
}

check 'mlp in f64 on reference, one process of 16 samples' exact run one 1 reference --model mlp --batch-size 16
for number in 2 4; do
    check "$number processes have its losses over 100 updates, to 1e-10" \
        exact as_one "f64-$number" "$number" reference 100 1e-10 --model mlp --batch-size $((16 / number))
done
check 'mlp in f64, one process of 15 samples' exact run one 1 reference --model mlp --batch-size 15
check 'three processes have its losses' exact as_one f64-3 3 reference 100 1e-10 --model mlp --batch-size 5

# Pictures of LeNet's size: 67 that divide by nothing, then 64.
exact_updates=100
[ "$sanitizer" = no ] || exact_updates=5
for pictures in 67 64; do
    idx_folder "$work/data" "$pictures" 28
    check "lenet in f64 on reference, $pictures pictures, one process of 8" \
        exact run one 1 reference --model lenet --batch-size 8 --max-steps "$exact_updates"
    for number in 2 4; do
        check "$number processes have its losses over 100 updates, to 1e-10" \
            exact as_one "lenet-$number" "$number" reference "$exact_updates" 1e-10 --model lenet \
            --batch-size $((8 / number)) --max-steps "$exact_updates"
    done
done
idx_folder "$work/data" 67 8

# ------------------------------------------------------------------ losses of another kind

# Rank 1 is killed in the middle of training: the launcher ends within seconds, and names it.
killed_in_training()
{
    cat >"$work/doomed" <<'END'
#!/bin/sh
[ "$RANK" -ne 1 ] || { sleep 2; kill -9 "$$"; } &
exec "$@"
END
    chmod +x "$work/doomed"
    began=$(date +%s)
    timeout -k 5 60 "$AXLE" launch -n 3 --backend reference --threads 1 "$work/doomed" \
        "$AXLE" train --quiet --model mlp --epochs 100000 --no-eval >"$work/out" 2>&1
    got=$?
    took=$(($(date +%s) - began))
    [ "$got" -eq 137 ] && [ "$took" -lt 30 ] && grep -q 'rank 1 .*killed by signal 9' "$work/out" ||
        { echo "exit $got after $took s"; cat "$work/out"; return 1; }
}

# Without a launcher that ends them, the others end by themselves, and say whom they lost.
survivors_end()
{
    cat >"$work/alone" <<'END'
#!/bin/sh
[ "$RANK" -ne 1 ] || { sleep 2; kill -9 "$$"; } &
exec "$@" >"$WORK/survivor.$RANK" 2>&1
END
    chmod +x "$work/alone"
    port=$(($$ % 20000 + 20000))
    for rank in 0 1 2; do
        env RANK="$rank" WORLD_SIZE=3 LOCAL_RANK="$rank" LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 \
            MASTER_PORT="$port" AXLE_BACKEND=reference WORK="$work" timeout -k 5 60 "$work/alone" \
            "$AXLE" train --quiet --model mlp --epochs 100000 --no-eval &
        eval "process_$rank=\$!"
    done
    for rank in 0 1 2; do
        eval "wait \$process_$rank"
        eval "code_$rank=\$?"
    done
    # shellcheck disable=SC2154 # set by eval
    [ "$code_1" -eq 137 ] && [ "$code_0" -gt 0 ] && [ "$code_0" -lt 124 ] && [ "$code_2" -gt 0 ] &&
        [ "$code_2" -lt 124 ] && grep -q 'rank 1 ' "$work/survivor.0" && grep -q 'rank 1 ' "$work/survivor.2" ||
        { echo "exits $code_0 $code_1 $code_2"; cat "$work"/survivor.*; return 1; }
}

check 'a rank killed in training: the launcher exits with its code and names it' killed_in_training
check 'a rank killed in training: the others fail by themselves and name it' survivors_end

# ------------------------------------------------------------------ other launchers

by_mpirun()
{
    timeout -k 5 120 mpirun --allow-run-as-root --oversubscribe -n 2 "$AXLE" train --quiet --json --no-eval \
        --model mlp --data "$work/data" --batch-size 8 >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    grep '^{' "$work/out" >"$work/mpi.json" && [ "$(wc -l <"$work/mpi.json")" -eq 1 ] && ends_equal mpi 2
}

# The examples know nothing of processes.
example_by_mpirun()
{
    AXLE_BACKEND=reference timeout -k 5 120 mpirun --allow-run-as-root --oversubscribe -n 2 \
        "$top_builddir/examples/fashion_mnist" 10 "$work/none" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    grep -q '2 processes' "$work/out" || { cat "$work/out"; return 1; }
}

if command -v mpirun >/dev/null 2>&1; then
    check 'mpirun starts processes that train together' by_mpirun
    check 'mpirun runs an example unchanged' example_by_mpirun
else
    skip 'mpirun starts processes that train together' 'there is no mpirun'
    skip 'mpirun runs an example unchanged' 'there is no mpirun'
fi
finish
