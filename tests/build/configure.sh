# SPDX-License-Identifier: Apache-2.0
#
# configure refuses what it cannot do, and says what and why.
. "$top_srcdir/tests/tap.sh"
takes_long
[ "${sanitizer-no}" = no ] || skip_all "configure does the same in every build"

# The source tree as links, without what a build inside of it has made of it: configure refuses a
# source tree that is configured itself.
link_source()
{
    mkdir "$1"
    for path in "$top_srcdir"/*; do
        case ${path##*/} in
            config.status | Makefile | _build | _inst) ;;
            *) ln -s "$path" "$1/" ;;
        esac
    done
}

link_source "$work/source"
link_source "$work/source tree"
configure=$work/source/configure

# in_folder FOLDER COMMAND...
in_folder()
{
    mkdir -p "$1"
    (cd "$1" && shift && env -u CFLAGS -u CPPFLAGS -u LDFLAGS "$@" --cache-file="$work/cache")
}

# configure sweeps up core dumps; a folder of that name must not stop its sweep.
configures_around_core()
{
    mkdir -p "$work/core-dir/core"
    in_folder "$work/core-dir" "$configure" --with-onednn=no --with-zlib=no \
        --with-cmocka=no >"$work/core-dir.out" 2>&1 || return 1
    cat "$work/core-dir.out"
    ! grep -i "cannot remove" "$work/core-dir.out" && [ -d "$work/core-dir/core" ] &&
        [ ! -e "$work/core-dir/confdefs.h" ]
}

# A pkg-config that knows everything but zlib.
cat >"$work/pkg-config" <<'END'
#!/bin/sh
case "$*" in *zlib*) exit 1 ;; esac
exec pkg-config "$@"
END
chmod +x "$work/pkg-config"

check_fails 'an unknown option is an error that names it' 'unrecognized options: --with-onedn' \
    in_folder "$work/unknown" "$configure" --with-onedn
check_fails 'a build folder with a space in its path is an error' 'contains white space' \
    in_folder "$work/a b" "$configure"

check_fails 'a source folder with a space in its path is an error' 'contains white space' \
    in_folder "$work/spaced-source" "$work/source tree/configure"

check_fails 'a value other than yes, no and auto is an error' 'must be yes, no or auto' \
    in_folder "$work/value" "$configure" --with-zlib=perhaps
check_fails 'a sanitizer that does not exist is an error' '--with-sanitizer=adress' \
    in_folder "$work/sanitizer" "$configure" --with-sanitizer=adress
check_fails 'a prefix without oneDNN is an error' 'no /nonexistent/include/dnnl.h' \
    in_folder "$work/prefix" "$configure" --with-onednn=/nonexistent
check_fails 'an explicit request that cannot be met is an error' '--with-zlib cannot be met' \
    in_folder "$work/request" "$configure" --with-zlib=yes PKG_CONFIG="$work/pkg-config"
check 'everything optional can be turned off, beside a folder named core' configures_around_core
finish
