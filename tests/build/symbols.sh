# SPDX-License-Identifier: Apache-2.0
#
# What the shared objects export and need. The documented list is made from the headers: the names
# that are declared with AXLE_API.
. "$top_srcdir/tests/tap.sh"

libs=$top_builddir/.libs

$NM -V >/dev/null 2>&1 || skip_all 'there is no nm'

# Print the names declared with AXLE_API, after macros have been expanded, sorted.
declared()
{
    for path in "$top_srcdir"/include/axle/*.h; do
        echo "#include \"axle/$(basename "$path")\""
    done >"$work/all.c"
    # shellcheck disable=SC2086 # CC may hold options
    $CC -E -P -I"$top_srcdir/include" "$work/all.c" |
        tr '\n\t' '  ' | tr ';{}' '\n\n\n' | grep 'visibility("default")' |
        sed -e 's/__attribute__ *(([^()]*\(([^()]*)[^()]*\)*))//g' \
            -e 's/(.*//' -e 's/\[.*//' -e 's/ *$//' -e 's/.*[ *]//' | sort -u
}

# exported FILE: print the symbols it defines for others, sorted.
exported()
{
    $NM -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ { print $3 }' | grep -v '^_' | sort -u
}

exports_only_declared()
{
    declared >"$work/declared"
    exported "$libs/libaxle.so" >"$work/libaxle"
    exported "$libs/libaxle-models.so" >"$work/models"
    exported "$libs/libaxle-track.so" >"$work/track"
    sort "$work/libaxle" "$work/models" "$work/track" >"$work/exported"
    diff "$work/declared" "$work/exported"
}

has_public_prefix()
{
    ! exported "$1" | grep -v '^axle_[^_]'
}

# exports_entry_only FILE
exports_entry_only()
{
    [ "$(exported "$1")" = axle_plugin_init_v1 ]
}

# A backend gets the core's services through a table and links nothing of it.
wants_nothing_of_ours()
{
    ! $NM -D --undefined-only "$1" | grep ' axle_'
}

# libaxle itself needs no library but those of the C library, Jansson and what configure found.
needs_only()
{
    ! LC_ALL=C readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE "^($2)\.so"
}

# Each internal name, defined by somebody else, as a function that ends the process.
survives_preload()
{
    internals "$libs/libaxle.so" >"$work/internal"
    {
        echo '#include <stdlib.h>'
        sed 's/.*/void &(void);\nvoid &(void)\n{\n    abort();\n}/' "$work/internal"
    } >"$work/clash.c"
    # shellcheck disable=SC2086
    $CC -shared -fPIC -o "$work/clash.so" "$work/clash.c" && [ -s "$work/internal" ] &&
        LD_PRELOAD=$work/clash.so "$AXLE" info
}

# internals FILE: names that a static library of it would export.
internals()
{
    $NM --defined-only "$1" | sed -n 's/.* [tTbBdDrR] \(axle__[A-Za-z0-9_]*\)$/\1/p' | sort -u
}

# Linked statically they would clash.
share_no_internals()
{
    internals "$libs/libaxle.so" >"$work/core"
    internals "$libs/libaxle-models.so" >"$work/models"
    internals "$libs/libaxle-track.so" >"$work/track"
    [ -s "$work/core" ] && [ -s "$work/models" ] || return 1
    sort "$work/core" "$work/models" "$work/track" | uniq -d >"$work/twice"
    cat "$work/twice"
    [ ! -s "$work/twice" ]
}

check 'libaxle exports the public prefix only' has_public_prefix "$libs/libaxle.so"
check 'libaxle-models exports the public prefix only' has_public_prefix "$libs/libaxle-models.so"
check 'libaxle-track exports the public prefix only' has_public_prefix "$libs/libaxle-track.so"
check 'the libraries export exactly what the headers declare' exports_only_declared
check 'the libraries have no internal name in common' share_no_internals

if [ "$sanitizer" != no ]; then
    skip 'libaxle needs Jansson, zlib, hiredis and the C library only' 'built with a sanitizer'
elif ! command -v readelf >/dev/null 2>&1; then
    skip 'libaxle needs Jansson, zlib, hiredis and the C library only' 'there is no readelf'
else
    check 'libaxle needs Jansson, zlib, hiredis and the C library only' needs_only "$libs/libaxle.so" \
        'libc|libm|libdl|libpthread|ld-linux.*|libjansson|libz|libhiredis|libgcc_s'
fi

for path in "$libs"/backends/*.so; do
    [ -e "$path" ] || continue
    name=$(basename "$path")
    check "$name exports its entry only" exports_entry_only "$path"
    check "$name uses no symbol of libaxle" wants_nothing_of_ours "$path"
done

name='a preloaded library with the names of our internals changes nothing'
if [ "$sanitizer" = no ]; then
    check "$name" survives_preload
else
    skip "$name" 'the library of a sanitizer has to come first'
fi
finish
