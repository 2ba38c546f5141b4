# SPDX-License-Identifier: Apache-2.0
#
# axle generate, on a tiny GPT-2 of random values with a tokenizer of its own.
. "$top_srcdir/tests/cli/support.sh"

AXLE_BACKEND=reference
export AXLE_BACKEND
model=$work/model
mkdir "$model"
cp "$top_srcdir"/tests/golden/transformers/gpt2-causal/*.json \
    "$top_srcdir"/tests/golden/transformers/gpt2-causal/model.safetensors "$model"

# A vocabulary of the model's 60 tokens: letters, and what ends a text.
tokens()
{
    awk 'BEGIN {
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?:"
        printf "{\"<a>\": 0, \"<b>\": 1, \"<|end|>\": 2"
        for (k = 1; k <= length(letters); k++)
            printf ", \"%s\": %d", substr(letters, k, 1), k + 2
        print "}"
    }'
}
tokens >"$model/vocab.json"
echo '#version: 0.2' >"$model/merges.txt"
echo '{"tokenizer_class": "GPT2Tokenizer", "unk_token": "<|end|>", "eos_token": "<|end|>",
    "bos_token": "<|end|>"}' >"$model/tokenizer_config.json"

"$AXLE" generate "$model" abc >/dev/null 2>"$work/err" || ! grep -q utf8proc "$work/err" ||
    skip_all 'this build has no tokenizers'

generate()
{
    "$AXLE" generate "$model" --max-new-tokens 9 "$@" || { cat "$work/err"; return 1; }
}

# The model has 20 positions.
prints_texts()
{
    generate --ignore-end abc 'The?' >"$work/out" || return 1
    [ "$(wc -l <"$work/out")" -eq 2 ] && grep -q '^abc.' "$work/out" && grep -q '^The?.' "$work/out" ||
        { cat "$work/out"; return 1; }
}

tells_all()
{
    generate --ignore-end --json abc >"$work/json" || return 1
    [ "$("$json" "$work/json" prompt_tokens)" -eq 3 ] && [ "$("$json" "$work/json" new_tokens)" -eq 9 ] ||
        { cat "$work/json"; return 1; }
    generate --ignore-end abc >"$work/out" && [ "$("$json" "$work/json" text)" = "$(cat "$work/out")" ]
}

draws_by_seed()
{
    generate --ignore-end --sample --temperature 5 --seed 1 abc >"$work/one" &&
        generate --ignore-end --sample --temperature 5 --seed 1 abc >"$work/again" &&
        generate --ignore-end --sample --temperature 5 --seed 2 abc >"$work/two" &&
        cmp "$work/one" "$work/again" && ! cmp -s "$work/one" "$work/two"
}

draws_from_few()
{
    generate --ignore-end abc >"$work/likeliest" &&
        generate --ignore-end --sample --top-k 1 abc >"$work/k" &&
        generate --ignore-end --sample --top-p 1e-9 abc >"$work/p" &&
        cmp "$work/likeliest" "$work/k" && cmp "$work/likeliest" "$work/p"
}

stops_at_positions()
{
    "$AXLE" generate "$model" --ignore-end --json abc --max-new-tokens 1000 >"$work/json" &&
        [ "$("$json" "$work/json" new_tokens)" -eq 17 ]
}

reads_lines()
{
    printf 'abc\nxyz\n' | generate --ignore-end >"$work/out" && [ "$(wc -l <"$work/out")" -eq 2 ] &&
        printf 'abc\nxyz\n' >"$work/lines" && generate --ignore-end --file "$work/lines" >"$work/file" &&
        cmp "$work/out" "$work/file"
}

check 'texts are continued' prints_texts
check '--json tells tokens, and the same text' tells_all
check 'equal seeds draw equal texts' draws_by_seed
check 'one candidate is the likeliest' draws_from_few
check 'a text ends where the model has no more positions' stops_at_positions
check 'lines of standard input and of files are continued' reads_lines
exits 'options of draws are for --sample' 2 'for --sample' "$AXLE" generate "$model" --top-k 3 x
exits 'a beginning that is too long is refused' 1 'takes 1 to 20' "$AXLE" generate "$model" \
    abcdefghijklmnopqrstuvwxyz
cp -r "$top_srcdir/tests/golden/transformers/bert-masked" "$work/bert"
chmod -R u+w "$work/bert"
cp "$model/vocab.json" "$model/merges.txt" "$model/tokenizer_config.json" "$work/bert"
exits 'a model of another kind is refused' 1 'no task' "$AXLE" generate "$work/bert" x
finish
