# SPDX-License-Identifier: Apache-2.0
#
# Ctrl-C in training: the step is finished, nothing is left behind, and the exit code tells.
. "$top_srcdir/tests/cli/support.sh"

idx_folder "$work/data" 200 28

# start OPTION...: train for ever in the background; returns when the first update is done.
start()
{
    mkdir -p "$work/logs"
    : >"$work/err"
    AXLE_BACKEND=reference "$AXLE" train --data "$work/data" --model mlp --epochs 1000000 --batch-size 5 \
        --loss-log "$work/logs/log" --output "$work/output" --log-every 1 "$@" \
        >"$work/out" 2>"$work/err" </dev/null &
    child=$!
    for _ in $(seq 600); do
        if grep -q '^epoch' "$work/err"; then
            return 0
        fi
        sleep 0.05
    done
    echo 'it never began'
    kill -9 "$child"
    return 1
}

# ends_with SIGNAL CODE
ends_with()
{
    start || return 1
    kill -s "$1" "$child"
    wait "$child"
    code=$?
    [ "$code" -eq "$2" ] || { echo "it exited with $code"; return 1; }
    grep -q '^axle train: interrupted after [1-9][0-9]* updates$' "$work/err" || { tail "$work/err"; return 1; }
}

leaves_nothing()
{
    holds_nothing "$work/logs" && [ ! -e "$work/output" ]
}

check 'SIGINT ends training with 130' ends_with INT 130
check 'it leaves no loss log and no output folder' leaves_nothing
check 'SIGTERM ends training with 143' ends_with TERM 143
check 'it leaves nothing, either' leaves_nothing

mkdir "$work/output"
echo old >"$work/output/metrics.json"
echo old >"$work/logs/log"
check 'SIGINT ends a run that would replace files with 130' ends_with INT 130
check 'the older files are as they were' eval \
    '[ "$(cat "$work/output/metrics.json")$(cat "$work/logs/log")" = oldold ] && [ "$(ls -A "$work/output")" = metrics.json ]'
finish
