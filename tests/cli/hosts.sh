# SPDX-License-Identifier: Apache-2.0
#
# Hosts that are network namespaces, joined by a bridge: training over a network, and what happens
# when a host is cut off. Each host's table of names says 127.0.1.1 for its own name, as Debian's
# installer writes it.
. "$top_srcdir/tests/cli/launch_support.sh"
takes_long

[ -f "$top_builddir/collectives/gloo/.libs/gloo.so" ] || skip_all 'the Gloo transport was not built'
[ "$sanitizer" != thread ] || skip_all 'ThreadSanitizer does not see how Gloo synchronises'
command -v ip >/dev/null 2>&1 || skip_all 'there is no ip(8)'
command -v unshare >/dev/null 2>&1 || skip_all 'there is no unshare(1)'

prefix=axle$$
hosts='1 2 3'

take_down()
{
    for host in $hosts; do
        ip netns del "$prefix-$host" 2>/dev/null
    done
    ip netns del "$prefix-0" 2>/dev/null
}
trap 'take_down; chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT

# The bridge is in a namespace of its own: nothing of this machine's network changes.
set_up()
{
    ip netns add "$prefix-0" && ip -n "$prefix-0" link add bridge type bridge &&
        ip -n "$prefix-0" link set bridge up || return 1
    for host in $hosts; do
        ip netns add "$prefix-$host" &&
            ip -n "$prefix-$host" link add eth0 type veth peer name "port$host" netns "$prefix-0" &&
            ip -n "$prefix-0" link set "port$host" master bridge up &&
            ip -n "$prefix-$host" address add "10.77.0.$host/24" dev eth0 &&
            ip -n "$prefix-$host" link set eth0 up && ip -n "$prefix-$host" link set lo up || return 1
        for other in $hosts; do
            if [ "$other" -eq "$host" ]; then
                echo "127.0.1.1 node$other"
            else
                echo "10.77.0.$other node$other"
            fi
        done >"$work/hosts.$host"
        echo '127.0.0.1 localhost' >>"$work/hosts.$host"
    done
}

set_up >"$work/set-up" 2>&1 || skip_all 'network namespaces are not permitted here'

# on HOST COMMAND...: with the host's name and table of names.
on()
{
    on_host=$1
    shift
    # shellcheck disable=SC2016 # for the inner shell
    ip netns exec "$prefix-$on_host" unshare --mount --uts sh -c \
        'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"' \
        "$work/hosts.$on_host" "node$on_host" "$@"
}

on 1 true >/dev/null 2>&1 || skip_all 'mount namespaces are not permitted here'

idx_folder "$work/data" 67 8

# start HOSTS TIMEOUT OPTION...: a rank on each host, in the background; wait with `end`.
start()
{
    start_hosts=$1
    start_timeout=$2
    shift 2
    start_count=$(echo "$start_hosts" | wc -w)
    for host in $start_hosts; do
        on "$host" env AXLE_TIMEOUT="$start_timeout" timeout -k 5 120 "$AXLE" launch --quiet -n 1 \
            --num-hosts "$start_count" --host-rank $((host - 1)) --main-address node1 --main-port 29511 \
            --backend reference "$AXLE" train --quiet --json --no-eval --model mlp --data "$work/data" \
            "$@" >"$work/out.$host" 2>"$work/err.$host" &
        eval "process_$host=\$!"
    done
}

# Exit codes go into code_HOST, the times into at_HOST.
end()
{
    for host in $1; do
        eval "wait \$process_$host"
        eval "code_$host=\$?; at_$host=\$(date +%s)"
    done
}

train_together()
{
    start "$hosts" 60 --batch-size 5 --epochs 4 --dtype f64 --loss-log "$work/log"
    end "$hosts"
    # shellcheck disable=SC2154 # set by eval
    [ "$code_1$code_2$code_3" = 000 ] || { tail "$work"/out.? "$work"/err.?; return 1; }
    tail -n 1 "$work/out.1" >"$work/result.json"
    [ "$("$json" "$work/result.json" parameters_equal)" = true ] &&
        [ "$("$json" "$work/result.json" processes)" = 3 ] || { cat "$work/result.json"; return 1; }
    AXLE_BACKEND=reference "$AXLE" train --quiet --no-eval --model mlp --data "$work/data" --batch-size 15 \
        --epochs 4 --dtype f64 --loss-log "$work/alone" >/dev/null || return 1
    paste -d ' ' "$work/log" "$work/alone" | awk '
        { d = $2 - $4; if (d > 1e-10 || d < -1e-10) { print; bad = 1 } } END { exit bad || NR != 20 }'
}

# The network as before: hosts forget that they could not reach one another.
mend()
{
    ip -n "$prefix-0" link set "port$1" up
    sleep 1
    for host in $hosts; do
        ip -n "$prefix-$host" neighbour flush dev eth0
    done
}

# The timeout is 6 s: errors come 8 s after the cut at most, and processes take a while to end.
cut_off()
{
    lost=$1
    start "$hosts" 6 --batch-size 5 --epochs 1000000
    sleep 5
    cut=$(date +%s)
    ip -n "$prefix-0" link set "port$lost" down
    end "$hosts"
    mend "$lost"
    for host in $hosts; do
        eval "code=\$code_$host at=\$at_$host"
        # shellcheck disable=SC2154 # set by eval
        [ "$code" -ne 0 ] && [ "$code" -lt 124 ] && [ $((at - cut)) -le 10 ] ||
            { echo "host $host: exit $code after $((at - cut)) s"; tail -n 5 "$work"/err.?; return 1; }
        [ "$host" -eq "$lost" ] || grep -q "rank $((lost - 1))" "$work/err.$host" ||
            { echo "host $host does not name rank $((lost - 1)):"; cat "$work/err.$host"; return 1; }
    done
}

# Two hosts reach rank 0's, and not each other.
walled_off()
{
    ip -n "$prefix-3" neighbour replace 10.77.0.2 lladdr 02:00:00:00:00:99 dev eth0 nud permanent
    begun=$(date +%s)
    start "$hosts" 6 --batch-size 5
    end "$hosts"
    ip -n "$prefix-3" neighbour del 10.77.0.2 dev eth0
    for host in $hosts; do
        eval "code=\$code_$host at=\$at_$host"
        [ "$code" -ne 0 ] && [ "$code" -lt 124 ] && [ $((at - begun)) -le 14 ] ||
            { echo "host $host: exit $code after $((at - begun)) s"; tail -n 5 "$work"/err.?; return 1; }
    done
}

check 'three hosts, whose names stand for 127.0.1.1 at home, train to the numbers of one' train_together
check 'a host is cut off: all end in time, and name it' cut_off 3
check "rank 0's host is cut off: all end in time, and name it" cut_off 1
check 'hosts that can not reach each other give up in time' walled_off
finish
