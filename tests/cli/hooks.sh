# SPDX-License-Identifier: Apache-2.0
#
# AXLE_HOOK around training, and what axle train --profile leaves.
. "$top_srcdir/tests/cli/support.sh"

# Sanitizers make each update many times slower.
updates=5
batch=16
[ "$sanitizer" = no ] || { updates=2; batch=4; }

# lenet ARGUMENT...: a few updates.
lenet()
{
    "$AXLE" train --model lenet --dropout 0.1 --batch-size "$batch" --max-steps "$updates" --no-eval --quiet "$@"
}

# trains_alike HOOKS: the losses are those of a run without hooks.
trains_alike()
{
    AXLE_HOOK=$1 AXLE_TRACE_FILE=$work/trace.json AXLE_HOOK_DELAY=50,1 \
        lenet --loss-log "$work/hooked" >/dev/null || return 1
    diff "$work/plain" "$work/hooked"
}

# events FILE: name, category, thread, start and duration in microseconds of each event, in order.
events()
{
    "$json" "$1" '*' ph name cat tid ts dur | awk '$1 == "X" { print $2, $3, $4, $5, $6 }' |
        sort -k3,3n -k4,4n -k5,5nr
}

# Of two events of a thread one lies in the other, or they do not touch.
nests()
{
    events "$1" | awk '
        $3 != thread { thread = $3; depth = 0 }
        {
            start = $4; end = $4 + $5
            while (depth > 0 && until[depth] <= start + 1e-4)
                depth--
            if (depth > 0 && end > until[depth] + 1e-3) {
                print $1 " ends after what it lies in"
                bad = 1
            }
            until[++depth] = end
        }
        END { exit bad }'
}

# has FILE COUNT CATEGORY NAME: so many events of that name.
has()
{
    got=$(events "$1" | awk -v cat="$3" -v name="$4" '$2 == cat && $1 == name' | wc -l)
    [ "$got" -eq "$2" ] || { echo "$got events $4"; return 1; }
}

has_some()
{
    events "$1" | awk -v cat="$2" '$2 == cat' | grep -q . || { echo "no $2"; return 1; }
}

# Backends that hooks are tried with; OpenCL compiles for minutes where its cache is cold.
for backend in reference onednn; do
    AXLE_BACKEND=$backend
    export AXLE_BACKEND
    if ! has_backend "$backend"; then
        skip "hooks around $backend" 'it is not there'
        continue
    fi
    check "$backend trains $updates updates" lenet --loss-log "$work/plain"
    for hooks in check trace delay check,trace,delay; do
        rm -f "$work/trace.json"
        check "with AXLE_HOOK=$hooks $backend gives the same losses" trains_alike "$hooks"
    done
    check 'the trace is whole, and its events nest' nests "$work/trace.json"
    for phase in data forward backward step; do
        check "there are $updates events $phase" has "$work/trace.json" "$updates" phase "$phase"
    done
    check 'so many updates of Adam are in it' has "$work/trace.json" "$updates" operator adam
    check 'and memory from the device' has_some "$work/trace.json" memory
    check 'and transfers' has_some "$work/trace.json" transfer
done

AXLE_BACKEND=$FAKE_PLUGIN
export AXLE_BACKEND
wrong()
{
    AXLE_OPTIONS=$1 AXLE_HOOK=check lenet
}
check 'check finds nothing wrong with a backend that computes right' wrong fake=visible
exits 'check names the operator that a backend computes wrong, and where' 1 \
    'fake: check: [a-z:_]* by fake.*: expected [-0-9.e]*, got [-0-9.e]* in output 0 at ([0-9, ]*)' \
    wrong fake=op_wrong=all
exits 'also on a queue that works later' 1 'fake: check: ' \
    env AXLE_HOOK=check 'AXLE_OPTIONS=fake=op_wrong=all|lazy' "$AXLE" train --model mlp \
    --max-steps 1 --no-eval --quiet
unset AXLE_BACKEND

exits 'an unknown hook is named' 1 "no hook 'chek'; there are check, trace and delay" \
    env AXLE_HOOK=trace,chek "$AXLE" train --max-steps 1
exits 'a wrong delay is named' 1 'AXLE_HOOK_DELAY=soon: ' \
    env AXLE_HOOK=delay AXLE_HOOK_DELAY=soon "$AXLE" train --max-steps 1
exits 'a trace that cannot be written is named' 1 'cannot write /no/such/t.json' \
    env AXLE_HOOK=trace AXLE_TRACE_FILE=/no/such/t.json "$AXLE" train --max-steps 1

tells_what_was_checked()
{
    AXLE_BACKEND=reference AXLE_HOOK=check AXLE_LOG=info lenet >"$work/told" 2>&1 || return 1
    grep -Eq 'check: [1-9][0-9]+ calls of operators, with [1-9][0-9]+ elements, compared with the reference: none differs' \
        "$work/told" || { cat "$work/told"; return 1; }
}
check 'check tells that it compared' tells_what_was_checked

# ------------------------------------------------------------------ --profile

AXLE_BACKEND=reference
export AXLE_BACKEND
exits '--profile ends with a table of operators' 0 "^  conv_backward_weight  *reference  *$((2 * updates)) " \
    lenet --profile "$work/profile.json"
check 'its trace nests' nests "$work/profile.json"
check 'and holds the updates' has "$work/profile.json" "$updates" phase step

# The shares of operators add up to 100, but for rounding and what is left out.
adds_up()
{
    lenet --profile "$work/profile.json" | awk '
        /^  operator / { inside = 1; next }
        /^  transfer / { inside = 0 }
        inside { sum += $5 }
        END { exit !(sum > 90 && sum < 101) }'
}
check 'its shares add up' adds_up

object_alone()
{
    lenet --profile "$work/profile.json" --json 2>"$work/table" >"$work/object" || return 1
    "$json" "$work/object" updates >/dev/null && grep -q '^  operator ' "$work/table"
}
check 'with --json standard output is the object alone' object_alone
exits 'a profile that cannot be written is named' 1 'cannot write /no/such/p.json' \
    lenet --profile /no/such/p.json
exits 'a run that fails leaves a whole trace' 1 'fill fails, as asked' \
    env AXLE_BACKEND="$FAKE_PLUGIN" AXLE_OPTIONS=fake=op_fail=all "$AXLE" train --model mlp \
    --profile "$work/failed.json" --max-steps 2 --quiet
check 'that nests' nests "$work/failed.json"
finish
