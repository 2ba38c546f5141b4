# SPDX-License-Identifier: Apache-2.0
#
# axle backend-check passes the backends that there are, and finds what is wrong with one that is
# broken on purpose, in the row that it belongs to.
. "$top_srcdir/tests/cli/support.sh"

# A crash is to reach the command, which a sanitizer would make an exit of.
ASAN_OPTIONS=handle_segv=0:${ASAN_OPTIONS-}
TSAN_OPTIONS=handle_segv=0:${TSAN_OPTIONS-}
export ASAN_OPTIONS TSAN_OPTIONS

# backend_check ARGUMENT...
backend_check()
{
    timeout 800 "$AXLE" backend-check "$@" >"$work/out" 2>"$work/err"
}

# passes ARGUMENT...: no row fails, and some pass.
passes()
{
    backend_check "$@" && tail -n 1 "$work/out" | grep -qE '^[1-9][0-9]* passed, 0 failed, [0-9]+ on the host$' ||
        { tail -n 40 "$work/out" "$work/err"; return 1; }
}

# finds SETTINGS GROUP MESSAGE [OPTION...]: the fake backend, so broken, fails in that group with a
# line that matches, and in no other group.
finds()
{
    finds_settings=$1
    finds_group=$2
    finds_message=$3
    shift 3
    AXLE_FAKE=$finds_settings backend_check "$FAKE_PLUGIN" --json --quick "$@"
    [ $? -eq 1 ] || { echo "it does not exit with 1"; tail -n 20 "$work/out" "$work/err"; return 1; }
    "$json" "$work/out" rows '*' group status message | grep ' failed ' >"$work/failed"
    grep -q "^$finds_group failed .*$finds_message" "$work/failed" &&
        ! grep -v "^$finds_group failed" "$work/failed" || { head -n 20 "$work/failed"; return 1; }
}

# The command that a failed row prints fails in that row again.
command_reproduces()
{
    AXLE_FAKE=op_wrong=square backend_check "$FAKE_PLUGIN" --quick --seed 7
    again=$(sed -n 's/^  again: axle backend-check //p' "$work/out")
    [ "$again" = "$FAKE_PLUGIN --op unary --dtype f32 --seed 7 --quick" ] ||
        { echo "again: $again"; return 1; }
    # shellcheck disable=SC2086 # these are words
    AXLE_FAKE=op_wrong=square backend_check $again
    [ $? -eq 1 ] && grep -q 'unary f32: square' "$work/out"
}

# Every operator has rows.
lists_all_operators()
{
    backend_check reference --list || return 1
    "$AXLE" info --json >"$work/info.json" || return 1
    sed -n 's/^0 \([a-z0-9_]*\) f32: .*/\1/p' "$work/out" | sort -u >"$work/listed"
    "$json" "$work/info.json" operators | tr -d '[]"' | tr ',' '\n' | sort >"$work/operators"
    diff "$work/operators" "$work/listed"
}

table_is_narrow()
{
    backend_check "$FAKE_PLUGIN" --op unary || return 1
    ! grep -vE '/' "$work/out" | grep -E '.{81}'
}

json_is_whole()
{
    backend_check reference --json --op copy --dtype f32 || return 1
    [ "$("$json" "$work/out" backend)" = reference ] && [ "$("$json" "$work/out" failed)" = 0 ] &&
        [ "$("$json" "$work/out" passed)" = "$("$json" "$work/out" rows '*' status | grep -c passed)" ]
}

check 'every operator has rows' lists_all_operators
# Sanitizers watch the code, which fewer shapes go through as well.
quick=
[ "$sanitizer" = no ] || quick=--quick
# shellcheck disable=SC2086 # an option or none
check 'the reference passes' passes reference $quick
# shellcheck disable=SC2086
check 'so does the fake backend, as long as it behaves' passes "$FAKE_PLUGIN" $quick
AXLE_FAKE=lazy
export AXLE_FAKE
check 'and with queues that put work off' passes "$FAKE_PLUGIN" --quick
AXLE_FAKE=missing_slots
check 'and with nothing but the slots that it needs' passes "$FAKE_PLUGIN" --quick
unset AXLE_FAKE
if has_backend onednn; then
    check 'oneDNN passes' passes onednn --quick
fi
if has_backend opencl; then
    # Kernels are compiled at their first use, so a few operators stand for all.
    for group in interface device memory queues philox threads exhaustion exit sgd adam; do
        check "OpenCL passes, $group" passes opencl --quick --op $group
    done
fi

check 'a wrong result is found' finds op_wrong=mul binary 'element .* instead of' --op binary
check 'an element too many is found' finds op_overrun=add binary 'behind the last element' --op binary
check 'bits that differ from run to run are found' finds op_drift=exp unary 'other bits' --op unary
check 'a crash fails its row alone' finds op_crash=sqrt unary 'it crashed' --op unary
check 'a hang fails its row alone' finds op_hang=neg unary 'did not end within 1 second' --op unary \
    --dtype f32 --timeout 1
check 'a run that fails is found' finds op_fail=div binary 'fails, as asked' --op binary
check 'a claim that does not hold is found' finds prepare_fail=sub binary 'claims it, but op_prepare' \
    --op binary
check 'memory that is not given back is found' finds leak exit 'not given back' --op exit
check 'and by the failing of allocations' finds leak exhaustion 'blocks are lost' --op exhaustion
check 'a slow probe is found' finds probe=slow interface 'ms, 50 are allowed' --op interface
check 'a crash at the start is found' finds init=crash interface 'it crashed'
check 'a hang at the start is found' finds probe=hang interface 'did not end' --timeout 1
check 'a plugin that declines is found' finds init=decline interface 'it declines: fake: declined'
check 'a device that does not open is found' finds open=fail device 'does not open' --op device
check 'another interface is found' finds abi=9 interface 'needs interface 9'
check 'the command of a failed row reproduces it' command_reproduces
check 'the table fits a terminal' table_is_narrow
check 'JSON has the rows and their numbers' json_is_whole

AXLE_FAKE=devices=3
export AXLE_FAKE
check 'each device is checked' passes "$FAKE_PLUGIN" --quick --op device
check 'three of them' test "$(grep -c '^device [0-2]: Fake' "$work/out")" -eq 3
check 'or one alone' passes "$FAKE_PLUGIN" --quick --op device --device 2
unset AXLE_FAKE

exits 'a device that is not there is named' 1 'there is no device 7, only 1' \
    "$AXLE" backend-check reference --device 7
exits 'a device that is no number is refused' 2 "'x' is neither a number nor 'all'" \
    "$AXLE" backend-check reference --device x
exits 'an unknown operator is answered with the nearest one' 2 "did you mean 'matmul'" \
    "$AXLE" backend-check reference --op matmull
exits 'a backend has to be named' 2 'there is no FILE.so|NAME' "$AXLE" backend-check
exits 'one alone' 2 "unexpected argument 'b'" "$AXLE" backend-check a b
exits 'an unknown backend is an error' 2 "there is no backend 'refrence'.*did you mean 'reference'" \
    "$AXLE" backend-check refrence
exits 'so is a file that is not there' 2 "there is no file '/no/such.so'" \
    "$AXLE" backend-check /no/such.so
exits 'a file that is no plugin fails' 1 'can not be loaded' "$AXLE" backend-check "$json"
finish
