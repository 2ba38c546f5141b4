# SPDX-License-Identifier: Apache-2.0
#
# What the tests of axle launch share. Sources tests/cli/support.sh. Nothing is read from a
# configuration of the user's own, and no launch takes longer than a limit.
. "$top_srcdir/tests/cli/support.sh"

XDG_CONFIG_HOME=$work/config
export XDG_CONFIG_HOME
unset OMP_NUM_THREADS

launch()
{
    timeout -k 5 60 "$AXLE" launch "$@"
}

# Prints variables that a child gets, in one line: show NAME...
cat >"$work/show" <<'END'
#!/bin/sh
line=
for name; do
    eval "line=\"\$line $name=\$$name\""
done
echo "$line"
END
chmod +x "$work/show"
show=$work/show

# says FILE PATTERN...: whether each is a line of the file.
says()
{
    says_file=$1
    shift
    for says_pattern; do
        grep -qx -e "$says_pattern" "$says_file" ||
            { echo "no line: $says_pattern"; cat "$says_file"; return 1; }
    done
}

# children_of NAME: processes of the test's own whose command line has that name.
children_of()
{
    for entry in /proc/[0-9]*; do
        if [ "${entry#/proc/}" != "$$" ] && tr '\0' ' ' 2>/dev/null <"$entry/cmdline" | grep -q -e "$1"; then
            echo "${entry#/proc/}"
        fi
    done
}

# none_left NAME SECONDS: whether within that time none is left.
none_left()
{
    for _ in $(seq $(($2 * 20))); do
        [ -n "$(children_of "$1")" ] || return 0
        sleep 0.05
    done
    echo "processes are left:"
    for process in $(children_of "$1"); do
        tr '\0' ' ' <"/proc/$process/cmdline"
        echo
    done
    return 1
}

# within FILE COUNT: wait until the file has so many lines.
within()
{
    for _ in $(seq 400); do
        [ "$(wc -l <"$1" 2>/dev/null || echo 0)" -lt "$2" ] || return 0
        sleep 0.05
    done
    echo "$1 has too few lines:"
    cat "$1"
    return 1
}

# A program of its own name, so that its processes are found: it says that it runs, and sleeps.
# The sleeps are its children.
sleeper=$work/sleeper
cat >"$sleeper" <<'END'
#!/bin/sh
echo "runs $RANK"
sleep 600
END
chmod +x "$sleeper"
