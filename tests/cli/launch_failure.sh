# SPDX-License-Identifier: Apache-2.0
#
# axle launch: the first failure ends all, signals are passed on once, nothing is left.
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

# exit_code EXPECTED COMMAND...: its output is in $work/out.
exit_code()
{
    exit_expected=$1
    shift
    "$@" >"$work/out" 2>&1 </dev/null
    exit_got=$?
    [ "$exit_got" -eq "$exit_expected" ] || { echo "it exited with $exit_got"; cat "$work/out"; return 1; }
}

# ------------------------------------------------------------------ failures

# Rank 2 fails after a second, the others would sleep for ten minutes.
last_fails()
{
    cat >"$work/last-fails" <<'END'
#!/bin/sh
[ "$RANK" -ne 2 ] || { sleep 1; echo "words of rank 2" >&2; exit 7; }
sleep 600
END
    chmod +x "$work/last-fails"
    began=$(date +%s)
    exit_code 7 launch --quiet -n 3 "$work/last-fails" || return 1
    [ $(($(date +%s) - began)) -lt 15 ] || return 1
    says "$work/out" 'axle launch: rank 2 (process [0-9]*) exited with 7; ending the 2 other processes' &&
        [ "$(grep -c 'words of rank 2' "$work/out")" -eq 1 ]
}

killed()
{
    exit_code 137 launch --quiet -n 2 sh -c '[ "$RANK" -ne 1 ] || kill -9 $$; sleep 600' &&
        grep -q '^axle launch: rank 1 .*killed by signal 9' "$work/out"
}

# Shells wait for their child before they look at a trap, so it is ended with the group.
stubborn()
{
    began=$(date +%s)
    exit_code 3 launch --quiet -n 2 sh -c 'trap "" TERM; echo > "$0.$RANK"; [ "$RANK" -ne 0 ] || {
        while [ ! -e "$0.1" ]; do sleep 0.1; done; exit 3; }
        while :; do sleep 1; done' "$work/stubborn" || return 1
    took=$(($(date +%s) - began))
    [ "$took" -ge 4 ] && [ "$took" -lt 15 ]
}

stopped()
{
    exit_code 4 launch --quiet -n 2 sh -c '[ "$RANK" -ne 0 ] || { kill -s STOP $$; sleep 600; }
        sleep 0.5; exit 4'
}

# Rank 0 fails because rank 1 did, while the launcher cannot look.
first_of_two()
{
    : >"$work/pids"
    "$AXLE" launch --quiet -n 2 sh -c 'echo "$$" >"$0.$RANK"; [ "$RANK" -ne 0 ] || { until [ -e "$0.gone" ]; do sleep 0.05; done; exit 1; }
        exec sleep 600' "$work/pids" >"$work/out" 2>&1 </dev/null &
    launcher=$!
    for _ in $(seq 200); do
        [ ! -s "$work/pids.0" ] || [ ! -s "$work/pids.1" ] || break
        sleep 0.05
    done
    kill -s STOP "$launcher"
    kill -9 "$(cat "$work/pids.1")"
    sleep 0.2
    : >"$work/pids.gone"
    sleep 0.5
    kill -s CONT "$launcher"
    wait "$launcher"
    [ $? -eq 137 ] && grep -q '^axle launch: rank 1 .*killed by signal 9' "$work/out" || { cat "$work/out"; return 1; }
}

# What a process started in the background ends with the job.
leaves_background()
{
    exit_code 0 launch --quiet -n 2 sh -c '"$0" & sleep 0.2' "$sleeper"
}

check 'the failure of the last rank ends the job with its code, and is told' last_fails
check 'nothing is left of it' none_left "$work/last-fails" 1
check 'a process killed by a signal gives 128 and its number' killed
check 'a process that ignores SIGTERM is killed after a while' stubborn
check 'a stopped process is ended, too' stopped
check 'of two failures the first is told' first_of_two
check 'a job whose processes leave something behind ends' leaves_background
check 'what they left is ended' none_left "$sleeper" 1
exits 'all at 0 is 0' 0 . "$AXLE" launch -n 3 true
exits 'one process that fails is told' 5 'rank 0 (process [0-9]*) exited with 5$' "$AXLE" launch --quiet -n 1 sh -c 'exit 5'

not_a_program()
{
    printf '\177ELF\002\001\001' >"$work/broken"
    chmod +x "$work/broken"
    launch --quiet -n 2 "$work/broken" >"$work/out" 2>&1
    [ $? -ne 0 ] && [ -s "$work/out" ]
}
check 'a file that is no program fails with a message' not_a_program
exits 'an interpreter that is not there is told' 2 "rank 0: .*/no-interpreter: No such file" \
    sh -c "printf '#!/nonesuch\n' >'$work/no-interpreter'; chmod +x '$work/no-interpreter'; exec '$AXLE' launch --quiet -n 2 '$work/no-interpreter'"

# ------------------------------------------------------------------ signals

# start COMMAND...: in the background; returns when two processes run.
start()
{
    : >"$work/out"
    "$AXLE" launch --quiet -n 2 "$@" >"$work/out" 2>&1 </dev/null &
    launcher=$!
    within "$work/out" 2
}

# ends_with SIGNAL CODE COMMAND...
ends_with()
{
    signal=$1 expected=$2
    shift 2
    start "$@" || return 1
    kill -s "$signal" "$launcher"
    wait "$launcher"
    code=$?
    [ "$code" -eq "$expected" ] || { echo "it exited with $code"; cat "$work/out"; return 1; }
}

# It counts how often it was interrupted, and ends a moment later by itself.
cat >"$work/counts" <<'END'
#!/bin/sh
count=0
trap 'count=$((count + 1))' INT
echo runs
while [ "$count" -eq 0 ]; do sleep 0.1; done
for _ in 1 2 3 4 5; do sleep 0.1; done
echo "interrupted $count times"
END
chmod +x "$work/counts"

passes_on_once()
{
    ends_with INT 130 "$work/counts" && [ "$(grep -cx 'interrupted 1 times' "$work/out")" -eq 2 ]
}

# As a terminal does it: to all of the foreground group.
terminal_interrupts_once()
{
    printf '#!/bin/sh\nexec "%s" launch --quiet -n 2 "%s"\n' "$AXLE" "$work/counts" >"$work/typed"
    chmod +x "$work/typed"
    (within "$work/typescript" 2; printf '\003'; sleep 3) |
        timeout 30 script -qec "$work/typed" /dev/null >"$work/typescript" 2>&1
    code=$?
    [ "$(tr -d '\r' <"$work/typescript" | grep -c 'interrupted 1 times')" -eq 2 ] && [ "$code" -eq 130 ] ||
        { echo "code $code"; cat "$work/typescript"; return 1; }
}

# The watching process has the launcher's command line, and so the sleeper's name, too.
dies()
{
    start "$sleeper" || return 1
    kill -9 "$launcher"
    wait "$launcher" 2>/dev/null
    none_left "$sleeper" 5
}

check 'SIGINT ends with 130' ends_with INT 130 "$sleeper"
check 'SIGTERM ends with 143' ends_with TERM 143 "$sleeper"
check 'SIGHUP ends with 129' ends_with HUP 129 "$sleeper"
check 'nothing is left after signals' none_left "$sleeper" 1
check 'SIGINT reaches each process once' passes_on_once
if command -v script >/dev/null 2>&1; then
    : >"$work/typescript"
    check 'so does Ctrl-C on a terminal' terminal_interrupts_once
else
    skip 'so does Ctrl-C on a terminal' 'there is no script'
fi
check 'when the launcher is killed, so are the processes and their children, and nobody watches on' dies

second_signal()
{
    start sh -c 'trap "" INT TERM; echo runs; while :; do sleep 1; done' || return 1
    kill -s INT "$launcher"
    sleep 1.2
    kill -s INT "$launcher"
    began=$(date +%s)
    wait "$launcher"
    [ $? -eq 130 ] && [ $(($(date +%s) - began)) -lt 6 ]
}
check 'a second signal ends those that ignore the first, at once' second_signal

# ------------------------------------------------------------------ restarts

restarts()
{
    exit_code 0 launch -n 2 --max-restarts 3 sh -c 'echo "rank $RANK start $AXLE_RESTART"
        : >"$0.$RANK.$AXLE_RESTART"
        [ "$AXLE_RESTART" -ne 2 ] || exit 0
        until [ "$RANK" -eq 0 ] || [ -e "$0.0.$AXLE_RESTART" ]; do sleep 0.05; done
        [ "$RANK" -eq 0 ] || exit 6
        sleep 600' "$work/restarted" || return 1
    says "$work/out" 'rank 0 start 0' 'rank 1 start 0' 'axle launch: restart 1 of 3' 'rank 1 start 1' \
        'axle launch: restart 2 of 3' 'rank 0 start 2' 'rank 1 start 2' && ! grep -q 'restart 3' "$work/out"
}

gives_up()
{
    exit_code 6 launch --quiet -n 2 --max-restarts 1 sh -c 'echo "start $AXLE_RESTART"; exit 6' || return 1
    says "$work/out" 'start 0' 'start 1' && ! grep -q 'start 2' "$work/out"
}

# The port is the same in each start where it was given.
restarts_at_port()
{
    port=$(launch --quiet -n 1 sh -c 'echo "$MASTER_PORT"')
    exit_code 0 launch --quiet -n 2 --main-port "$port" --max-restarts 1 \
        sh -c 'echo "port $MASTER_PORT"; [ "$AXLE_RESTART" -eq 1 ]' || return 1
    grep -qx "port $port" "$work/out" && [ "$(grep '^port' "$work/out" | sort -u | wc -l)" -eq 1 ]
}

no_restart_after_interrupt()
{
    start --max-restarts 5 "$sleeper" || return 1
    kill -s INT "$launcher"
    wait "$launcher"
    [ $? -eq 130 ] && ! grep -q restart "$work/out"
}

check 'after a failure all are started again, and told how often' restarts
check 'when restarts are used up the failure counts' gives_up
check 'a given port is kept over restarts' restarts_at_port
check 'an interrupted job is not started again' no_restart_after_interrupt
finish
