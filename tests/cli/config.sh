# SPDX-License-Identifier: Apache-2.0
#
# axle config, and the files that axle launch reads.
. "$top_srcdir/tests/cli/launch_support.sh"

if "$AXLE" info | grep -q '^ *libyaml *no'; then
    exits 'axle config says that there is no libyaml' 1 'built without libyaml' "$AXLE" config --default
    echo 'num_processes: 2' >"$work/file.yaml"
    exits 'so does axle launch of a file' 1 'file.yaml: .*without libyaml' \
        "$AXLE" launch --config "$work/file.yaml" true
    mkdir -p "$XDG_CONFIG_HOME/axle"
    cp "$work/file.yaml" "$XDG_CONFIG_HOME/axle/config.yaml"
    exits 'a file that it would have read by itself is named' 0 'config.yaml is ignored: .*without libyaml' \
        "$AXLE" launch -n 1 true
    finish
fi

file=$work/file.yaml
default=$XDG_CONFIG_HOME/axle/config.yaml

# configured LINE...: the file has these lines.
configured()
{
    printf '%s\n' "$@" >"$file"
}

# gives EXPECTED NAME OPTION...: what rank 0 of a launch with the file has in that variable.
gives()
{
    gives_expected=$1 gives_name=$2
    shift 2
    launch --quiet --config "$file" "$@" "$show" "$gives_name" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    says "$work/out" " $gives_name=$gives_expected"
}

# ------------------------------------------------------------------ precedence

configured 'num_processes: 3' 'precision: bf16' 'accumulate: 4' 'timeout: 11' 'threads: 7' 'max_restarts: 0' \
    'backend: [onednn, reference, opencl]'
check 'a file says how many processes start' gives 3 WORLD_SIZE
check 'and in which precision' gives bf16 AXLE_PRECISION
check 'and how many batches are accumulated' gives 4 AXLE_ACCUMULATE
check 'and the timeout' gives 11 AXLE_TIMEOUT
check 'and threads' gives 7 OMP_NUM_THREADS
check 'and the backend of each' gives opencl AXLE_BACKEND
check 'a flag is above the file' gives 2 WORLD_SIZE -n 2 --backend reference
check 'a flag is above the file for choices, too' gives fp16 AXLE_PRECISION --precision fp16
check 'the environment is above the file' env AXLE_TIMEOUT=13 sh -c \
    '"$0" launch --quiet --config "$1" "$2" AXLE_TIMEOUT | grep -qx " AXLE_TIMEOUT=13"' "$AXLE" "$file" "$show"
exits 'what comes from the file is said, and what from nowhere' 0 \
    "from $file: num-processes 3, .*timeout 11.*; by default: main-port" "$AXLE" launch --config "$file" true

configured 'num_hosts: 2' 'host_rank: 1' 'main_address: first' 'main_port: 4000' 'num_processes: [2, 3]'
check 'a file says where hosts meet' gives first MASTER_ADDR
check 'and the port' gives 4000 MASTER_PORT
check 'and the processes of each host' gives 5 WORLD_SIZE

# ------------------------------------------------------------------ files of accelerate

configured 'compute_environment: LOCAL_MACHINE' 'debug: true' 'distributed_type: MULTI_CPU' "downcast_bf16: 'no'" \
    'enable_cpu_affinity: false' 'machine_rank: 1' 'main_process_ip: 10.1.2.3' 'main_process_port: 29511' \
    'main_training_function: main' 'mixed_precision: bf16' 'num_machines: 2' 'num_processes: 6' \
    'rdzv_backend: static' 'same_network: true' 'tpu_env: []' 'use_cpu: true'
check 'accelerate counts the processes of all machines' gives 3 LOCAL_WORLD_SIZE
check 'and calls hosts machines' gives 1 GROUP_RANK
check 'its address is understood' gives 10.1.2.3 MASTER_ADDR
check 'its port is understood' gives 29511 MASTER_PORT
check 'its precision is understood' gives bf16 AXLE_PRECISION
check 'use_cpu leaves out GPUs' gives onednn,openblas,reference AXLE_BACKEND
check 'a backend that is given is above use_cpu' gives reference AXLE_BACKEND --backend reference
check 'debug sets the log level' gives debug AXLE_LOG
exits 'keys that mean nothing here are named' 0 "$file: keys that mean nothing to axle: compute_environment, .*tpu_env" \
    "$AXLE" launch --config "$file" true
configured "mixed_precision: 'no'" 'main_process_ip: null' 'main_process_port: null' 'num_machines: 1' 'num_processes: 2'
check 'no mixed precision is none' gives no AXLE_PRECISION
check 'null is not given' gives 127.0.0.1 MASTER_ADDR

# ------------------------------------------------------------------ mistakes

# refuses NAME PATTERN LINE...: the launch fails with that message.
refuses()
{
    refuses_name=$1 refuses_pattern=$2
    shift 2
    configured "$@"
    exits "$refuses_name" 2 "^axle launch: $file:$refuses_pattern" "$AXLE" launch --config "$file" true
}

refuses 'text for a number is named with file, line and key' "2: num_processes: 'many' is no whole number" '# first' 'num_processes: many'
refuses 'a number in quotes is text' "1: threads: '4' is in quotes" 'threads: "4"'
refuses 'a list for a number is named' '1: timeout: a whole number is wanted, not a list' 'timeout: [1]'
refuses 'a mapping for a number is named' '1: timeout: .*not a mapping' 'timeout: {a: 1}'
refuses 'a mapping for text is named' '1: main_address: text is wanted, not a mapping' 'main_address: {a: 1}'
refuses 'a number out of range is named' '1: main_port: 70000 does not lie in' 'main_port: 70000'
refuses 'an unknown precision is named with those there are' "1: precision: there is no 'fp8'.*bf16" 'precision: fp8'
refuses 'what is neither true nor false is named' "1: use_cpu: '3' is neither" 'use_cpu: 3'
refuses 'a key that stands twice is named' '2: threads: it stands in line 1' 'threads: 1' 'threads: 2'
refuses 'processes that do not divide are named' '2: num_processes: 5 processes do not divide' 'num_machines: 2' 'num_processes: 5'
refuses 'what is no YAML is named' '1: no YAML' 'a: b: c'
refuses 'a list is no configuration' '1: lines of the form' '- 1'
exits 'a file that is not there is named' 2 'nonesuch.yaml: No such file' "$AXLE" launch --config "$work/nonesuch.yaml" true
configured 'num_procesess: 3' 'num_processes: 2' 'deepspeed_config: {zero_stage: 2}'
exits 'an unknown key gets a warning with the nearest' 0 "$file:1: warning: unknown key 'num_procesess' .*'num_processes'" \
    "$AXLE" launch --config "$file" true
check 'and is ignored' gives 2 WORLD_SIZE

# ------------------------------------------------------------------ writing

exits 'axle config asks only on a terminal' 2 'no terminal' "$AXLE" config
exits 'axle config --default asks nothing' 0 'is written' "$AXLE" config --default
check 'it writes the file that axle launch finds' grep -qx 'num_processes: [0-9]*' "$default"
exits 'it replaces nothing' 1 '--force' "$AXLE" config --default
exits 'but with --force' 0 'is written' "$AXLE" config --default --force
exits '--show prints the file' 0 '^num_hosts: 1$' "$AXLE" config --show
exits '--show of a file that is not there fails' 2 'No such file' "$AXLE" config --show --config "$work/nonesuch"

found_by_itself()
{
    printf 'num_processes: 17\n' >"$default"
    launch --quiet "$show" WORLD_SIZE >"$work/out" && says "$work/out" ' WORLD_SIZE=17' &&
        launch --quiet -n 2 "$show" WORLD_SIZE >"$work/out" && says "$work/out" ' WORLD_SIZE=2' &&
        launch --quiet --config /dev/null "$show" WORLD_SIZE >"$work/out" && ! grep -q =17 "$work/out"
}
check 'axle launch finds its file by itself, under the flags, and can be told not to' found_by_itself

# answers FILE ANSWER...: types them, each when its question has come.
answers()
{
    answers_file=$1
    shift
    (for answer; do sleep 0.1; printf '%s\n' "$answer"; done; sleep 0.3) |
        timeout 30 script -qec "'$AXLE' config --config '$answers_file'" /dev/null >"$work/typescript" 2>&1 ||
        { cat "$work/typescript"; return 1; }
}

if command -v script >/dev/null 2>&1; then
    asked()
    {
        answers "$work/new/asked.yaml" 2 1 first '' 2,3 onednn,reference,reference '' bf17 bf16 4 &&
            says "$work/new/asked.yaml" 'num_processes: 2,3' 'num_hosts: 2' 'host_rank: 1' 'main_address: first' \
                'main_port: 29500' 'backend: onednn,reference,reference' 'precision: bf16' 'accumulate: 4' &&
            ! grep -q threads "$work/new/asked.yaml" && grep -q "no 'bf17'" "$work/typescript"
    }
    check 'it asks, asks again, and writes the answers' asked
    cp "$work/new/asked.yaml" "$file"
    check 'axle launch understands what it wrote' gives 5 WORLD_SIZE
    keeps()
    {
        ! answers "$work/new/asked.yaml" no && cmp "$file" "$work/new/asked.yaml"
    }
    check 'a file stays where the answer is no' keeps
else
    skip 'it asks' 'there is no script'
fi
finish
