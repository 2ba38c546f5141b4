# SPDX-License-Identifier: Apache-2.0
#
# The checks of a training loop, by as many processes: run by p1.sh, p2.sh and p4.sh, which set
# `processes`.
transport=$top_builddir/collectives/gloo/.libs/gloo.so
sockets=$top_builddir/tests/unit/group/.libs/sockets.so
# ThreadSanitizer does not see how Gloo synchronises.
if [ ! -f "$transport" ] || [ "$sanitizer" = thread ]; then
    transport=$sockets
fi
if [ ! -f "$transport" ]; then
    echo '1..0 # SKIP there is no transport'
    exit 0
fi
AXLE_TRANSPORT=$transport
AXLE_BACKEND=reference
export AXLE_TRANSPORT AXLE_BACKEND
exec timeout -k 5 600 "$AXLE" launch --quiet -n "$processes" --threads 1 --timeout 60 \
    "$top_builddir/tests/loop/loop"
