# SPDX-License-Identifier: Apache-2.0
#
# axle bench measures something; how fast it is, is not tested.
. "$top_srcdir/tests/cli/support.sh"
takes_long

# A line of JSON for each result, each with a positive time.
bench()
{
    "$AXLE" bench --json --repeat 1 "$@" >"$work/out" || return 1
    while read -r line; do
        echo "$line" >"$work/line.json"
        for key in bench case backend device threads repeat; do
            "$json" "$work/line.json" "$key" >/dev/null || { echo "no $key in $line"; return 1; }
        done
        "$json" "$work/line.json" median_ms | awk '{ exit !($1 > 0) }' || return 1
    done <"$work/out"
}

# lines N
lines()
{
    [ "$(wc -l <"$work/out")" -eq "$1" ] || { cat "$work/out"; return 1; }
}

# The optimizer has a limit on every machine.
has_limit()
{
    grep -q '"limit_ms":[0-9].*"fraction_of_limit":[0-9]' "$work/out"
}

check 'matmul measures the shapes given' bench matmul --shape 8x8x8 --shape 3x5x7
check 'a line a shape' lines 2
if [ -e "$top_builddir/bench/.libs/axle-bench-onednn.so" ]; then
    check 'with the oneDNN primitive as the limit' has_limit
fi
check 'dispatch measures with and without a gradient' bench dispatch
check 'two lines' lines 2
check 'step measures a model' bench step --model mlp --batch-size 4
check 'one line' lines 1
check 'step measures LeNet' bench step --model lenet --batch-size 4
check 'step takes a precision' bench step --model mlp --batch-size 4 --precision bf16
check 'and tells it' grep -q '"precision":"bf16"' "$work/out"
if has_backend onednn && [ "$sanitizer" = no ]; then
    check 'step measures DistilBERT' bench step --model distilbert --batch-size 1 --length 8 \
        --backend onednn
    check 'beside its products' has_limit
    check 'with the memory that it takes' grep -q '"peak_process_bytes":[1-9]' "$work/out"
else
    skip 'step measures DistilBERT' 'it takes oneDNN, and long with a sanitizer'
fi
check 'optimizer measures Adam' bench optimizer --parameters 100000
check 'with a limit beside it' has_limit
check 'conv measures forward and backward' bench conv --shape 2x3x8x8x4x3x2x1
check 'two lines' lines 2
has_rate()
{
    [ "$(grep -c '"gflops":[0-9]' "$work/out")" -eq "$1" ] || { cat "$work/out"; return 1; }
}
check 'with their GFLOP/s' has_rate 2
exits 'a convolution that does not fit is refused' 1 'conv' "$AXLE" bench conv --shape 1x3x2x2x4x5x1x1

check 'op measures a chain beside a copy of as many bytes' bench op --op chain --shape 64x16
check 'in relation to it' has_limit
moves_ten_elements()
{
    "$json" "$work/line.json" bytes | awk '{ exit !($1 == 64 * 16 * 4 * 10) }'
}
check 'which are those of ten elements' moves_ten_elements
check 'op measures products in GFLOP/s' bench op --op matmul --op matmul_backward --shape 8x4x2
check 'forward and backward' has_rate 2
check 'op takes an element type' bench op --op exp --shape 100 --dtype f64 \
    --backend reference
exits 'an unknown operator is answered with the nearest one' 1 "no 'rlu'; did you mean 'relu'" \
    "$AXLE" bench op --op rlu
exits 'a shape that does not fit is named with the form' 1 "'3x' is not of the form ROWSxCOLUMNS" \
    "$AXLE" bench op --op softmax --shape 3x

# every_operator: each that --help lists runs, on a shape that its message asks for.
every_operator()
{
    "$AXLE" --complete bench --op >"$work/names" || return 1
    [ "$(wc -l <"$work/names")" -gt 60 ] || return 1
    while read -r name; do
        for shape in 24 4x6 4x6x8 2x8x4x4; do
            "$AXLE" bench op --op "$name" --shape "$shape" --repeat 1 --json --backend reference \
                >"$work/op.out" 2>"$work/op.err" && break
            grep -q 'is not of the form' "$work/op.err" || { cat "$work/op.err"; return 1; }
        done
        grep -q "\"op\":\"$name\"" "$work/op.out" || { echo "$name did not run"; return 1; }
    done <"$work/names"
}
check 'op runs every operator there is' every_operator

check 'several backends take turns' bench matmul --shape 8x8x8 --backend reference,reference:0
check 'with a line for each' lines 2
compares()
{
    awk '!/"compared_with":"reference".*"speed_ratio":[0-9]/ { exit 1 }' "$work/out"
}
check 'and a comparison with the first' compares
check 'step takes --backend' bench step --model mlp --batch-size 4 --backend reference
check 'on that backend' grep -q '"backend":"reference"' "$work/out"
exits 'an unknown backend is named' 1 "no backend 'referense'" \
    "$AXLE" bench dispatch --backend referense

check 'start measures the way to the first update' bench start --model mlp --batch-size 4 \
    --backend reference
check 'one line' lines 1
exits 'a start that fails is an error' 1 'start: axle train ended with status 1' \
    env AXLE_MEMORY_LIMIT=1 "$AXLE" bench start --model resnet18 --backend reference
exits 'without --json a result is a line of text' 0 '^dispatch .* us' "$AXLE" bench dispatch --repeat 1
exits 'allreduce of one process says how to start more' 1 'allreduce: it needs several processes: axle launch -n 2' \
    "$AXLE" bench allreduce
check 'overlap of one process measures a step' bench overlap --parameters 20000 --batch-size 4 --repeat 1 \
    --backend reference

# together N ARGUMENT...: as N processes; a line of JSON, of the first one.
together()
{
    together_size=$1
    shift
    XDG_CONFIG_HOME=$work/config timeout -k 5 120 "$AXLE" launch --quiet --backend reference \
        -n "$together_size" "$AXLE" bench --json --repeat 2 \
        "$@" >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err"; return 1; }
    lines 1 && cp "$work/out" "$work/line.json" && [ "$("$json" "$work/line.json" processes)" = "$together_size" ]
}

# overlap_shares: whether times are positive and the share is one.
overlap_shares()
{
    for key in forward_ms backward_ms communication_ms communication_cpu_ms \
        backward_with_communication_ms step_ms; do
        "$json" "$work/line.json" "$key" | awk '{ exit !($1 == $1 + 0) }' || { echo "$key"; return 1; }
    done
    "$json" "$work/line.json" step_ms | awk '{ exit !($1 > 0) }' &&
        "$json" "$work/line.json" hidden_share | awk '{ exit !($1 >= 0 && $1 <= 1) }'
}

processes_ratio()
{
    { "$json" "$work/line.json" ratio && "$json" "$work/line.json" step_ms &&
        "$json" "$work/line.json" one_process_step_ms; } | tr '\n' ' ' |
        awk '{ exit !($1 > 0 && $2 > 0 && $3 > 0) }'
}

two_beside_one()
(
    export XDG_CONFIG_HOME="$work/config"
    bench processes --parameters 20000 --batch-size 4 --backend reference
)

slow_link()
{
    AXLE=$AXLE XDG_CONFIG_HOME=$work/config timeout -k 5 120 "$top_srcdir/bench/slow_link.sh" \
        --backend reference --parameters 600000 --batch-size 16 --repeat 3 >"$work/line.json" 2>"$work/err"
}

# 64 bits a parameter pass; the half is for what the filter lets through at once.
is_as_slow_as_told()
{
    cat "$work/err"
    for key in communication_ms link_kbit parameters; do
        "$json" "$work/line.json" "$key" || return 1
    done | xargs | awk '{ print; exit !(NF == 3 && $1 > 64 * $3 / $2 / 2) }'
}

if [ -e "$top_builddir/.libs/collectives/gloo.so" ]; then
    check 'allreduce measures two processes' together 2 allreduce --shape 1000
    check 'and four' together 4 allreduce --shape 7
    exits 'of a number of elements' 1 "'3x3' is not of the form ELEMENTS" \
        env XDG_CONFIG_HOME="$work/config" "$AXLE" launch --quiet -n 2 "$AXLE" bench allreduce --shape 3x3
    TMPDIR=$work/tmp
    mkdir "$TMPDIR"
    export TMPDIR
    check 'beside a ring of plain Gloo' together 2 allreduce --direct --shape 1000
    check 'which is the limit' has_limit
    check 'and leaves no file behind' holds_nothing "$TMPDIR"
    check 'overlap measures the parts of a step' together 2 overlap --parameters 20000 --batch-size 4
    check 'with times and the hidden share' overlap_shares
    check 'processes compares two with one' two_beside_one
    check 'with a ratio of positive times' processes_ratio
    slow_link
    case $? in
        77) skip 'a slowed link bounds communication' 'loopback can not be slowed here' ;;
        *) check 'a slowed link bounds communication' is_as_slow_as_told ;;
    esac
else
    skip 'allreduce and overlap of several processes' 'built without Gloo'
fi
finish
