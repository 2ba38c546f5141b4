#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Train LeNet on every backend found, with the same program, data and seed, and print a table.
#
#   make demo                  one pass over Fashion-MNIST, or over synthetic pictures without it
#   make demo DEMO_STEPS=100   so many updates instead
#
# AXLE is the command; axle by default.
axle=${AXLE:-axle}
data=${DEMO_DATA:-/usr/share/datasets/fashion-mnist}
work=$(mktemp -d "${TMPDIR:-/tmp}/axle-demo.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Names of the backends that work. In the description of the installation each has its name and its
# status on lines of their own.
usable_backends()
{
    "$axle" info --json | sed -n '/^  "backends"/,/^  \]/p' | awk -F '"' '
        /^      "name"/ { name = $4 }
        /^      "status"/ && $4 == "ok" { print name }'
}

# member NAME: a member of the object in the last line of the program's output.
member()
{
    tail -n 1 "$work/out" | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"
}

# train BACKEND OPTION...
train()
{
    backend=$1
    shift
    AXLE_BACKEND=$backend "$axle" train --task image --model lenet --batch-size 64 --lr 1e-3 --seed 1 \
        --json "$@" >"$work/out"
}

if [ -d "$data" ]; then
    echo "LeNet on $data"
    set -- --data "$data" --epochs 1
else
    echo "LeNet on synthetic pictures (there is no $data)"
    set -- --epochs 5
fi
[ -z "${DEMO_STEPS-}" ] || set -- "$@" --max-steps "$DEMO_STEPS"

backends=$(usable_backends)
[ -n "$backends" ] || { echo 'demo: no backend works; see axle info' >&2; exit 1; }
status=0
for name in $backends; do
    if train "$name" "$@"; then
        printf '%-12s %10.4f %10.4f %10.4f %12.0f\n' "$name" "$(member first_loss)" \
            "$(member last_loss)" "$(member eval_accuracy)" "$(member samples_per_second)" \
            >>"$work/table"
    else
        echo "$name failed" >>"$work/table"
        status=1
    fi
done
printf '\n%-12s %10s %10s %10s %12s\n' backend 'first loss' 'last loss' accuracy 'samples/s'
cat "$work/table"
exit $status
