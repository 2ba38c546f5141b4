# SPDX-License-Identifier: Apache-2.0
#
# axle tokenize gives what the library `tokenizers` gives (tests/golden/make_tokenizers.py). Ids,
# types, masks, words and tokens agree everywhere, offsets but for the fuzzed texts.
. "$top_srcdir/tests/cli/support.sh"

golden=$top_srcdir/tests/golden/tokenizers
"$AXLE" tokenize "$golden/gpt2" x >/dev/null 2>"$work/err" || ! grep -q utf8proc "$work/err" ||
    skip_all 'this build has no tokenizers'

# agrees FOLDER GROUP
agrees()
{
    # Options are words.
    # shellcheck disable=SC2046
    "$AXLE" tokenize "$golden/$1" --json --file "$golden/$1/$2.txt" $(cat "$golden/$1/$2.options") \
        >"$work/all" || return 1
    if [ "$2" = fuzzed ]; then
        sed 's/,"offsets":.*/}/' "$work/all" >"$work/got"
    else
        cp "$work/all" "$work/got"
    fi
    diff "$golden/$1/$2.jsonl" "$work/got" | head -n 4 | cut -c 1-400
    cmp -s "$golden/$1/$2.jsonl" "$work/got"
}

for folder in "$golden"/*/; do
    family=$(basename "$folder")
    for texts in "$folder"*.txt; do
        group=$(basename "$texts" .txt)
        check "$family, $group" agrees "$family" "$group"
    done
done
finish
