# SPDX-License-Identifier: Apache-2.0
#
# How the processes of a job meet, and what they say where they do not.
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

if [ "$sanitizer" = thread ] || [ ! -f "$top_builddir/collectives/gloo/.libs/gloo.so" ]; then
    # ThreadSanitizer does not see how Gloo synchronises.
    AXLE_TRANSPORT=$top_builddir/tests/unit/group/.libs/sockets.so
    export AXLE_TRANSPORT
    [ -f "$AXLE_TRANSPORT" ] || skip_all 'there is no transport'
fi
meets=$top_builddir/tests/cli/meets
port=$(($$ % 20000 + 20000))

# process RANK SIZE TIMEOUT [NAME=VALUE]...: one process, without a launcher; what it says is in
# $work/RANK.
process()
{
    process_rank=$1
    process_size=$2
    process_timeout=$3
    shift 3
    env RANK="$process_rank" WORLD_SIZE="$process_size" LOCAL_RANK="$process_rank" \
        LOCAL_WORLD_SIZE="$process_size" MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" \
        AXLE_TIMEOUT="$process_timeout" "$@" timeout -k 5 60 "$meets" >"$work/${process_name:-$process_rank}" 2>&1
}

# fails_within SECONDS: the processes whose numbers are in $started fail by themselves before that.
fails_within()
{
    for number in $started; do
        wait "$number"
        code=$?
        [ "$code" -gt 0 ] && [ "$code" -lt 124 ] || { echo "one exited with $code"; return 1; }
    done
    took=$(($(date +%s) - began))
    [ "$took" -le "$1" ] || { echo "it took $took s"; return 1; }
}

# tells FILE PATTERN...: each pattern is in what a process said.
tells()
{
    tells_file=$work/$1
    shift
    for tells_pattern; do
        grep -q -e "$tells_pattern" "$tells_file" || { echo "no '$tells_pattern' in:"; cat "$tells_file"; return 1; }
    done
}

begin()
{
    started=
    port=$((port + 1))
    began=$(date +%s)
}

crowd()
{
    began=$(date +%s%N)
    launch --quiet -n 32 "$meets" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    took=$((($(date +%s%N) - began) / 1000000))
    [ "$(sort -un "$work/out" | wc -l)" -eq 32 ] && grep -qx '31 of 32' "$work/out" &&
        [ "$took" -lt "$crowd_limit" ] || { echo "it took $took ms"; cat "$work/out"; return 1; }
}

# Two processes are rank 1 of three.
one_number_twice()
{
    begin
    for name in 0 1 again; do
        rank=$name
        [ "$name" != again ] || rank=1
        process_name=$name process "$rank" 3 20 &
        started="$started $!"
    done
    fails_within 10 && tells 0 'rank 1' && cat "$work/1" "$work/again" >"$work/both" && tells both 'rank 1'
}

# Rank 1 thinks that there are three.
another_size()
{
    begin
    process 0 2 20 &
    started=$!
    process 1 3 20 &
    started="$started $!"
    fails_within 10 && tells 0 '2' '3' && tells 1 '2' '3'
}

# Wait until somebody listens at the port.
until_listened()
{
    listened=$(printf ':%04X [0-9A-F]*:0000 0A' "$port")
    for _ in $(seq 200); do
        grep -qs "$listened" /proc/net/tcp /proc/net/tcp6 && return 0
        sleep 0.05
    done
    return 1
}

port_in_use()
{
    begin
    process_name=holder process 0 2 60 &
    holder=$!
    until_listened || return 1
    began=$(date +%s)
    process_name=second process 0 2 10 &
    started=$!
    fails_within 12
    failed=$?
    tells second "$port" && [ "$failed" -eq 0 ]
    failed=$?
    # Rank 1 of the first job comes in the end.
    process 1 2 60 || failed=1
    wait "$holder" || failed=1
    return "$failed"
}

no_such_host()
{
    begin
    process 1 2 5 MASTER_ADDR=no-such-host.invalid &
    started=$!
    fails_within 8 && tells 1 'no-such-host.invalid'
}

# An address that no interface here has (RFC 5737).
strange_interface()
{
    begin
    process 0 2 5 MASTER_ADDR=192.0.2.1 &
    started=$!
    fails_within 8 && tells 0 'rank 1'
}

late_but_there()
{
    begin
    process 0 2 20 &
    first=$!
    sleep 2
    process 1 2 20 && wait "$first" && tells 0 '0 of 2' && tells 1 '1 of 2'
}

never_there()
{
    begin
    process 0 3 4 &
    started=$!
    process 1 3 4 &
    started="$started $!"
    fails_within 7 && tells 0 'rank 2' && tells 1 'rank 2'
}

crowd_limit=10000
[ "$sanitizer" = no ] || crowd_limit=60000
check '32 processes join, meet and leave in less than 10 seconds' crowd
check 'two processes that claim one number are an error on all' one_number_twice
check 'processes that were told another size are an error on both' another_size
check 'a port in use is named' port_in_use
check 'a host name that nobody knows is named' no_such_host
check 'an address of no interface here: who did not come is named' strange_interface
check 'a late process is waited for' late_but_there
check 'a process that never comes is named in time' never_there
finish
