# SPDX-License-Identifier: Apache-2.0
#
# Binaries of programs are kept between processes, and whatever is wrong with the cache costs no more
# than building again. A mock driver tells how many programs were built from source.
. "$top_srcdir/tests/opencl/support.sh"

variants=$top_builddir/tests/opencl/variants
total=$("$variants" 0 0)
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

# builds COUNT DRIVER-WORDS [NAME=VALUE...]: run all variants; that many programs are built from source.
# The values are wrong, since the mock computes nothing.
builds()
(
    builds_count=$1
    builds_words=$2
    shift 2
    rm -rf "$work/record"
    mkdir "$work/record"
    on_mock "platform Acme; gpu Alpha $builds_words" env "$@" MOCK_OPENCL_RECORD="$work/record" \
        AXLE_BACKEND=opencl AXLE_OPTIONS=opencl.selftest=0 "$variants" >"$work/out" 2>&1
    [ $? -eq 1 ] && [ "$(grep -c ' is .* not ' "$work/out")" -gt $((total / 2)) ] || { cat "$work/out"; return 1; }
    builds_got=$(recorded cl)
    echo "built $builds_got programs from source"
    [ "$builds_got" -eq "$builds_count" ]
)

# recorded ENDING: how many files of a kind the driver left.
recorded()
{
    ls "$work/record" | grep -c "\.$1\$"
}

# Drivers compile for a binary, which is in vain where it cannot be kept.
builds_for_itself()
{
    builds "$@" || return 1
    echo "asked for $(recorded binary) binaries"
    [ "$(recorded binary)" -eq 0 ]
}

# builds_one_binary_each COUNT ...
builds_one_binary_each()
{
    builds "$@" || return 1
    echo "asked for $(recorded binary) binaries"
    [ "$(recorded binary)" -eq "$1" ]
}

entries()
{
    ls "$XDG_CACHE_HOME/axle" | grep -c '\.blob$'
}

# for_each_entry COMMAND: with $entry
for_each_entry()
{
    for entry in "$XDG_CACHE_HOME"/axle/*.blob; do
        eval "$1" || return 1
    done
}

halve()
{
    head -c $(($(wc -c <"$entry") / 2)) "$entry" >"$entry.half" && mv "$entry.half" "$entry"
}

# Change the last byte, which belongs to the blob.
corrupt()
{
    head -c -1 "$entry" >"$entry.new" && printf '\377' >>"$entry.new" && mv "$entry.new" "$entry"
}

holds_entries()
{
    echo "$(entries) entries"
    [ "$(entries)" -eq "$1" ]
}

check 'an empty cache: every program is built, one for each value of -D' builds_one_binary_each "$total" ''
check 'each leaves an entry' holds_entries "$total"
check 'a second process builds none' builds 0 ''
check 'another version of the driver has binaries of its own' builds "$total" driver=2
check 'and takes none away' builds 0 ''
check 'so has another version of OpenCL C' builds "$total" c=130
check 'binaries that the driver refuses are built again' builds "$total" no-binary
check 'and not kept, for they might be refused again' builds "$total" ''
check 'entries can be cut to half' for_each_entry halve
check 'what was cut is built again' builds "$total" ''
check 'once' builds 0 ''
check 'a byte can be changed' for_each_entry corrupt
check 'what was damaged is built again' builds "$total" ''
check 'entries can be emptied' for_each_entry ': >"$entry"'
check 'what was emptied is built again' builds "$total" ''
check 'once, too' builds 0 ''
check 'without a home, programs are built every time' builds "$total" '' -u XDG_CACHE_HOME HOME=/proc/none
check 'a cache folder that can not be made is none, and no binaries are asked for' \
    builds_for_itself "$total" '' XDG_CACHE_HOME=/dev/null/none
if [ "$(id -u)" -eq 0 ]; then
    skip 'a cache folder that can not be written is none' 'root writes everywhere'
else
    mkdir -p "$work/read_only"
    chmod a-w "$work/read_only"
    check 'a cache folder that can not be written is none' builds "$total" '' XDG_CACHE_HOME="$work/read_only"
fi

# Eight at once on an empty cache: each program is built by one of them.
eight()
{
    rm -rf "$XDG_CACHE_HOME" "$work/record"
    mkdir "$work/record"
    eight_pids=
    for k in 0 1 2 3 4 5 6 7; do
        on_mock 'platform Acme; gpu Alpha' env AXLE_BACKEND=opencl AXLE_OPTIONS=opencl.selftest=0 \
            MOCK_OPENCL_RECORD="$work/record" "$variants" >"$work/out.$k" 2>&1 &
        eight_pids="$eight_pids $!"
    done
    for pid in $eight_pids; do
        wait "$pid"
        [ $? -eq 1 ] || { cat "$work"/out.*; return 1; }
    done
    echo "built $(recorded cl) programs from source"
    [ "$(recorded cl)" -eq "$total" ] || return 1
    ls -A "$XDG_CACHE_HOME/axle" | grep -v -e '\.blob$' -e '^\.lock$' >"$work/left" && cat "$work/left" && return 1
    builds 0 ''
}
check 'eight processes at once on an empty cache build each program once and leave whole entries' eight
finish
