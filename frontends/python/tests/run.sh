# SPDX-License-Identifier: Apache-2.0
#
# The tests of the Python package, with each Python of this machine.
. "$top_srcdir/tests/tap.sh"

[ -e "$top_builddir/.libs/libaxle.so" ] || skip_all 'libaxle was built without a shared library'
case "${sanitizer:-no}" in
no | '') ;;
*) skip_all "Python is not built with the $sanitizer sanitizer" ;;
esac

AXLE_LIBRARY=$top_builddir/.libs
PYTHONPATH=$top_srcdir/frontends/python
PYTHONDONTWRITEBYTECODE=1
export AXLE_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE

# Different Pythons from 3.9 on, each once.
pythons()
{
    for python in python3 /usr/bin/python3 /usr/local/bin/python3; do
        "$python" -c 'import os, sys
if sys.version_info >= (3, 9):
    print(os.path.realpath(sys.executable))' 2>/dev/null
    done | sort -u
}

pythons >"$work/pythons"
[ -s "$work/pythons" ] || skip_all 'there is no Python 3.9 or newer'
while read -r python; do
    name=$("$python" -c 'import platform; print("Python " + platform.python_version())')
    printf '%s\n' 1 1 >"$work/counts" # should it end before it can tell
    "$python" "$top_srcdir/frontends/python/tests/tap.py" "$name" "$work/counts" </dev/null ||
        echo "not ok - $name: the tests run to their end"
    tap_count=$((tap_count + $(sed -n 1p "$work/counts")))
    tap_failed=$((tap_failed + $(sed -n 2p "$work/counts")))
done <"$work/pythons"
finish
