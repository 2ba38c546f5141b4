# SPDX-License-Identifier: Apache-2.0
#
# TAP for shell tests. A test sources this file, makes its checks and ends with `finish`:
#
#     . "$top_srcdir/tests/tap.sh"
#     check 'true succeeds' true
#     finish
#
# $work is a folder of the test's own, removed at its end.

tap_count=0
tap_failed=0

if [ -z "${top_srcdir-}" ] || [ -z "${top_builddir-}" ]; then
    echo 'Bail out! run this through make check, which sets its environment'
    exit 1
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/axle-test.XXXXXX") || exit 99
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT

pass()
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

fail()
{
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
}

# skip NAME REASON
skip()
{
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: leave, having tested nothing.
skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

# For tests that take long and have been run in the same configuration: LONG_TESTS=no leaves them out.
takes_long()
{
    [ "${LONG_TESTS-}" != no ] || skip_all 'LONG_TESTS=no leaves the long ones out'
}

diagnose()
{
    sed 's/^/# /' "$@"
}

# check NAME COMMAND...: passes where the command succeeds; its output is shown where it does not.
check()
{
    tap_name=$1
    shift
    if "$@" >"$work/tap.out" 2>&1; then
        pass "$tap_name"
    else
        fail "$tap_name"
        diagnose "$work/tap.out"
    fi
}

# check_fails NAME PATTERN COMMAND...: passes where the command fails and its output matches.
check_fails()
{
    tap_name=$1
    tap_pattern=$2
    shift 2
    if "$@" >"$work/tap.out" 2>&1; then
        fail "$tap_name"
        echo '# it succeeded'
    elif grep -q -e "$tap_pattern" "$work/tap.out"; then
        pass "$tap_name"
    else
        fail "$tap_name"
        echo "# no line matches: $tap_pattern"
        diagnose "$work/tap.out"
    fi
}

finish()
{
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
