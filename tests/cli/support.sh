# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the command share. Sources tests/tap.sh.
. "$top_srcdir/tests/tap.sh"

cli=$top_srcdir/frontends/cli
json=$top_builddir/tests/cli/json

# exits NAME CODE PATTERN COMMAND...: passes where the command exits with that code and a line of its
# output matches.
exits()
{
    exits_name=$1
    exits_code=$2
    exits_pattern=$3
    shift 3
    "$@" >"$work/exits.out" 2>&1 </dev/null
    exits_got=$?
    if [ "$exits_got" -ne "$exits_code" ]; then
        fail "$exits_name"
        echo "# it exited with $exits_got instead of $exits_code"
    elif ! grep -q -e "$exits_pattern" "$work/exits.out"; then
        fail "$exits_name"
        echo "# no line matches: $exits_pattern"
    else
        pass "$exits_name"
        return
    fi
    diagnose "$work/exits.out"
}

# holds_nothing FOLDER: whether it is empty or absent.
holds_nothing()
{
    [ ! -d "$1" ] || [ -z "$(ls -A "$1")" ] || { ls -lA "$1"; return 1; }
}

# Backends that work, one a line.
backends()
{
    "$AXLE" info --json >"$work/info.json" || return 1
    "$json" "$work/info.json" backends '*' name status | awk '$2 == "ok" { print $1 }'
}

has_backend()
{
    backends | grep -qx "$1"
}

# ------------------------------------------------------------------ IDX files

# be32 NUMBER: four bytes, the most significant first.
be32()
{
    # shellcheck disable=SC2059 # the format is what is printed
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) \
        $(($1 >> 8 & 255)) $(($1 & 255)))"
}

# bytes COUNT: that many pixels, of many shades.
bytes()
{
    yes 'AXLE trains networks: (pictures, text, tables) & more' | tr '\n' '~' | head -c "$1"
}

# pictures COUNT SIDE
pictures()
{
    be32 2051
    be32 "$1"
    be32 "$2"
    be32 "$2"
    bytes $(($1 * $2 * $2))
}

# labels COUNT [LAST]: zeros, and LAST at the end.
labels()
{
    be32 2049
    be32 "$1"
    head -c $(($1 - 1)) /dev/zero
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o' "${2:-0}")"
}

# idx_folder FOLDER COUNT SIDE: a small data set.
idx_folder()
{
    mkdir -p "$1"
    for idx_part in train t10k; do
        pictures "$2" "$3" >"$1/$idx_part-images-idx3-ubyte"
        labels "$2" >"$1/$idx_part-labels-idx1-ubyte"
    done
}

# A run of a second at most, on the reference backend.
train()
{
    AXLE_BACKEND=${AXLE_BACKEND:-reference} "$AXLE" train --model mlp --quiet "$@"
}
