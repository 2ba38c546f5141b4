# SPDX-License-Identifier: Apache-2.0
#
# What the rendezvous shows with the server of the tests, with a real one.
. "$top_srcdir/tests/tap.sh"

program=$top_builddir/tests/unit/job/rendezvous_redis
[ -x "$program" ] || skip_all 'hiredis or cmocka was not there'
command -v redis-server >/dev/null || skip_all 'redis-server is not installed'

# Tries a few ports; the server itself says whether it got one.
for port in $(awk 'BEGIN { srand(); for (k = 0; k < 9; k++) print 20000 + int(rand() * 10000) }'); do
    redis-server --bind 127.0.0.1 --port "$port" --requirepass 'a secret%' --save '' \
        --appendonly no --dir "$work" >"$work/server.log" 2>&1 &
    server=$!
    trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
    tries=100
    until grep -qs 'Ready to accept' "$work/server.log"; do
        tries=$((tries - 1))
        if [ $tries -eq 0 ] || ! kill -0 $server 2>/dev/null; then
            kill $server 2>/dev/null
            continue 2
        fi
        sleep 0.1
    done
    break
done
check 'a real server starts' grep -q 'Ready to accept' "$work/server.log"
check 'the rendezvous through a real server' env TEST_REDIS_PORT="$port" "$program"
finish
