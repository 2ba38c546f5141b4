# SPDX-License-Identifier: Apache-2.0
#
# Help, manual pages and completion, and what happens on wrong usage.
. "$top_srcdir/tests/cli/support.sh"

commands='info train eval predict tokenize generate launch config test plot bench estimate-memory backend-check'

# options_of COMMAND: as the program lists them.
options_of()
{
    "$AXLE" --complete "$1" | grep '^--'
}

# in_manual COMMAND: whether its page has every option, as .Fl -name.
in_manual()
{
    page=$cli/axle-$1.1
    for option in $(options_of "$1"); do
        grep -qE "\.(It|Op) Fl ${option#-}( |\$)" "$page" || { echo "no $option in $page"; return 1; }
    done
}

in_help()
{
    "$AXLE" "$1" --help >"$work/help" || return 1
    for option in $(options_of "$1"); do
        grep -q -e " $option" "$work/help" || { echo "no $option"; return 1; }
    done
}

fits_terminal()
{
    "$AXLE" "$1" --help | awk 'length($0) > 80 { print; bad = 1 } END { exit bad }'
}

page_renders()
{
    LC_ALL=C man --warnings -l "$1" >/dev/null 2>"$work/man" && [ ! -s "$work/man" ] ||
        { cat "$work/man"; return 1; }
}

# In examples, which people copy, a bare - may become a hyphen that no shell knows.
examples_can_be_copied()
{
    awk '
        /^\.Sh/ { inside = $2 == "EXAMPLES"; literal = 0 }
        /^\.Bd/ { literal = 1; next }
        /^\.Ed/ { literal = 0 }
        inside && (/^\.Dl / || literal) && /(^|[^\\])-/ { print FILENAME ": " $0; bad = 1 }
        END { exit bad }' "$cli"/*.1
}

lists_commands()
{
    "$AXLE" --help >"$work/help" || return 1
    for command in $commands; do
        grep -qE "^  $command +[a-z]" "$work/help" || return 1
    done
}

# completes LINE EXPECTED: what bash offers for the last word of the line.
completes()
{
    AXLE=$AXLE LINE=$1 COMPLETION=$cli/axle.bash-completion bash -c '
        . "$COMPLETION"
        read -ra COMP_WORDS <<<"$LINE"
        COMP_WORDS[0]=$AXLE
        [[ $LINE != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _axle
        echo "${COMPREPLY[@]}"' >"$work/completed" 2>&1
    grep -qx -e "$2" "$work/completed" || { cat "$work/completed"; return 1; }
}

check 'axle --help lists the commands' lists_commands
check 'examples in manuals can be copied' examples_can_be_copied
exits 'axle --version prints the version' 0 '^axle [0-9]' "$AXLE" --version
exits 'axle without a command shows its usage and fails' 2 'Usage' "$AXLE"
exits 'an unknown command is named with the nearest one' 2 "'trian'.*'train'" "$AXLE" trian
exits 'a command like no other is named alone' 2 "unknown command 'zzzzzz'" "$AXLE" zzzzzz
exits 'an unknown option of axle itself is named' 2 "'--nope'" "$AXLE" --nope

for command in $commands; do
    check "axle $command --help has every option" in_help "$command"
    check "the manual of axle $command has every option" in_manual "$command"
    check "no line of axle $command --help is longer than 80 columns" fits_terminal "$command"
    exits "an unknown option of axle $command is named" 2 "axle $command: unknown option --nope" \
        "$AXLE" "$command" --nope
done

if command -v man >/dev/null 2>&1 && man -l "$cli/axle.1" >/dev/null 2>&1; then
    for page in "$cli"/*.1; do
        check "$(basename "$page") renders without a warning" page_renders "$page"
    done
else
    skip 'the manual pages render without a warning' 'there is no man that reads files'
fi

if command -v bash >/dev/null 2>&1; then
    check 'completion offers commands' completes 'axle tr' train
    check 'completion offers options' completes 'axle train --warm' --warmup-ratio
    check 'completion offers the values of an option' completes 'axle train --optimizer adam' \
        'adam adamw'
    check 'completion offers programs to launch' completes 'axle launch -n 2 tru' '.*\btrue\b.*'
    check 'completion offers operands' completes 'axle bench di' dispatch
    check 'completion offers operators' completes 'axle bench --op chai' chain
    check 'completion offers several backends an option' completes 'axle bench --back' --backend
else
    skip 'completion' 'there is no bash'
fi

exits 'a misspelt option is answered with the nearest one' 2 'did you mean --batch-size' \
    "$AXLE" train --batchsize 3
exits 'an option without its value is named' 2 '--lr needs a value' "$AXLE" train --lr
exits 'a flag with a value is named' 2 'json=1 takes no value' "$AXLE" train --json=1
exits 'an unknown letter is named' 2 'unknown option -x' "$AXLE" info -x
exits 'an unexpected argument is named' 2 "unexpected argument 'data'" "$AXLE" train data
exits 'what is no number is named' 2 "lr: '1e-3x' is no number" "$AXLE" train --lr 1e-3x
exits 'NaN is no number' 2 "lr: 'nan' is no number" "$AXLE" train --lr nan
exits 'what is no whole number is named' 2 "epochs: '1.5' is no whole number" "$AXLE" train --epochs 1.5
exits 'a number out of range is named' 2 'epochs: 0 does not lie in' "$AXLE" train --epochs 0
exits 'a negative seed is refused' 2 'seed: -1 is too small' "$AXLE" train --seed -1
exits 'a number beyond 64 bits is refused' 2 'seed: 99999999999999999999 is too large' \
    "$AXLE" train --seed 99999999999999999999
exits 'an unknown model is answered with the list' 2 "no 'lnet'.*'lenet'.*resnet18" \
    "$AXLE" train --model lnet
exits 'an unknown optimizer is answered with the list' 2 "no 'lion'.*rmsprop" \
    "$AXLE" train --optimizer lion
exits 'an unknown benchmark is answered with the list' 2 "no 'speed'.*matmul" "$AXLE" bench speed
exits 'momentum for Adam is refused' 2 'momentum is for' "$AXLE" train --optimizer adam --momentum 0.9
exits 'warm-up for the step schedule is refused' 2 'no warm-up' \
    "$AXLE" train --schedule step --warmup-ratio 0.1
exits 'a bad shape is named' 1 "'64x64' is not of the form" "$AXLE" bench matmul --shape 64x64
finish
