# SPDX-License-Identifier: Apache-2.0
#
# axle test: alone, as several processes, and where something is wrong.
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR

# runs COMMAND...: on the reference, its output in $work/out.
runs()
{
    AXLE_BACKEND=${AXLE_BACKEND:-reference} timeout -k 5 300 "$@" >"$work/out" 2>"$work/err" </dev/null
}

passes()
{
    runs "$@" || { cat "$work/out" "$work/err"; return 1; }
}

# table PASSED SKIPPED: what the report says.
table()
{
    says "$work/out" "$1 passed, 0 failed, $2 skipped in .* s" &&
        [ "$(grep -c '^pass  ' "$work/out")" -eq "$1" ] || { cat "$work/out"; return 1; }
}

# field EXPECTED PATH...: of the JSON.
field()
{
    field_expected=$1
    shift
    [ "$("$json" "$work/out" "$@")" = "$field_expected" ] || { "$json" "$work/out" "$@"; return 1; }
}

check 'one process passes' passes "$AXLE" test
check 'with a line a row, and those that need two skipped' table 18 2
check 'nothing is left in the temporary folder' holds_nothing "$TMPDIR"
check 'where programs are to use mixed precision, too' passes env AXLE_PRECISION=fp16 "$AXLE" test
check '--json is one object' passes "$AXLE" test --json
check 'with the number of processes' field 1 processes
check 'of passed rows' field 18 passed
check 'and of failed ones' field 0 failed
exits 'an unknown option is wrong usage' 2 'unknown option --jsn; did you mean --json' "$AXLE" test --jsn
exits 'a backend that is not there is an error' 1 "no backend 'referense'" \
    env AXLE_BACKEND=referense "$AXLE" test

if [ ! -e "$top_builddir/.libs/collectives/gloo.so" ]; then
    skip 'several processes' 'built without Gloo'
    finish
fi

links_of_pairs()
{
    [ "$("$json" "$work/out" links '*' gb_per_second | awk '$1 > 0' | wc -l)" -eq 6 ]
}

backends_of_ranks()
{
    [ "$("$json" "$work/out" ranks '*' backend | grep -cx reference)" -eq 4 ]
}

check 'two processes pass' passes "$AXLE" launch --quiet -n 2 "$AXLE" test
check 'all rows' table 20 0
check 'and one report' [ "$(grep -c 'processes on 1 host' "$work/out")" -eq 1 ]
check 'rounds can be repeated' passes "$AXLE" launch --quiet -n 2 "$AXLE" test --repeat 2 --json
check 'as the report says' field 2 rounds
check 'four processes pass' passes "$AXLE" launch --quiet -n 4 "$AXLE" test --json
check 'all rows' field 20 passed
check 'with the links of all pairs' links_of_pairs
check 'and the backend of each process' backends_of_ranks
check 'nothing is left in the temporary folder' holds_nothing "$TMPDIR"

if has_backend onednn; then
    mixed()
    {
        passes "$AXLE" launch --quiet -n 2 --backend onednn,reference "$AXLE" test --json &&
            field 20 passed
    }
    check 'processes on different backends pass' mixed
fi

# ------------------------------------------------------------------ what is wrong is found

# disturbed RANK [OPTION]...: of two processes, the one of that rank has a transport that turns bits
# of large messages that it receives.
disturbed()
{
    cat >"$work/disturb" <<END
#!/bin/sh
[ "\$RANK" -ne $1 ] || export AXLE_TRANSPORT='$top_builddir/tests/cli/.libs/disturbed.so'
exec '$AXLE' test --json
END
    chmod +x "$work/disturb"
    GLOO=$top_builddir/.libs/collectives/gloo.so
    export GLOO
    runs "$AXLE" launch --quiet -n 2 "$work/disturb"
    [ $? -eq 1 ] || { cat "$work/out" "$work/err"; return 1; }
}

names_rank_and_values()
{
    "$json" "$work/out" rows '*' name failures >"$work/failures"
    grep -q '^all_gather .*"rank":1,.*element 300006 of 600015 is .* instead of 2"' "$work/failures" &&
        ! grep -q '"rank":0' "$work/failures" || { cat "$work/out"; return 1; }
}

check 'a link that changes data fails' disturbed 1
check 'and the report names the rank and the numbers' names_rank_and_values

# struck SIGNAL: what becomes of two processes without a launcher when rank 1 (and the program that
# limits its time) gets a signal in the middle. A file of the row `main first` tells that rows run.
struck()
{
    port=$((20000 + $$ % 10000))
    for rank in 0 1; do
        RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 \
            MASTER_PORT=$port AXLE_BACKEND=reference timeout -k 5 120 "$AXLE" test --repeat 100000 \
            --timeout 10 --json >"$work/struck.$rank" 2>"$work/struck-err.$rank" </dev/null &
        eval "process_$rank=\$!"
    done
    for _ in $(seq 600); do
        [ -z "$(ls -A "$TMPDIR")" ] || break
        sleep 0.05
    done
    victims=
    for process in $(children_of "axle test --repeat 100000"); do
        ! tr '\0' '\n' <"/proc/$process/environ" | grep -qx RANK=1 || victims="$victims $process"
    done
    # shellcheck disable=SC2086 # one word a process
    kill -s "$1" $victims
    began=$(date +%s)
    wait "$process_0"
    struck_code=$?
    took=$(($(date +%s) - began))
    # shellcheck disable=SC2086
    kill -9 $victims 2>/dev/null
    wait "$process_1" 2>/dev/null
    rm -f "$TMPDIR"/*
    [ "$struck_code" -eq 1 ] && [ "$took" -le 20 ] ||
        { echo "rank 0 ended with $struck_code after $took s"; cat "$work/struck.0" "$work/struck-err.0"; return 1; }
}

names_struck()
{
    "$json" "$work/struck.0" rows '*' failures | grep -q '"rank":0,.*rank 1 is lost' ||
        { cat "$work/struck.0"; return 1; }
}

check 'a process that is killed ends the test of the others' struck KILL
check 'and the report says who was lost' names_struck
check 'so does one that is stopped, within the timeout' struck STOP
check 'and the report says who' names_struck
finish
