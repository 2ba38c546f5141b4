# SPDX-License-Identifier: Apache-2.0
#
# Trackers of whole runs: killed and resumed ones, and those of several processes. With PyPI's
# tensorboard, which PYTHON may have, the event files are read by that, too.
. "$top_srcdir/tests/cli/support.sh"

writer=$top_builddir/tests/track/write_run
python=${PYTHON-python3}
AXLE_BACKEND=reference
export AXLE_BACKEND

"$AXLE" info | grep -q 'protobuf-c *yes' && tensorboard=,tensorboard || tensorboard=
"$AXLE" info | grep -q 'libpng *yes' && PICTURES=1 || PICTURES=
KINDS=jsonl,csv$tensorboard
export KINDS PICTURES

# steps FILE: of the metric train/loss in a CSV file, in order, on one line.
steps()
{
    awk -F, '$3 == "train/loss" { printf "%s%d", sep, $1; sep = " " } END { print "" }' "$1"
}

# has_steps FOLDER LAST: both text files hold each step up to LAST once.
has_steps()
{
    wanted=$(seq -s ' ' 0 "$2")
    [ "$(steps "$1/metrics.csv")" = "$wanted" ] || { steps "$1/metrics.csv"; return 1; }
    got=$(grep train/loss "$1/metrics.jsonl" | sed 's/^{"step": \([0-9]*\),.*/\1/' | tr '\n' ' ')
    [ "$got" = "$wanted " ] || { echo "$got"; return 1; }
}

writes_once()
{
    "$writer" "$work/plain" 20 && has_steps "$work/plain" 20
}

# A writer that is killed after a moment, then one that goes on from step 10.
goes_on_after_kill()
{
    "$writer" "$work/killed" 20 -1 forever &
    victim=$!
    until grep -qs '^50,' "$work/killed/metrics.csv"; do
        kill -0 "$victim" || return 1
        sleep 0.05
    done
    kill -9 "$victim"
    wait "$victim" 2>/dev/null
    "$writer" "$work/killed" 15 10 && has_steps "$work/killed" 15
}

# Ranks 0 and 1 of weights 1 and 2.
means_over_processes()
{
    "$AXLE" launch -n 2 "$writer" "$work/two" 3 && has_steps "$work/two" 3 &&
        [ "$(grep -c ',mean rank,0.66666666666666[0-9]*$' "$work/two/metrics.csv")" -eq 4 ]
}

tensorboard_reads()
{
    "$python" "$top_srcdir/tests/track/tensorboard_check.py" "$1" "$2" "${PICTURES:-0}"
}

check 'a run has each step once, in each file' writes_once
check 'a run that was killed and resumed has each step once' goes_on_after_kill
name='means are over the processes, and one of them writes'
if [ -f "$top_builddir/collectives/gloo/.libs/gloo.so" ] && [ "$sanitizer" = no ]; then
    check "$name" means_over_processes
else
    skip "$name" 'processes cannot meet in this build'
fi
if [ -z "$tensorboard" ]; then
    skip 'TensorBoard reads the event files' 'there is no protobuf-c'
elif ! "$python" -c 'import tensorboard' 2>/dev/null; then
    skip 'TensorBoard reads the event files' 'Python has no tensorboard'
else
    check 'TensorBoard reads names, steps, values and hyper-parameters' tensorboard_reads "$work/plain" 20
    check 'TensorBoard sees each step of a resumed run once' tensorboard_reads "$work/killed" 15
fi
finish
