# SPDX-License-Identifier: Apache-2.0
#
# Every public header compiles alone, in C and in C++, and is installed.
. "$top_srcdir/tests/tap.sh"

# compile LANGUAGE HEADER COMPILER...
compile()
{
    source=$work/alone.$1
    printf '#include "axle/%s"\n' "$2" >"$source"
    shift 2
    "$@" -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" -fsyntax-only "$source"
}

has_cxx=no
printf 'int main() { return 0; }\n' >"$work/probe.cc"
# shellcheck disable=SC2086 # CC and CXX may hold options
$CXX -fsyntax-only "$work/probe.cc" 2>/dev/null && has_cxx=yes

for path in "$top_srcdir"/include/axle/*.h; do
    header=$(basename "$path")
    # shellcheck disable=SC2086
    check "$header compiles alone as C11" compile c "$header" $CC -std=c11
    if [ "$has_cxx" = yes ]; then
        # shellcheck disable=SC2086
        check "$header compiles alone as C++17" compile cc "$header" $CXX -std=c++17
    else
        skip "$header compiles alone as C++17" 'there is no C++ compiler'
    fi
    case " $public_headers " in
        *" include/axle/$header "*) pass "$header is installed" ;;
        *) fail "$header is installed: it is missing in include/local.mk" ;;
    esac
done
finish
