# SPDX-License-Identifier: Apache-2.0
#
# axle plot: what it reads, and what it draws.
. "$top_srcdir/tests/cli/support.sh"

plot=$work/plot
AXLE_BACKEND=reference
export AXLE_BACKEND
mkdir -p "$work/runs/one" "$work/runs/two" "$work/runs/notes" "$work/single"

# A loss that halves, with a gap and a line that was not finished; a name that is quoted.
awk 'BEGIN { for (k = 1; k <= 40; k++)
    printf "{\"step\": %d, \"time\": 1.5, \"loss\": %s, \"lr\": %g}\n", k,
        k == 9 || k == 11 ? "\"NaN\"" : k == 30 ? "\"Infinity\"" : 2 ^ (-k / 8), 0.125
    printf "{\"step\": 41, \"lo" }' >"$work/runs/one/metrics.jsonl"
{
    echo step,time,name,value
    awk 'BEGIN { for (k = 1; k <= 20; k++) printf "%d,1.5,loss,%g\n", 2 * k, 3 - k / 10 }'
    echo '7,1.5,"odd, ""name""",inf'
    echo '8,1.5,"odd, ""name""",4'
} >"$work/runs/two/metrics.csv"
echo '{"step": 5, "loss": 0.25}' >"$work/single/metrics.jsonl"
awk 'BEGIN { for (k = 1; k <= 8; k++) print k, 1 / k }' >"$work/log"

plots()
{
    "$AXLE" plot "$@"
}

# summary OPTION...: keep the summary.
summary()
{
    plots --json "$@" >"$plot.json"
}

# is PLACE KEY VALUE: in that element of the summary.
is()
{
    got=$("$json" "$plot.json" "$1" "$2")
    [ "$got" = "$3" ] || { echo "$2 is $got"; return 1; }
}

reads_json_lines()
{
    summary "$work/runs/one" && is 0 run one && is 0 metric loss && is 0 points 40 &&
        is 0 finite 37 && is 0 first_step 1.0 && is 0 last_step 40.0 && is 0 last 0.03125 &&
        is 1 metric lr && is 1 highest 0.125
}

reads_csv()
{
    summary --metric 'odd, "name"' "$work/runs/two" && is 0 points 2 && is 0 first null &&
        is 0 last 4.0
}

reads_loss_log()
{
    summary "$work/log" && is 0 run log && is 0 points 8 && is 0 lowest 0.125
}

reads_folder_of_runs()
{
    summary --metric loss "$work/runs" && is 0 run one && is 1 run two && is 1 points 20
}

# The mean of 1, 1/2 and 1/3 of weights 1/4, 1/2 and 1.
smooths()
{
    head -n 3 "$work/log" >"$work/three" && summary --smooth 0.5 "$work/three" || return 1
    got=$("$json" "$plot.json" 0 last_smooth)
    awk -v got="$got" 'BEGIN { want = (1 / 4 + 1 / 4 + 1 / 3) / 1.75
        exit !(got - want < 1e-6 && want - got < 1e-6) }' || { echo "$got"; return 1; }
}

# Each run has a character of its own, and no line is wider than asked for.
draws_ascii()
{
    LC_ALL=C plots --width 60 "$work/runs" >"$plot.txt" &&
        grep -q 'loss   \* one   o two$' "$plot.txt" && grep -q '|.*o' "$plot.txt" &&
        grep -q '|.*\*' "$plot.txt" && [ "$(wc -L <"$plot.txt")" -le 60 ] &&
        ! LC_ALL=C grep -q '[^ -~]' "$plot.txt"
}

# falls FILE: whether the curve begins in the first row that has anything, and ends in the last.
draws_curve()
{
    LC_ALL=C plots --metric loss "$work/log" >"$plot.txt" &&
        sed -n 's/^.\{10\} [|+]//p' "$plot.txt" | grep '\*' >"$plot.rows" &&
        head -n 1 "$plot.rows" | grep -q '^\*' && tail -n 1 "$plot.rows" | grep -q '\* *$'
}

draws_braille()
{
    LC_ALL=C.UTF-8 plots "$work/log" >"$plot.txt" && grep -q '⠤⠤ log' "$plot.txt" &&
        grep -q '┤' "$plot.txt" && ! grep -q "$(printf '\033')" "$plot.txt"
}

draws_single_point()
{
    LC_ALL=C plots "$work/single" >"$plot.txt" &&
        [ "$(sed -n 's/^.\{10\} [|+]//p' "$plot.txt" | tr -dc '*' | wc -c)" -eq 1 ]
}

has_decades()
{
    LC_ALL=C plots --log --metric loss "$work/runs/one" >"$plot.txt" &&
        grep -q '^ *0.1 +' "$plot.txt"
}

draws_png()
{
    plots "$work/runs" "$work/single" --smooth 0.9 --output "$plot.png" >"$plot.txt" &&
        [ ! -s "$plot.txt" ] && [ "$(head -c 4 "$plot.png" | tail -c 3)" = PNG ] &&
        [ "$(wc -c <"$plot.png")" -gt 10000 ]
}

# Text is glyphs; curves are paths in colours of the palette: a run, a colour.
draws_svg()
{
    plots "$work/runs" --output "$plot.svg" && grep -q '<svg ' "$plot.svg" &&
        grep -q 'stroke:rgb(0%,44.7[0-9]*%,69.8' "$plot.svg" &&
        grep -q 'stroke:rgb(83.[0-9]*%,36.[0-9]*%,0%)' "$plot.svg"
}

check 'JSON lines are read, with numbers that are none as gaps' reads_json_lines
check 'CSV is read, with quoted names' reads_csv
check 'a loss log is read' reads_loss_log
check 'a folder of runs is read' reads_folder_of_runs
check '--smooth is a weighted mean' smooths
check 'without UTF-8 text is ASCII, as wide as asked for' draws_ascii
check 'a curve goes from its first to its last point' draws_curve
check 'with UTF-8 text is braille' draws_braille
check 'a run of one point is a point' draws_single_point
check '--log has decades for ticks' has_decades
if "$AXLE" info | grep -q 'cairo *yes'; then
    check '--output draws a PNG' draws_png
    check '--output draws an SVG, a colour a run' draws_svg
    exits 'a folder that is not there is named' 1 'none/p.svg' "$AXLE" plot "$work/log" --output "$work/none/p.svg"
else
    exits 'a build without cairo says so' 1 'with-cairo' "$AXLE" plot "$work/log" --output "$plot.png"
fi
exits 'another kind of picture is refused' 1 '.png nor .svg' "$AXLE" plot "$work/log" --output "$plot.gif"
exits 'an unknown metric is answered with the list' 1 "'accuracy'; there are loss, lr" \
    "$AXLE" plot "$work/runs/one" --metric accuracy
exits 'a folder without a run is named' 1 'notes.*metrics.jsonl' "$AXLE" plot "$work/runs/notes"
exits 'what is not there is named' 1 'nothing: No such' "$AXLE" plot "$work/nothing"
exits 'without a run its usage is shown' 2 'there is no DIR' "$AXLE" plot
finish
