# SPDX-License-Identifier: Apache-2.0
#
# axle bench measures something; how fast it is, is not tested.
. "$top_srcdir/tests/cli/support.sh"

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
check 'optimizer measures Adam' bench optimizer --parameters 100000
check 'with a limit beside it' has_limit
exits 'without --json a result is a line of text' 0 '^dispatch .* us' "$AXLE" bench dispatch --repeat 1
finish
