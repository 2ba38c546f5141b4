# SPDX-License-Identifier: Apache-2.0
#
# axle train: what it writes, and that its options do something.
. "$top_srcdir/tests/cli/support.sh"

idx_folder "$work/data" 20 8

# last_line COMMAND...: keep the last line of its output as a JSON file.
last_line()
{
    "$@" >"$work/out" && tail -n 1 "$work/out" >"$work/result.json"
}

json_is_complete()
{
    last_line train --data "$work/data" --batch-size 5 --epochs 2 --json || return 1
    for key in task model parameters backend device processes dtype optimizer schedule seed input_mean input_std epochs \
        updates samples first_loss last_loss train_loss eval_loss eval_accuracy seconds \
        samples_per_second fallbacks peak_rss_bytes; do
        "$json" "$work/result.json" "$key" >/dev/null || { echo "no $key"; return 1; }
    done
}

# is KEY VALUE: in the last result.
is()
{
    got=$("$json" "$work/result.json" "$1")
    [ "$got" = "$2" ] || { echo "$1 is $got"; return 1; }
}

counts_right()
{
    is updates 8 && is samples 40 && is processes 1 && is backend reference
}

# log_of OPTION...: train with a loss log.
log_of()
{
    train --data "$work/data" --no-eval --loss-log "$work/log" "$@" >"$work/out"
}

# log_has LINES PATTERN: every line is its number, a space, and what matches.
log_has()
{
    awk -v lines="$1" -v pattern="^$2\$" '
        NF != 2 || $1 != NR || $2 !~ pattern || $0 != $1 " " $2 { print "line " NR ": " $0; bad = 1 }
        END { if (NR != lines) { print NR " lines"; bad = 1 } exit bad }' "$work/log"
}

logs_f32()
{
    log_of --batch-size 5 --epochs 2 && log_has 8 '[0-9]\.[0-9]+' &&
        awk '{ sub(/^[0-9]*\./, "", $2); if (length($2) > 8) exit 1 }' "$work/log"
}

# Seventeen digits: some number has more than nine behind its point.
logs_f64()
{
    log_of --batch-size 5 --dtype f64 && log_has 4 '[0-9]\.[0-9]+' &&
        awk '{ sub(/^[0-9]*\./, "", $2); if (length($2) > 12) long = 1 } END { exit !long }' "$work/log"
}

# 20 samples in batches of 3 are 7 batches, so windows of 3, 3 and 1. With a learning rate of 0 the
# loss of an update is that of its samples: their weighted mean is the mean of all.
accumulates()
{
    log_of --batch-size 3 --accumulate 3 --lr 0 && log_has 3 '[0-9.]+' || return 1
    together=$(awk 'BEGIN { rows[1] = 9; rows[2] = 9; rows[3] = 2 }
        { sum += $2 * rows[NR] } END { printf "%.5f", sum / 20 }' "$work/log")
    log_of --batch-size 20 --lr 0 || return 1
    alone=$(awk '{ printf "%.5f", $2 }' "$work/log")
    [ "$together" = "$alone" ] || { echo "$together, not $alone"; return 1; }
}

# An update of 3 batches is that of one batch of their samples.
accumulation_is_one_batch()
{
    log_of --batch-size 2 --accumulate 5 --epochs 3 --optimizer sgd --lr 0.1 || return 1
    mv "$work/log" "$work/accumulated"
    log_of --batch-size 10 --epochs 3 --optimizer sgd --lr 0.1 || return 1
    close "$work/accumulated" "$work/log" 1e-5
}

# close FILE FILE RELATIVE: whether two logs agree.
close()
{
    paste -d ' ' "$1" "$2" | awk -v most="$3" '
        NF != 4 || $1 != $3 { print; bad = 1 }
        { d = $2 - $4; d = d < 0 ? -d : d; if (d > most * ($4 < 0 ? -$4 : $4)) { print; bad = 1 } }
        END { exit bad || NR == 0 }'
}

repeats()
{
    log_of --epochs 4 --batch-size 5 --dropout 0.5 --workers 2 && mv "$work/log" "$work/first" &&
        log_of --epochs 4 --batch-size 5 --dropout 0.5 --workers 0 && cmp "$work/first" "$work/log"
}

# changes OPTION...: whether the option leads to other losses.
changes()
{
    log_of --epochs 5 --batch-size 5 && mv "$work/log" "$work/plain" &&
        log_of --epochs 5 --batch-size 5 "$@" && [ "$(wc -l <"$work/log")" -eq 20 ] &&
        ! cmp -s "$work/plain" "$work/log"
}

works()
{
    log_of --epochs 2 --batch-size 5 "$@" && [ "$(wc -l <"$work/log")" -eq 8 ]
}

writes_output()
{
    train --data "$work/data" --output "$work/new/model" >"$work/out" &&
        [ "$(ls -A "$work/new/model")" = "metrics.json
model.safetensors" ] && "$json" "$work/new/model/metrics.json" eval_accuracy
}

shows_plan_and_lines()
{
    AXLE_BACKEND=reference "$AXLE" train --model mlp --data "$work/data" --batch-size 5 --log-every 2 \
        >"$work/out" 2>"$work/err" &&
        grep -q '^5 x 1 process x 1 accumulation = 5 per update; 4 updates an epoch; f32; ref' "$work/err" &&
        [ "$(grep -c '^epoch 1/1 update [24]/4  loss .* lr .* samples/s .* left$' "$work/err")" -eq 2 ]
}

is_quiet()
{
    train --data "$work/data" --json >"$work/out" 2>"$work/err" && [ ! -s "$work/err" ] &&
        [ "$(wc -l <"$work/out")" -eq 1 ]
}

# A bar that is redrawn, and no trace of it at the end.
draws_bar()
{
    AXLE_BACKEND=reference script -qec "$AXLE train --model mlp --data $work/data --batch-size 5" \
        "$work/typescript" >/dev/null 2>&1 </dev/null || return 1
    grep -q '\[#*\.*\] [0-9]*/4  loss' "$work/typescript" &&
        grep -q "$(printf '\033')\[Kmlp on reference: 4 updates" "$work/typescript"
}

# The record's losses are those of the loss log, and what comes after training is there.
tracks()
{
    train --data "$work/data" --batch-size 5 --epochs 2 --schedule cosine --track jsonl,csv \
        --track-dir "$work/record" --loss-log "$work/log" >"$work/out" || return 1
    awk -F, '$3 == "loss" { print $1, $4 }' "$work/record/metrics.csv" >"$work/losses"
    close "$work/losses" "$work/log" 1e-7 && [ "$(wc -l <"$work/losses")" -eq 8 ] || return 1
    grep -q '^1,[0-9.]*,lr,0.001$' "$work/record/metrics.csv" &&
        grep -q '^{"step": 8, .*"eval/accuracy": ' "$work/record/metrics.jsonl" &&
        [ "$("$json" "$work/record/config.json" schedule)" = cosine ]
}

# From a checkpoint that is older than the record.
tracks_on()
{
    train --data "$work/data" --batch-size 5 --epochs 2 --max-steps 6 --no-eval --save-every 2 \
        --output "$work/long" --track jsonl >"$work/out" 2>&1 &&
        train --data "$work/data" --batch-size 5 --epochs 2 --no-eval --output "$work/long" \
            --resume "$work/long/step-00000004" --track jsonl >"$work/out" 2>&1 || return 1
    got=$(sed 's/^{"step": \([0-9]*\),.*/\1/' "$work/long/metrics.jsonl" | tr '\n' ' ')
    [ "$got" = '1 2 3 4 5 6 7 8 ' ] || { echo "$got"; return 1; }
}

says_synthetic()
{
    AXLE_BACKEND=reference "$AXLE" train --model mlp --max-steps 2 --no-eval >"$work/out" 2>&1 &&
        grep -q 'synthetic' "$work/out"
}

check 'the last line of --json is an object with its members' json_is_complete
check 'it counts updates, samples and processes' counts_right
check 'a loss log in f32 has 9 significant digits' logs_f32
check 'a loss log in f64 has 17 significant digits' logs_f64
check 'with accumulation a line is the mean over the samples of its window' accumulates
check 'accumulated batches make the update of one large batch' accumulation_is_one_batch
check 'a second run gives a byte-identical log, whatever the number of workers' repeats
for option in '--lr 0.01' '--seed 7' '--dropout 0.5' '--weight-decay 0.5' '--clip 0.01' '--hidden 8' \
    '--optimizer sgd' '--optimizer rmsprop' '--optimizer adamw' '--model lenet' \
    '--schedule constant' '--schedule linear' '--schedule cosine' '--schedule step' '--schedule cosine-restarts' \
    '--schedule polynomial' '--schedule one-cycle' '--warmup-ratio 0.5'; do
    # shellcheck disable=SC2086 # two words
    check "$option changes the losses" changes $option
done
check '--momentum changes what sgd does' works --optimizer sgd --momentum 0.9
check 'a run that --max-steps ends early is the beginning of the whole' eval 'log_of --epochs 5 --batch-size 5 && mv "$work/log" "$work/whole" &&
    log_of --epochs 5 --batch-size 5 --max-steps 7 && head -n 7 "$work/whole" | cmp - "$work/log"'
check '--max-steps ends training early' eval 'log_of --epochs 9 --batch-size 5 --max-steps 3 && log_has 3 "[0-9.]+"'
check '--output makes the folder and writes the model and the metrics' writes_output
check 'the plan is shown once, and a line an interval' shows_plan_and_lines
check '--track records loss, rate and options' tracks
check 'the record of a resumed run has each update once' tracks_on
exits '--track without a folder is refused' 2 'track needs a folder' "$AXLE" train --track csv
exits 'an unknown tracker is answered with the nearest one' 2 "did you mean 'tensorboard'" \
    "$AXLE" train --track csv,tensorbord --track-dir "$work/none"
check '--quiet and --json print one line in all' is_quiet
check 'without --data it says that the pictures are synthetic' says_synthetic
if command -v script >/dev/null 2>&1 && [ "$sanitizer" = no ]; then
    check 'on a terminal there is a bar, which goes at the end' draws_bar
else
    skip 'on a terminal there is a bar, which goes at the end' 'there is no script(1)'
fi
finish
