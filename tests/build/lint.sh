# SPDX-License-Identifier: Apache-2.0
#
# `make lint`: what a reviewer should not have to say. Fails where something is to be done.
cd "$srcdir" || exit 1
status=0

sources()
{
    find include core backends frontends collectives tests examples bench \
        \( -name '*.c' -o -name '*.h' \) 2>/dev/null
}

sources | while read -r file; do
    head -n 1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        echo "lint: $file: its first line is no SPDX line"
    [ "$(wc -l <"$file")" -le 700 ] || echo "lint: $file: longer than 700 lines; split it"
done | grep . && status=1

find frontends/python -name '*.py' | while read -r file; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
        echo "lint: $file: its first line is no SPDX line"
    case $file in */_abi.py) continue ;; esac # it is generated
    [ "$(wc -l <"$file")" -le 700 ] || echo "lint: $file: longer than 700 lines; split it"
    awk -v file="$file" 'length > 100 { print "lint: " file ":" NR ": longer than 100 columns" }' "$file"
done | grep . && status=1

if command -v clang-format >/dev/null 2>&1; then
    sources | while read -r file; do
        clang-format --dry-run --Werror "$file" >/dev/null 2>&1 ||
            echo "lint: $file: run clang-format -i on it"
    done | grep . && status=1
else
    echo 'lint: clang-format is not installed; formatting was not checked'
fi

# What cppcheck finds is advice: it is wrong about some macros and buffers.
if command -v cppcheck >/dev/null 2>&1; then
    # shellcheck disable=SC2046 # file names have no spaces
    cppcheck --quiet --std=c11 --enable=warning --inline-suppr \
        --suppress=missingIncludeSystem -Iinclude -Icore $(sources | grep '\.c$')
else
    echo 'lint: cppcheck is not installed; it was not run'
fi
exit $status
