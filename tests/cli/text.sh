# SPDX-License-Identifier: Apache-2.0
#
# Texts from the command line: axle train --task text, axle eval, axle predict, and the example that
# fine-tunes.
. "$top_srcdir/tests/cli/support.sh"

AXLE_BACKEND=reference
AXLE_TIMEOUT=60
export AXLE_BACKEND AXLE_TIMEOUT
model=$work/model

# text OPTION...
text()
{
    "$AXLE" train --task text --quiet "$@"
}

# A sanitizer is slow, and what it has to see is there after a few updates.
budget=
[ "$sanitizer" = no ] || budget='--max-steps 3'
# shellcheck disable=SC2086 # options
text --output "$model" --json $budget >"$work/train.json" 2>"$work/train.err"
trained=$?
! grep -q utf8proc "$work/train.err" || skip_all 'this build has no tokenizers'

# reviews COUNT: sentences of the vocabulary of the made-up texts.
reviews()
{
    awk -v count="$1" 'BEGIN {
        split("film movie story plot music ending", subject)
        split("good great wonderful funny moving clever", good)
        split("bad awful boring dull weak poor", bad)
        print "label\ttext"
        for (k = 0; k < count; k++) {
            start = k % 3 ? "" : "honestly , i think "
            end = k % 5 ? " ." : " from start to end ."
            positive = k % 2
            adjective = positive ? good[k % 6 + 1] : bad[k % 6 + 1]
            printf "%s\t%sthe %s is %s%s\n", positive ? "positive" : "negative", start, \
                subject[int(k / 6) % 6 + 1], adjective, end
        }
    }'
}
reviews 41 >"$work/reviews.tsv"
reviews 23 >"$work/test.tsv"

learns()
{
    [ "$trained" -eq 0 ] || { cat "$work/train.err"; return 1; }
    accuracy=$("$json" "$work/train.json" eval_accuracy)
    [ "$sanitizer" != no ] || awk -v a="$accuracy" 'BEGIN { exit !(a > 0.95) }' ||
        { cat "$work/train.json"; return 1; }
}

writes_model()
{
    (cd "$model" && ls config.json metrics.json model.safetensors tokenizer.json vocab.txt) &&
        [ "$("$json" "$model/config.json" id2label 0)" = negative ] &&
        [ "$("$json" "$model/config.json" label2id positive)" = 1 ] &&
        [ "$("$json" "$model/config.json" problem_type)" = single_label_classification ]
}

# The file's loss is that of training's last evaluation.
evaluates()
{
    "$AXLE" eval "$model" --data "$work/test.tsv" --json >"$work/eval.json" || return 1
    [ "$("$json" "$work/eval.json" rows)" -eq 23 ] || return 1
    text --model "$model" --data "$work/reviews.tsv" --eval "$work/test.tsv" --epochs 1 --lr 0 --json \
        >"$work/fine.json" || return 1
    for key in accuracy f1 matthews; do
        [ "$("$json" "$work/eval.json" metrics $key)" = "$("$json" "$work/fine.json" eval_metrics $key)" ] ||
            { cat "$work/eval.json" "$work/fine.json"; return 1; }
    done
}

# fine NAME OPTION...: fine-tune, with a loss log.
fine()
{
    fine_name=$1
    shift
    text --model "$model" --data "$work/reviews.tsv" --eval "$work/test.tsv" --epochs 2 \
        --loss-log "$work/$fine_name.log" "$@" >"$work/$fine_name.out" 2>&1 ||
        { cat "$work/$fine_name.out"; return 1; }
}

# close FILE FILE LINES: whether two logs of so many lines agree to 1e-5.
close()
{
    paste -d ' ' "$1" "$2" | awk -v lines="$3" '
        { d = $2 - $4; d = d < 0 ? -d : d; if (NF != 4 || d > 1e-5 * ($4 + 1e-3)) { print; bad = 1 } }
        END { if (NR != lines) { print NR " lines"; bad = 1 } exit bad }'
}

# Dropout included. The last batch of an epoch has one row, so one process has none.
two_as_one()
{
    fine one --batch-size 8 || return 1
    timeout 120 "$AXLE" launch --quiet -n 2 "$AXLE" train --task text --quiet --model "$model" \
        --data "$work/reviews.tsv" --eval "$work/test.tsv" --epochs 2 --batch-size 4 --json \
        --loss-log "$work/two.log" >"$work/two.json" 2>"$work/two.err" || { cat "$work/two.err"; return 1; }
    [ "$("$json" "$work/two.json" parameters_equal)" = true ] && close "$work/one.log" "$work/two.log" 12
}

resumes()
{
    fine whole --batch-size 8 &&
        fine part --batch-size 8 --max-steps 8 --save-every 4 --output "$work/part" &&
        fine rest --batch-size 8 --output "$work/part" --resume latest &&
        cmp "$work/whole.log" "$work/rest.log"
}

# Each with what is to follow from it.
takes_options()
{
    fine options --batch-size 8 --precision bf16 --accumulate 2 --clip 1 --ema 0.9 --grad-checkpoint \
        --lora rank=2 --max-length 8 --track jsonl --output "$work/options" &&
        grep -q '"eval/matthews": ' "$work/options/metrics.jsonl" &&
        [ -s "$work/options/adapter_model.safetensors" ] && [ "$(wc -l <"$work/options.log")" -eq 6 ] &&
        "$AXLE" predict "$work/options" 'the film is good .' | grep -q 'the film is good .$'
}

# Numbers and sets of labels; the model says so itself afterwards.
other_problems()
{
    awk -F '\t' 'NR == 1 { print "text,score"; next } { print $2 "," NR % 7 / 2 }' OFS= "$work/test.tsv" |
        sed 's/ , / /' >"$work/score.csv"
    awk -F '\t' 'NR > 1 { printf "{\"text\": \"%s\", \"labels\": [\"%s\"%s]}\n", $2, $1, NR % 3 ? "" : ", \"long\"" }' \
        "$work/test.tsv" >"$work/sets.jsonl"
    text --model "$model" --data "$work/score.csv" --eval "$work/score.csv" --label-column score \
        --problem regression --epochs 1 --output "$work/number" >"$work/out" 2>&1 &&
        grep -q 'pearson' "$work/out" &&
        "$AXLE" predict "$work/number" 'the film is good .' | grep -Eq '^-?[0-9.e-]+	the film' || return 1
    text --model "$model" --data "$work/sets.jsonl" --eval "$work/sets.jsonl" --problem multi-label \
        --epochs 1 --output "$work/sets" >"$work/out" 2>&1 &&
        "$AXLE" eval "$work/sets" --data "$work/sets.jsonl" | grep -q 'f1_macro' &&
        "$AXLE" predict "$work/sets" --json 'the film is good .' >"$work/sets.json" &&
        "$json" "$work/sets.json" probabilities long >/dev/null
}

predicts_arguments()
{
    "$AXLE" predict "$model" 'the film is good .' 'the film is bad .' >"$work/out" || return 1
    [ "$(wc -l <"$work/out")" -eq 2 ] && grep -Eq '^(positive|negative)	[01]\.[0-9]{4}	the film is bad \.$' "$work/out" ||
        { cat "$work/out"; return 1; }
    [ "$sanitizer" != no ] || [ "$(cut -f 1 "$work/out" | tr '\n' ' ')" = 'positive negative ' ]
}

predicts_file()
{
    cut -f 2 "$work/test.tsv" >"$work/lines"
    "$AXLE" predict "$model" --file "$work/lines" --batch-size 7 --json >"$work/out" || return 1
    [ "$(wc -l <"$work/out")" -eq 24 ] || return 1
    head -n 3 "$work/out" | tail -n 1 >"$work/line"
    [ "$("$json" "$work/line" text)" = "$(sed -n 3p "$work/lines")" ] &&
        "$json" "$work/line" probabilities negative >/dev/null
}

# Each line is answered before the next is written.
answers_at_once()
{
    mkfifo "$work/in" "$work/answers" || return 1
    "$AXLE" predict "$model" --pairs <"$work/in" >"$work/answers" &
    predictor=$!
    exec 3>"$work/in" 4<"$work/answers"
    for line in 'the film	is good' 'a	b'; do
        echo "$line" >&3
        read -r answer <&4 || return 1
        case $answer in
            *"$line") ;;
            *) echo "$answer"; return 1 ;;
        esac
    done
    exec 3>&- 4<&-
    wait "$predictor"
}

fine_tunes_by_example()
{
    "$top_builddir/examples/finetune" "$model" "$work/reviews.tsv" "$work/tuned" >"$work/out" 2>&1 ||
        { cat "$work/out"; return 1; }
    grep -q '^epoch 3: loss [0-9.]*$' "$work/out" &&
        "$AXLE" predict "$work/tuned" 'the film is good .' >"$work/line"
}

check 'without --data a tiny DistilBERT learns texts that are made up' learns
check 'the output folder holds model, labels and tokenizer' writes_model
check 'axle eval gives what training evaluates' evaluates
if [ -f "$top_builddir/collectives/gloo/.libs/gloo.so" ] && [ "$sanitizer" != thread ]; then
    check 'two processes have the losses of one' two_as_one
else
    skip 'two processes have the losses of one' 'processes cannot meet in this build'
fi
check 'a resumed run has the losses of the whole' resumes
check 'precision, accumulation, clipping, averages, adapters and records work' takes_options
check 'numbers and sets of labels are learnt, too' other_problems
check 'axle predict labels its arguments' predicts_arguments
check 'axle predict labels the lines of a file' predicts_file
check 'axle predict answers each line of standard input at once' answers_at_once
check 'the example fine-tunes' fine_tunes_by_example
exits '--data without --model is refused' 2 'says which pretrained model' \
    "$AXLE" train --task text --data "$work/reviews.tsv"
exits 'a column that is not there is named' 1 "'stars'" \
    "$AXLE" train --task text --quiet --model "$model" --data "$work/reviews.tsv" --label-column stars
exits 'a label of the test set that is new is named with its line' 1 "new.tsv:2: there is no label 'odd'" \
    eval 'printf "text\tlabel\nx\todd\n" >"$work/new.tsv"
        text --model "$model" --data "$work/reviews.tsv" --eval "$work/new.tsv"'
exits 'options of another task are refused' 2 'for --task text' "$AXLE" train --max-length 5
exits 'a model that is nowhere is named' 1 'nobody/nothing' \
    env HF_HUB_OFFLINE=1 HF_HOME="$work/hub" "$AXLE" predict nobody/nothing x
finish
