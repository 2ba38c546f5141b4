# SPDX-License-Identifier: Apache-2.0
#
# A staged installation: it touches nothing outside its stage, mentions the stage nowhere, works
# from another place, and is removed without a trace. Runs alone, since installing relinks.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/build/plugin_template.sh"
[ "${sanitizer-no}" = no ] || skip_all "an instrumented build installs the same files"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
stage=$work/stage

# make_in_stage TARGET
make_in_stage()
{
    (cd "$top_builddir" && $MAKE -s "$1" DESTDIR="$stage")
}

files_of()
{
    (cd "$1" && find . ! -type d | sort)
}

stays_below_prefix()
{
    files_of "$stage" | grep -vF -e ".$prefix/" -e ".$libdir/" >"$work/strays"
    cat "$work/strays"
    [ -n "$(files_of "$stage")" ] && [ ! -s "$work/strays" ]
}

mentions_no_stage()
{
    ! grep -rlF -e "$stage" "$stage"
}

# Debugging information names the source files; what the loader reads must not.
mentions_no_build_tree()
{
    find "$stage" -type f \( -name '*.so*' -o -perm -100 \) -exec readelf -d {} + 2>/dev/null |
        grep -E 'RPATH|RUNPATH' >"$work/run-paths"
    ! grep -F -e "$top_builddir" "$work/run-paths" && ! grep -rlF -e "$top_builddir" \
        --include='*.la' --include='*.pc' "$stage"
}

has_expanded_plugin_folder()
{
    strings -a "$stage$libdir/libaxle.so" >"$work/strings"
    grep -qxF "$libdir/axle/backends" "$work/strings" || grep -qxF "$libdir/axle" "$work/strings" ||
        { grep backends "$work/strings"; return 1; }
    ! grep -F -e '${exec_prefix}' -e '${prefix}' "$work/strings"
}

# The files that the installed documents point to are installed with them.
documents_link_to_files()
{
    documents=$(dirname "$(find "$stage" -name README.md -path '*doc*' | head -n 1)")
    [ -f "$documents/README.md" ] || return 1
    for document in "$documents"/*.md; do
        grep -o '](\([^)#:]*\))' "$document" | sed 's/^](//; s/)$//' >"$work/links"
        while read -r link; do
            [ -e "$documents/$link" ] || { echo "$document: there is no $link"; return 1; }
        done <"$work/links"
    done
}

holds_backends()
{
    for path in "$top_builddir"/.libs/backends/*.so; do
        [ ! -e "$path" ] || [ -e "$stage$libdir/axle/backends/$(basename "$path")" ] || return 1
    done
}

# The moved program with a clean environment.
moved()
{
    env -u LD_LIBRARY_PATH "$work/moved${bindir#"$prefix"}/axle" "$@"
}

finds_backends_after_move()
{
    cp -a "$stage$prefix" "$work/moved" && moved info --json >"$work/info" || return 1
    for path in "$top_builddir"/.libs/backends/*.so; do
        [ ! -e "$path" ] || grep -q "$work/moved.*/$(basename "$path")" "$work/info" ||
            { cat "$work/info"; return 1; }
    done
}

# A program that knows of the installed tree what pkg-config tells it.
builds_against_installed()
{
    printf '#include "axle/axle.h"\nint main(void) { return AXLE_OK; }\n' >"$work/user.c"
    flags=$(PKG_CONFIG_PATH="$stage$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$stage" \
        pkg-config --cflags --libs axle-models axle-track axle) || return 1
    # shellcheck disable=SC2086 # CC and flags are lists
    $CC -o "$work/user" "$work/user.c" $flags -Wl,-rpath-link,"$stage$libdir"
}

leaves_nothing()
{
    make_in_stage uninstall || return 1
    files_of "$stage"
    [ -z "$(files_of "$stage")" ]
}

check 'make install into a stage succeeds' make_in_stage install
check 'it installs below the prefix only' stays_below_prefix
check 'no installed file names the stage' mentions_no_stage
check 'no run path, .la or .pc file names the build tree' mentions_no_build_tree
check 'documents link to files that are installed' documents_link_to_files
check 'backends lie in the library folder' holds_backends
check 'the folder of backends is compiled in with its variables expanded' has_expanded_plugin_folder
check 'a moved tree finds its library and its backends' finds_backends_after_move
check 'a program builds with the installed pkg-config files' builds_against_installed
check_template "$work/moved"
check 'make uninstall leaves nothing' leaves_nothing
finish
