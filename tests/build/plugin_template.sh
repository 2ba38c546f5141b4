# SPDX-License-Identifier: Apache-2.0
#
# The plugin template, as a vendor works with it: copied out of an installation, built with what
# pkg-config says of that installation, installed into it, and trained on. Before that, the code of
# the tutorial that leads there. tests/build/install.sh sources this and calls check_template with a
# moved installation.

# tutorial_code N: the N-th piece of C in the tutorial.
tutorial_code()
{
    awk -v wanted="$1" '/^```/ { inside = $0 == "```c"; n += inside; next } inside && n == wanted' \
        "$tutorial"
}

tutorial_build()
{
    # shellcheck disable=SC2046,SC2086 # CC and flags are lists
    $CC -Wall -Wextra -Wpedantic -Werror -shared -fPIC -o "$work/tutorial/mychip.so" "$1" \
        $(template_pkg_config --cflags axle-backend)
}

# Train LeNet and print how many operators the host ran.
tutorial_fallbacks()
{
    (AXLE_PLUGIN_PATH=$work/tutorial AXLE_BACKEND=mychip moved train --max-steps 2 --no-eval --quiet --json) |
        sed -n 's/.*"backend":"mychip".*"fallbacks":\([0-9]*\).*/\1/p'
}

tutorial_trains_without_operators()
{
    tutorial=$(find "$template_root" -name backend-tutorial.md)
    mkdir "$work/tutorial" && tutorial_code 1 >"$work/tutorial/memory.c" &&
        tutorial_build "$work/tutorial/memory.c" && AXLE_PLUGIN_PATH=$work/tutorial moved info | grep '^  mychip ' &&
        [ "$(tutorial_fallbacks)" -gt 0 ]
}

tutorial_trains_with_an_operator()
{
    without=$(tutorial_fallbacks)
    tutorial_code 2 >"$work/tutorial/operator"
    tutorial_code 3 >"$work/tutorial/slots"
    awk -v operator="$work/tutorial/operator" -v slots="$work/tutorial/slots" '
        /^static const axle_device_api/ { while ((getline line <operator) > 0) print line }
        { print }
        /buffer_map = buffer_map/ { while ((getline line <slots) > 0) print line }' \
        "$work/tutorial/memory.c" >"$work/tutorial/operator.c"
    tutorial_build "$work/tutorial/operator.c" && with=$(tutorial_fallbacks) || return 1
    echo "$without and then $with operators ran on the host"
    [ "$with" -lt "$without" ]
}

template_copy()
{
    template=$work/template
    cp -R "$(find "$1" -type d -name plugin-template)" "$template"
}

# At most 399 lines, so that one can read it all before one begins.
template_is_small()
{
    cat "$template"/*.[ch] | awk 'END { print NR; exit NR == 0 || NR >= 400 }'
}

template_has_no_warning()
{
    for std in c99 c11; do
        # shellcheck disable=SC2046,SC2086 # CC and flags are lists
        (cd "$template" && $CC -std=$std -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
            $(template_pkg_config --cflags axle-backend) ./*.c) || return 1
    done
}

template_pkg_config()
{
    PKG_CONFIG_PATH=$template_root${libdir#"$prefix"}/pkgconfig \
        pkg-config --define-variable=prefix="$template_root" "$@"
}

# The version in axle-backend.pc is the one of the header beside it.
template_knows_its_interface()
{
    grep "^#define AXLE_ABI_MAJOR $(template_pkg_config --variable=abi_major axle-backend)u\$" \
        "$template_root/include/axle/backend.h"
}

template_configure()
{
    (cd "$template" && autoreconf -i && ./configure -q CC="$CC" \
        PKG_CONFIG="pkg-config --define-variable=prefix=$template_root" \
        PKG_CONFIG_PATH="$template_root${libdir#"$prefix"}/pkgconfig")
}

template_exports_its_entry_only()
{
    [ "$($NM -D --defined-only "$template/.libs/template.so" |
        awk '$3 !~ /^_/ { print $3 }')" = axle_plugin_init_v1 ] &&
        ! $NM -D --undefined-only "$template/.libs/template.so" | grep -i axle
}

# Into the folder that pkg-config names, and nowhere but below the moved tree.
template_install()
{
    template_folder=$(template_pkg_config --variable=backenddir axle-backend) || return 1
    case $template_folder in
        "$template_root"/*) ;;
        *) echo "it would be installed into $template_folder"; return 1 ;;
    esac
    (cd "$template" && $MAKE -s install) && [ -e "$template_folder/template.so" ] &&
        moved info | grep "^  template .*$template_folder/template.so"
}

# template_losses BACKEND LOG
template_losses()
{
    AXLE_BACKEND=$1 moved train --model lenet --seed 1 --max-steps 5 --no-eval --quiet --loss-log "$2"
}

template_trains_like_reference()
{
    template_losses reference "$work/expected" && template_losses template "$work/losses" &&
        paste -d ' ' "$work/expected" "$work/losses" | awk '
            { d = $2 - $4; d = d < 0 ? -d : d }
            NF != 4 || $1 != $3 || !(d <= 1e-5 * $2) { print; bad = 1 }
            END { exit bad || NR != 5 }'
}

# passes_backend_check NAME PLUGIN
passes_backend_check()
{
    if moved backend-check --help >/dev/null 2>&1; then
        check "$1 passes axle backend-check" moved backend-check --quick "$2"
    else
        skip "$1 passes axle backend-check" 'this axle has no backend-check'
    fi
}

# check_template FOLDER
check_template()
{
    template_root=$1
    command -v pkg-config >/dev/null 2>&1 || {
        skip 'the plugin template builds against a moved installation' 'there is no pkg-config'
        return
    }
    check 'axle-backend.pc and backend.h are of one interface' template_knows_its_interface
    check 'the first backend of the tutorial trains LeNet on the host' tutorial_trains_without_operators
    check 'with an operator of its own it needs the host less' tutorial_trains_with_an_operator
    passes_backend_check "the tutorial's backend" "$work/tutorial/mychip.so"
    for tool in autoreconf automake libtoolize; do
        command -v $tool >/dev/null 2>&1 || {
            skip 'the plugin template builds against a moved installation' "there is no $tool"
            return
        }
    done
    check 'the plugin template is installed with the documentation' template_copy "$1"
    check 'it has less than 400 lines' template_is_small
    check 'it compiles without warnings as C99 and as C11' template_has_no_warning
    check 'it is configured for the moved installation' template_configure
    check 'it builds' $MAKE -s -C "$template"
    check 'it exports its entry only and links nothing of ours' template_exports_its_entry_only
    passes_backend_check 'the template' "$template/.libs/template.so"
    check 'it is installed where the moved axle looks for backends' template_install
    check 'LeNet trains on it with the losses of the reference' template_trains_like_reference
}
