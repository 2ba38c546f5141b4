# SPDX-License-Identifier: Apache-2.0
#
# axle launch: output arrives in whole lines, tagged and kept on request.
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

# Two processes write long lines at once, in pieces.
cat >"$work/writes" <<'END'
#!/bin/sh
line=$(printf "%0500d" 0 | tr 0 "$RANK")
for _ in $(seq 300); do
    printf %s "$line"
    printf '%s\n' "$line"
done
END
chmod +x "$work/writes"

whole_lines()
{
    launch --quiet -n 2 "$work/writes" >"$work/out" || return 1
    [ "$(grep -cxE '0{1000}' "$work/out")" -eq 300 ] && [ "$(grep -cxE '1{1000}' "$work/out")" -eq 300 ] &&
        [ "$(wc -l <"$work/out")" -eq 600 ]
}

tags()
{
    launch --quiet -n 2 --tag-output sh -c 'echo "out of $RANK"; echo "err of $RANK" >&2' >"$work/out" 2>"$work/err" &&
        says "$work/out" '\[0\] out of 0' '\[1\] out of 1' && says "$work/err" '\[0\] err of 0' '\[1\] err of 1' &&
        [ "$(wc -l <"$work/out")" -eq 2 ]
}

streams_apart()
{
    launch --quiet -n 1 sh -c 'echo out; echo err >&2' >"$work/out" 2>"$work/err" &&
        [ "$(cat "$work/out")" = out ] && [ "$(cat "$work/err")" = err ]
}

last_line_without_end()
{
    [ "$(launch --quiet -n 1 printf 'a\nb')" = "$(printf 'a\nb')" ]
}

logs()
{
    launch --quiet -n 2 --log-dir "$work/deep/logs" sh -c 'echo "out of $RANK"; echo "err of $RANK" >&2' \
        >"$work/out" 2>&1 || return 1
    for rank in 0 1; do
        says "$work/deep/logs/rank-$rank.log" "out of $rank" "err of $rank" &&
            [ "$(wc -l <"$work/deep/logs/rank-$rank.log")" -eq 2 ] || return 1
    done
    says "$work/out" 'out of 1'
}

log_goes_on()
{
    launch --quiet -n 1 --log-dir "$work/again" --max-restarts 1 \
        sh -c 'echo "start $AXLE_RESTART"; [ "$AXLE_RESTART" -eq 1 ]' >/dev/null 2>&1 &&
        [ "$(cat "$work/again/rank-0.log")" = "$(printf 'start 0\nstart 1')" ]
}

# A reader that waits a while loses nothing, and one that goes ends the job.
slow_reader()
{
    launch --quiet -n 2 sh -c 'yes "line of $RANK" | head -n 200000' | (sleep 1; wc -l) >"$work/out"
    [ "$(cat "$work/out")" -eq 400000 ]
}

reader_goes()
{
    { launch --quiet -n 2 yes; echo "code $?" >"$work/code"; } 2>"$work/err" | head -n 1 >/dev/null
    [ "$(cat "$work/code")" = 'code 1' ] && grep -q 'standard output: Broken pipe' "$work/err"
}

# A job that nobody reads from can still be ended.
unread()
{
    mkfifo "$work/fifo"
    sleep 60 <"$work/fifo" &
    reader=$!
    printf '#!/bin/sh\nwhile :; do echo "and on"; done\n' >"$work/endless"
    chmod +x "$work/endless"
    "$AXLE" launch --quiet -n 2 "$work/endless" >"$work/fifo" 2>/dev/null &
    launcher=$!
    sleep 1
    kill "$launcher"
    none_left "$work/endless" 20
    ended=$?
    kill "$reader"
    wait "$launcher"
    return $ended
}

first_reads()
{
    printf 'one\ntwo\n' | launch --quiet -n 2 sh -c 'echo "$RANK $(cat | tr "\n" " ")"' >"$work/out" &&
        says "$work/out" '0 one two ' '1 '
}

many_lines_of_failure()
{
    cat >"$work/talks" <<'END'
#!/bin/sh
if [ "$RANK" -eq 0 ]; then
    until [ -f "$READY" ]; do sleep 0.05; done
    seq 100 >&2
    exit 1
fi
trap 'seq 1001 1050 >&2; exit 0' TERM
: >"$READY"
sleep 60 &
wait
END
    chmod +x "$work/talks"
    READY=$work/ready launch --quiet -n 2 "$work/talks" >/dev/null 2>"$work/err"
    grep -A 10 'ended with these lines' "$work/err" | tail -n +2 | tr -d ' ' >"$work/tail"
    seq 91 100 | cmp - "$work/tail"
}

check 'lines of two processes do not mix' whole_lines
check 'lines are tagged with the rank' tags
check 'the two streams stay apart' streams_apart
check 'a last line needs no end' last_line_without_end
check 'a file a rank holds what it printed' logs
check 'the file goes on over restarts' log_goes_on
exits 'a log folder that cannot be made is named' 1 "log-dir: /dev/null/logs: " \
    "$AXLE" launch --quiet -n 1 --log-dir /dev/null/logs true
check 'a slow reader loses nothing' slow_reader
check 'a reader that goes away ends the job' reader_goes
check 'a job that nobody reads from can be ended' unread
check 'the first process has the standard input' first_reads
check 'the last ten lines of a failure are told where others wrote after it' many_lines_of_failure
finish
