# SPDX-License-Identifier: Apache-2.0
#
# axle train: checkpoints, and going on from one, by one process and by two, whatever happens.
# KILLS in its environment says how often processes are killed (5).
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

kills=${KILLS:-5}
AXLE_TIMEOUT=60
export AXLE_TIMEOUT

# shellcheck disable=SC2086 # $train_wrap is words
run()
{
    AXLE_BACKEND=${run_backend:-reference} AXLE_LOG=${run_log:-error} timeout -k 5 200 $run_wrap "$AXLE" train --quiet \
        --json ${run_eval---no-eval} --model mlp --hidden 8 --dropout 0.2 --seed 1 --dtype "${run_dtype:-f64}" "$@" \
        >"$work/run.out" 2>"$work/run.err" || { cat "$work/run.out" "$work/run.err"; return 1; }
}
run_wrap=

sum_of_run()
{
    tail -n 1 "$work/run.out" >"$work/run.json"
    "$json" "$work/run.json" parameter_checksum
}

# close FILE FILE RELATIVE: whether two logs agree.
close()
{
    [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] && paste -d ' ' "$1" "$2" | awk -v most="$3" '
        NF != 4 || $1 != $3 { print; bad = 1 }
        { d = $2 - $4; d = d < 0 ? -d : d; if (d > most * ($4 < 0 ? -$4 : $4)) { print; bad = 1 } }
        END { exit bad }'
}

# ------------------------------------------------------------------ one process

undisturbed()
{
    run --epochs 2 --loss-log "$work/one.log" && sum_of_run >"$work/one.sum" && [ -s "$work/one.sum" ]
}

resumes_in_second_epoch()
{
    run --epochs 2 --output "$work/one" --save-every 25 --keep 2 --max-steps 130 &&
        [ "$(cd "$work/one" && echo step-*)" = 'step-00000100 step-00000125' ] &&
        run --epochs 2 --output "$work/one" --save-every 25 --resume latest --loss-log "$work/one2.log" &&
        [ "$(sum_of_run)" = "$(cat "$work/one.sum")" ] && cmp "$work/one.log" "$work/one2.log"
}

resumes_from_a_folder()
{
    run --epochs 2 --resume "$work/one/step-00000125" --loss-log "$work/one3.log" &&
        cmp "$work/one.log" "$work/one3.log"
}

latest_without_any_begins()
{
    run --epochs 2 --max-steps 3 --output "$work/none" --save-every 2 --resume latest &&
        [ -d "$work/none/step-00000002" ]
}

another_run_is_not_mixed_in()
{
    ! run --epochs 2 --max-steps 3 --output "$work/none" --save-every 2 &&
        grep -q 'checkpoints of another run' "$work/run.err"
}

passes_over_a_torn_one()
{
    run --epochs 2 --max-steps 7 --output "$work/torn" --save-every 3 || return 1
    printf x >>"$work/torn/step-00000006/optimizer.safetensors"
    run_log=warn run --epochs 2 --max-steps 7 --output "$work/torn" --save-every 3 --resume latest &&
        grep -q 'step-00000006 is passed over: .*optimizer.safetensors' "$work/run.err" &&
        [ "$(cd "$work/torn" && echo step-*)" = 'step-00000003 step-00000006' ] &&
        ! run --epochs 2 --resume "$work/torn/step-00000009" &&
        grep -q 'step-00000009' "$work/run.err"
}

averages_come_back()
{
    run --ema 0.9 --max-steps 20 && sum_of_run >"$work/ema.sum" &&
        run --ema 0.9 --max-steps 11 --output "$work/ema" --save-every 5 &&
        run --ema 0.9 --max-steps 20 --output "$work/ema" --save-every 5 --resume latest &&
        [ "$(sum_of_run)" = "$(cat "$work/ema.sum")" ]
}

# What killed processes left half-written goes, what living ones write stays.
half_written_files_go()
{
    sleep 0 & half_dead=$!
    wait $half_dead
    mkdir "$work/half"
    touch "$work/half/metrics.json.$half_dead.tmp" "$work/half/metrics.json.$$.tmp" \
        "$work/half/metrics.json.x.tmp"
    run --epochs 1 --max-steps 2 --output "$work/half" &&
        [ "$(cd "$work/half" && echo *.tmp)" = "metrics.json.$$.tmp metrics.json.x.tmp" ]
}

# By the loss of the update, which is in the log as well, and by the test set, which disturbs nothing.
best_is_kept()
{
    run --max-steps 21 --output "$work/best" --save-every 3 --keep 1 --keep-best loss \
        --loss-log "$work/best.log" || return 1
    best=$(awk '$1 % 3 == 0 && (least == "" || $2 < least) { least = $2; at = $1 }
        END { printf "step-%08d\n", at }' "$work/best.log")
    (cd "$work/best" && echo step-*) >"$work/best.list"
    grep -q "$best" "$work/best.list" && grep -q step-00000021 "$work/best.list" &&
        [ "$(wc -w <"$work/best.list")" -le 2 ] || { cat "$work/best.list" "$work/best.log"; return 1; }
    sum_of_run >"$work/best.sum"
    run_eval= run --max-steps 21 --output "$work/best2" --save-every 3 --keep 1 --keep-best eval-accuracy \
        --eval-batch-size 1000 --loss-log "$work/best2.log" || return 1
    cmp "$work/best.log" "$work/best2.log" && [ "$(sum_of_run)" = "$(cat "$work/best.sum")" ] &&
        "$json" "$work/best2/step-00000021/state.json" metric | awk '{ exit !($1 > 0 && $1 <= 1) }'
}

check 'a run that nothing disturbs' undisturbed
check 'the best checkpoint is kept, by the loss or by the test set' best_is_kept
check 'one that is resumed in its second epoch has the same losses and bits' resumes_in_second_epoch
check 'so has one that is resumed from a folder by name' resumes_from_a_folder
check 'without a checkpoint --resume latest begins at the beginning' latest_without_any_begins
check 'a new run among checkpoints of another one is refused' another_run_is_not_mixed_in
check 'a damaged checkpoint is named and passed over' passes_over_a_torn_one
check 'averages of parameters come back' averages_come_back
check 'files that a killed run left half-written are removed' half_written_files_go
exits '--save-every without a folder is wrong usage' 2 'output' "$AXLE" train --save-every 5
exits '--resume latest without a folder is wrong usage' 2 'output' "$AXLE" train --resume latest
exits '--keep-best without --keep is wrong usage' 2 'goes with --keep' "$AXLE" train --output "$work/none" \
    --save-every 5 --keep-best loss
exits '--keep-best of a test set with --no-eval is wrong usage' 2 'no-eval' "$AXLE" train --no-eval \
    --output "$work/none" --save-every 5 --keep 1 --keep-best eval-loss
exits '--keep-best of something else is wrong usage' 2 'eval-accuracy' "$AXLE" train --keep-best x
exits '--keep without --save-every is wrong usage' 2 'save-every' "$AXLE" train --keep 5

# ------------------------------------------------------------------ other backends

there_is()
{
    [ -e "$top_builddir/.libs/backends/$1.so" ] || return 1
    [ "$1" != opencl ] || "$AXLE" info | grep -q '^  opencl .*opencl\.so$'
}

# From $1 to $2: the losses go on as those of one backend alone.
changes_backend()
{
    rm -rf "$work/moved"
    run_dtype=f32 run_backend=$1 run --max-steps 12 --output "$work/moved" --save-every 12 &&
        run_dtype=f32 run_backend=$2 run --max-steps 24 --resume "$work/moved" --loss-log "$work/moved.log" &&
        close "$work/moved.log" "$work/stayed.log" 1e-4
}

stays()
{
    run_dtype=f32 run --max-steps 24 --loss-log "$work/stayed.log"
}

check 'a run of f32 on the reference' stays
for backend in onednn opencl; do
    if there_is $backend; then
        check "a checkpoint of the reference goes on on $backend" changes_backend reference $backend
        check "a checkpoint of $backend goes on on the reference" changes_backend $backend reference
    else
        skip "a checkpoint goes on on $backend" "there is no $backend"
    fi
done

# ------------------------------------------------------------------ a disk that is full

fills_up()
{
    mkdir "$work/disk"
    cat >"$work/full.sh" <<'END'
mount -t tmpfs -o size=640k none "$1/disk" || exit 77
set -- "$1" --epochs 1 --max-steps 20 --output "$1/disk" --save-every 2
work=$1
shift
"$AXLE" train --quiet --json --no-eval --model mlp --hidden 8 --seed 1 --dtype f64 "$@" >"$work/run.out" 2>"$work/run.err"
code=$?
ls "$work/disk"
exit $code
END
    AXLE_BACKEND=reference timeout -k 5 100 unshare -m sh "$work/full.sh" "$work" >"$work/full.list"
    fills_code=$?
    [ $fills_code -eq 1 ] && grep -q 'No space left' "$work/run.err" &&
        grep -q "could not be written" "$work/run.err" &&
        grep -q 'step-' "$work/full.list" && ! grep -q tmp "$work/full.list" ||
        { echo "exit code $fills_code"; cat "$work/full.list" "$work/run.err" "$work/run.out"; return 1; }
}

if unshare -m sh -c "mount -t tmpfs none '$work'" 2>/dev/null; then
    check 'a disk that fills up is told, what was saved stays, and training goes on' fills_up
else
    skip 'a disk that fills up is told' 'this user may not mount'
fi

# ------------------------------------------------------------------ two processes

if [ ! -f "$top_builddir/collectives/gloo/.libs/gloo.so" ] || [ "$sanitizer" != no ]; then
    finish
fi

# processes N OPTION...
processes()
{
    run_wrap="$AXLE launch --quiet -n $1 --threads 1"
    shift
    run "$@"
    processes_code=$?
    run_wrap=
    return $processes_code
}

two_undisturbed()
{
    processes 2 --batch-size 32 --epochs 2 --loss-log "$work/two.log" && sum_of_run >"$work/two.sum" &&
        [ -s "$work/two.sum" ]
}

# A run that is killed after $1 milliseconds, and resumed.
kill_and_resume()
{
    rm -rf "$work/killed"
    AXLE_BACKEND=reference AXLE_LOG=error "$AXLE" launch --quiet -n 2 --threads 1 "$AXLE" train --quiet --no-eval \
        --model mlp --hidden 8 --dropout 0.2 --seed 1 --dtype f64 --batch-size 32 --epochs 2 \
        --output "$work/killed" --save-every 10 --keep 2 $2 >/dev/null 2>&1 &
    kill_launcher=$!
    sleep "$(awk -v ms="$1" 'BEGIN { print ms / 1000 }')"
    # The launcher's processes, whichever of them is there yet.
    for kill_child in $(cat /proc/$kill_launcher/task/*/children 2>/dev/null); do
        kill -9 "$kill_child" 2>/dev/null
    done
    kill -9 $kill_launcher 2>/dev/null
    wait $kill_launcher 2>/dev/null
    [ ! -d "$work/killed" ] || ls -A "$work/killed"
    processes 2 --batch-size 32 --epochs 2 --output "$work/killed" --save-every 10 --keep 2 \
        --resume latest --loss-log "$work/killed.log" || return 1
    cmp "$work/two.log" "$work/killed.log" && [ "$(sum_of_run)" = "$(cat "$work/two.sum")" ] &&
        ! ls -A "$work/killed" | grep tmp
}

survives_kills()
{
    kill_number=0
    while [ $kill_number -lt "$kills" ]; do
        kill_after=$(awk -v k=$kill_number -v most="${KILL_SPAN:-4000}" 'BEGIN { srand(7 + k); print 300 + int(rand() * most) }')
        kill_option=
        [ $((kill_number % 2)) -eq 0 ] || kill_option=--save-async
        echo "kill $kill_number after $kill_after ms $kill_option"
        kill_and_resume "$kill_after" $kill_option || return 1
        kill_number=$((kill_number + 1))
    done
}

# Another number of processes goes on where two were at update 45.
elsewhere()
{
    rm -rf "$work/else"
    processes 2 --batch-size 32 --epochs 2 --output "$work/else" --save-every 45 --max-steps 47 $2 || return 1
    elsewhere_batch=$((64 / $1))
    processes "$1" --batch-size $elsewhere_batch --epochs 2 --resume "$work/else" \
        --loss-log "$work/else.log" $2 && close "$work/else.log" "$work/two.log" 1e-10
}

# The first time round a process ends by itself in the middle.
restarts_by_itself()
{
    cat >"$work/fragile.sh" <<'END'
if [ "$RANK" = 1 ] && [ "$AXLE_RESTART" = 0 ]; then
    "$@" & child=$!
    while [ ! -d "$fragile_output/step-00000040" ]; do sleep 0.01; done
    kill -9 $child
    exit 9
fi
exec "$@"
END
    fragile_output=$work/again
    export fragile_output
    AXLE_BACKEND=reference AXLE_LOG=error timeout -k 5 200 "$AXLE" launch --quiet -n 2 --threads 1 --max-restarts 1 \
        sh "$work/fragile.sh" "$AXLE" train --quiet --json --no-eval --model mlp --hidden 8 --dropout 0.2 \
        --seed 1 --dtype f64 --batch-size 32 --epochs 2 --output "$work/again" --save-every 10 \
        --loss-log "$work/again.log" >"$work/run.out" 2>"$work/run.err" ||
        { cat "$work/run.out" "$work/run.err"; return 1; }
    cmp "$work/two.log" "$work/again.log" && [ "$(sum_of_run)" = "$(cat "$work/two.sum")" ]
}

check 'a run of two processes that nothing disturbs' two_undisturbed
check "killed at $kills moments, it is resumed to the same losses and bits" survives_kills
check 'one process goes on from its checkpoint' elsewhere 1
check 'four processes go on from its checkpoint' elsewhere 4
check 'four processes that share the optimizer out go on from one of two that did' elsewhere 4 --shard-optimizer
check 'a job that is started again goes on by itself' restarts_by_itself
finish
