#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# bench/slow_link.sh [OPTION]...: what hides behind backward where the link is as slow as backward.
# Two processes of one thread each measure `axle bench overlap OPTION...` twice in a network
# namespace of their own: first over plain loopback, then over loopback slowed by tc(8) so that sums
# of all gradients take as long as backward did. Prints the second line of JSON, with the rate. AXLE
# names the program. Needs the rights to make network namespaces; exits with 77 without them.
AXLE=${AXLE:-axle}
line=${TMPDIR:-/tmp}/axle-slow-link.$$
trap 'rm -f "$line"' EXIT

measure()
{
    "$AXLE" launch --quiet -n 2 --threads 1 "$AXLE" bench overlap --json "$@"
}

# value KEY: a number of the line.
value()
{
    sed -n "s/.*\"$1\":\\([0-9.e+-]*\\).*/\\1/p" "$line"
}

if [ "${AXLE_SLOW_LINK-}" != inside ]; then
    unshare --net true 2>/dev/null || { echo 'slow_link: network namespaces are not permitted' >&2; exit 77; }
    AXLE_SLOW_LINK=inside exec unshare --net "$0" "$@"
fi
unset AXLE_SLOW_LINK
ip link set lo up && tc qdisc add dev lo root tbf rate 1gbit burst 1mb latency 100ms &&
    tc qdisc del dev lo root || { echo 'slow_link: tc(8) has no token bucket filter' >&2; exit 77; }

# Each process sends every number once, 4 bytes, so that 64 bits a parameter pass.
measure "$@" >"$line" || exit 1
rate=$(echo "$(value parameters) $(value backward_ms)" | awk '{ printf "%d", 64 * $1 / $2 }')
tc qdisc add dev lo root tbf rate "${rate}kbit" burst 1mb latency 100ms || exit 1
measure "$@" >"$line" || exit 1
sed "s/}\$/,\"link_kbit\":$rate}/" "$line"
