# SPDX-License-Identifier: Apache-2.0
#
# axle launch: who the processes are, threads, ports, and what is refused.
. "$top_srcdir/tests/cli/launch_support.sh"

# ------------------------------------------------------------------ places

places()
{
    launch --quiet -n 2 --timeout 7 --accumulate 4 --precision bf16 --backend onednn,reference "$show" \
        RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR AXLE_RESTART AXLE_TIMEOUT \
        AXLE_ACCUMULATE AXLE_PRECISION AXLE_BACKEND >"$work/out" || return 1
    rest='MASTER_ADDR=127.0.0.1 AXLE_RESTART=0 AXLE_TIMEOUT=7 AXLE_ACCUMULATE=4 AXLE_PRECISION=bf16'
    says "$work/out" " RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 $rest AXLE_BACKEND=onednn" \
        " RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 $rest AXLE_BACKEND=reference"
}

leaves_alone()
{
    launch --quiet -n 1 "$show" AXLE_TIMEOUT AXLE_ACCUMULATE AXLE_PRECISION AXLE_BACKEND >"$work/out" &&
        says "$work/out" ' AXLE_TIMEOUT= AXLE_ACCUMULATE= AXLE_PRECISION= AXLE_BACKEND=' &&
        AXLE_TIMEOUT=9 launch --quiet -n 1 "$show" AXLE_TIMEOUT >"$work/out" && says "$work/out" ' AXLE_TIMEOUT=9'
}

# The second of two hosts with 2 and 3 processes.
uneven_hosts()
{
    launch --quiet --num-hosts 2 --host-rank 1 --main-address first -n 2,3 "$show" RANK WORLD_SIZE LOCAL_RANK \
        LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR MASTER_PORT AXLE_LISTEN_FD AXLE_JOB >"$work/out" || return 1
    for local in 0 1 2; do
        says "$work/out" " RANK=$((2 + local)) WORLD_SIZE=5 LOCAL_RANK=$local LOCAL_WORLD_SIZE=3 GROUP_RANK=1 MASTER_ADDR=first MASTER_PORT=29500 AXLE_LISTEN_FD= AXLE_JOB=port-29500" ||
            return 1
    done
}

starts_32()
{
    launch --quiet -n 32 "$show" RANK >"$work/out" && [ "$(sort -u "$work/out" | wc -l)" -eq 32 ] &&
        says "$work/out" ' RANK=0' ' RANK=31'
}

one_backend_for_all()
{
    launch --quiet -n 3 --backend opencl:1 "$show" AXLE_BACKEND >"$work/out" &&
        [ "$(grep -cx ' AXLE_BACKEND=opencl:1' "$work/out")" -eq 3 ]
}

check 'each process is told its place and what was asked for' places
check 'what was not given is left as it was' leaves_alone
check 'hosts may have different numbers of processes' uneven_hosts
check '32 processes start' starts_32
backends_count()
{
    launch --quiet --backend onednn,reference,opencl "$show" RANK AXLE_BACKEND >"$work/out" &&
        [ "$(wc -l <"$work/out")" -eq 3 ] && says "$work/out" ' RANK=2 AXLE_BACKEND=opencl' &&
        AXLE_BACKEND=reference launch --quiet "$show" RANK >"$work/out" && [ "$(cat "$work/out")" = ' RANK=0' ]
}

check 'one backend is for all processes' one_backend_for_all
check 'where no number is given, each backend gets a process' backends_count

# ------------------------------------------------------------------ secret and job

secrets()
{
    launch --quiet -n 2 "$show" AXLE_SECRET AXLE_JOB >"$work/a" && launch --quiet -n 2 "$show" AXLE_SECRET AXLE_JOB >"$work/b" || return 1
    grep -qxE ' AXLE_SECRET=[0-9a-f]{64} AXLE_JOB=[0-9a-f]{16}' "$work/a" || { cat "$work/a"; return 1; }
    [ "$(sort -u "$work/a" | wc -l)" -eq 1 ] && [ "$(sort -u "$work/a" "$work/b" | wc -l)" -eq 2 ]
}

secret_given()
{
    AXLE_SECRET=letmein launch --quiet --num-hosts 2 --host-rank 1 --main-address first -n 1 "$show" AXLE_SECRET \
        >"$work/out" && says "$work/out" ' AXLE_SECRET=letmein' &&
        launch --quiet --num-hosts 2 --host-rank 1 --main-address first -n 1 "$show" AXLE_SECRET >"$work/out" &&
        says "$work/out" ' AXLE_SECRET='
}

check 'a job has a secret and a name of its own' secrets
check 'with several hosts the secret is the one in the environment, or none' secret_given
exits 'that there is none is said' 0 'no AXLE_SECRET' \
    "$AXLE" launch --num-hosts 2 --host-rank 1 --main-address first -n 1 true

# ------------------------------------------------------------------ ports

# hold_port: a job that keeps its port, in $held, until release_port.
hold_port()
{
    : >"$work/held"
    "$AXLE" launch --quiet -n 1 sh -c 'echo "$MASTER_PORT"; exec sleep 60' >"$work/held" 2>/dev/null &
    holder=$!
    within "$work/held" 1
    held=$(cat "$work/held")
}

release_port()
{
    kill "$holder"
    wait "$holder"
}

port_in_use()
{
    hold_port || return 1
    began=$(date +%s)
    "$AXLE" launch -n 2 --main-port "$held" true >"$work/out" 2>&1
    code=$?
    took=$(($(date +%s) - began))
    release_port
    [ "$code" -eq 1 ] && [ "$took" -lt 3 ] && grep -q "port $held .*--main-port" "$work/out" || { cat "$work/out"; return 1; }
}

# The socket that rank 0 inherits listens at the port that all were told.
inherits_socket()
{
    cat >"$work/socket" <<'END'
[ -z "$AXLE_LISTEN_FD" ] || readlink "/proc/self/fd/$AXLE_LISTEN_FD"
END
    launch --quiet -n 2 sh -c '
        [ "$RANK" -ne 0 ] || {
            inode=$(readlink "/proc/self/fd/$AXLE_LISTEN_FD" | tr -dc 0-9)
            awk -v inode="$inode" "\$10 == inode { print \$2, \$4 }" /proc/net/tcp
        }
        printf "%04X\n" "$MASTER_PORT"
        [ "$RANK" -eq 0 ] || [ -z "$AXLE_LISTEN_FD" ]' >"$work/out" || return 1
    port=$(grep -xE '[0-9A-F]{4}' "$work/out" | sort -u)
    says "$work/out" "0100007F:$port 0A"
}

# All four processes of a job get one port, and two jobs at once different ones.
two_jobs()
{
    for job in a b; do
        launch --quiet -n 4 --main-port 0 sh -c 'sleep 0.3; echo "$MASTER_PORT"' >"$work/$job" &
        eval "pid_$job=$!"
    done
    wait "$pid_a" && wait "$pid_b" || return 1
    [ "$(wc -l <"$work/a")" -eq 4 ] && [ "$(sort -u "$work/a" | wc -l)" -eq 1 ] &&
        [ "$(wc -l <"$work/b")" -eq 4 ] && [ "$(sort -u "$work/a" "$work/b" | wc -l)" -eq 2 ]
}

check 'a port in use is named with the option, in less than 3 seconds' port_in_use
check 'rank 0 inherits the socket that listens there' inherits_socket
check 'two jobs with free ports run at once' two_jobs

# ------------------------------------------------------------------ threads

# threads EXPECTED COMMAND...
threads()
{
    threads_expected=$1
    shift
    "$@" "$show" OMP_NUM_THREADS AXLE_THREADS >"$work/out" &&
        [ "$(sort -u "$work/out")" = " OMP_NUM_THREADS=$threads_expected AXLE_THREADS=$threads_expected" ] ||
        { cat "$work/out"; return 1; }
}

cores=$(nproc)
each=$((cores / 2 > 0 ? cores / 2 : 1))
check 'two processes share the usable cores' threads "$each" launch --quiet -n 2
if command -v taskset >/dev/null 2>&1 && first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//') && taskset -c "$first" true; then
    check 'on one core each gets one thread' threads 1 taskset -c "$first" "$AXLE" launch --quiet -n 2
    second=$(taskset -cp $$ | sed -n 's/.*: [0-9]*[,-]\([0-9]*\).*/\1/p')
    if [ -n "$second" ]; then
        check 'on two cores two processes get one thread each' threads 1 \
            taskset -c "$first,$second" "$AXLE" launch --quiet -n 2
        check 'on two cores one process gets two threads' threads 2 \
            taskset -c "$first,$second" "$AXLE" launch --quiet -n 1
    fi
else
    skip 'threads on one core' 'there is no taskset'
fi
check 'more processes than cores get one thread each' threads 1 launch --quiet -n $((cores + 1))
check 'a number of the user'"'"'s own is kept' threads 3 env OMP_NUM_THREADS=3 "$AXLE" launch --quiet -n 2
check 'so is one for Axle alone' threads 3 env AXLE_THREADS=3 "$AXLE" launch --quiet -n 2
check 'the option is above both' threads 5 env OMP_NUM_THREADS=3 "$AXLE" launch --quiet -n 2 --threads 5

# ------------------------------------------------------------------ Axle in the processes

# They meet at the inherited socket, and know every variable.
trains()
{
    AXLE_BACKEND=reference launch --quiet -n 2 --accumulate 2 --timeout 30 "$AXLE" train --model mlp --batch-size 4 \
        --max-steps 2 --no-eval >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    grep -q '^4 x 2 processes x 2 accumulation = 16 per update' "$work/out" && ! grep -q 'unknown variable' "$work/out" ||
        { cat "$work/out"; return 1; }
}

refuses_precision()
{
    AXLE_PRECISION=fp8 AXLE_BACKEND=reference launch --quiet -n 1 "$AXLE" train --model mlp --max-steps 1 >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q "AXLE_PRECISION: 'fp8'" "$work/out" || { cat "$work/out"; return 1; }
}

passes_precision_on()
{
    AXLE_BACKEND=reference launch --quiet -n 1 --precision bf16 "$AXLE" train --model mlp --batch-size 4 --max-steps 1 \
        --no-eval >"$work/out" 2>&1 && grep -q 'f32 with products in bf16; reference' "$work/out" ||
        { cat "$work/out"; return 1; }
}

if "$AXLE" info | grep -q '^ *Gloo transport *yes'; then
    check 'processes of axle train find each other, with the windows that were asked for' trains
else
    skip 'processes of axle train find each other' 'there is no transport'
fi
check 'a precision that Axle does not have is refused, not ignored' refuses_precision
check 'and one that it has is used' passes_precision_on

# ------------------------------------------------------------------ what is said

exits 'what was not given is said in one line' 0 '^axle launch: by default: num-processes [0-9]*.*threads.*main-port' \
    "$AXLE" launch true
said_nothing()
{
    launch --quiet true >"$work/out" 2>&1 && [ ! -s "$work/out" ]
}
check 'with --quiet it is not' said_nothing

# ------------------------------------------------------------------ what is refused

refuses()
{
    refuses_name=$1
    refuses_pattern=$2
    shift 2
    exits "$refuses_name" 2 "^axle launch: $refuses_pattern" "$AXLE" launch "$@"
}

echo 'echo hello' >"$work/plain"
refuses 'no process is refused' '--num-processes: 0 does not lie in' -n 0 true
refuses 'a negative number is refused' '--num-processes: -1 does not lie in' -n -1 true
refuses 'a hundred thousand processes are refused' '--num-processes: 100000 does not lie in' -n 100000 true
refuses 'what is no number is named' "--num-processes: 'two' is no whole number" -n two true
refuses 'a missing program is refused' 'there is no program' -n 2
refuses 'a program that is not there is named' 'nonesuch: .*PATH' -n 2 nonesuch
refuses 'a path that is not there is named' './nonesuch: No such file' -n 2 ./nonesuch
refuses 'a program that is not executable is named' '.*/plain: it is not executable' -n 2 "$work/plain"
refuses 'a folder is no program' '.*: it is a folder' -n 2 "$work"
refuses 'several hosts need a rank' '--num-hosts 2 needs --host-rank' --num-hosts 2 true
refuses 'several hosts need an address' '--num-hosts 2 needs --main-address' --num-hosts 2 --host-rank 0 true
refuses 'several hosts need a port' '--main-port 0' --num-hosts 2 --host-rank 0 --main-address a --main-port 0 true
refuses 'an address with a port is refused' "--main-address: 'a:1' is more" --num-hosts 2 --host-rank 0 --main-address a:1 true
refuses 'a rank beyond the hosts is refused' '--host-rank 2: --num-hosts is 2' --num-hosts 2 --host-rank 2 true
refuses 'a number a host is needed' '--num-processes 2,3,4 has 3 numbers' --num-hosts 2 --host-rank 0 --main-address a -n 2,3,4 true
refuses 'a backend a process is needed' '--backend a,b,c has 3 entries' -n 2 --backend a,b,c true
refuses 'a misspelt option is answered with the nearest one' 'unknown option --num-proceses; did you mean --num-processes' --num-proceses 2 true

takes_options_for_the_program()
{
    launch --quiet -n 1 -- printf '%s|' -n 3 --quiet >"$work/out" && [ "$(cat "$work/out")" = '-n|3|--quiet|' ] &&
        launch --quiet -n 1 printf '%s|' -n 3 --quiet >"$work/out" && [ "$(cat "$work/out")" = '-n|3|--quiet|' ]
}
check 'options after the program are the program'"'"'s' takes_options_for_the_program
finish
