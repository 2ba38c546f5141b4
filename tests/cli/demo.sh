# SPDX-License-Identifier: Apache-2.0
#
# `make demo` in short.
. "$top_srcdir/tests/cli/support.sh"

# A few pictures: the real set would take long in builds with a sanitizer.
idx_folder "$work/data" 100 28

runs()
{
    DEMO_STEPS=2 DEMO_DATA=$work/data sh "$top_srcdir/examples/demo.sh" >"$work/out" 2>"$work/err" ||
        { cat "$work/out" "$work/err"; return 1; }
}

# A row for every backend that works: its name and four numbers.
has_rows()
{
    for name in $(backends); do
        awk -v name="$name" '$1 == name && NF == 5 && $2 > 0 && $3 > 0 && $4 > 0 && $5 > 0 { found = 1 }
            END { exit !found }' "$work/out" || { echo "no row of $name"; cat "$work/out"; return 1; }
    done
}

check 'the demo runs' runs
check 'it has a row for every backend that works' has_rows
finish
