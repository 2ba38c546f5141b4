#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [SECONDS [TARGET...]]: build everything with clang's libFuzzer and sanitizers in the folder
# fuzz-build, and fuzz each target for so long (600). New inputs of interest are kept in
# fuzz-build/corpus; an input that harms is a file there whose name begins with crash-, leak- or
# timeout-, and belongs into tests/fuzz/corpus once the fault is mended. Exits 1 if there was one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
seconds=${1:-600}
[ $# -eq 0 ] || shift
build=${FUZZ_BUILD:-$PWD/fuzz-build}
flags='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'

mkdir -p "$build"
cd "$build"
if [ ! -f config.status ]; then
    "$top/configure" --quiet CC="${CC:-clang}" CXX="${CXX:-clang++}" --disable-shared --enable-static \
        --with-onednn=no --with-opencl=no --with-openblas=no --with-gloo=no \
        CFLAGS="$flags -fsanitize=fuzzer-no-link" LDFLAGS='-fsanitize=address,undefined'
fi
make -s -j2 libaxle.la libaxle-models.la
# shellcheck disable=SC2046,SC2086 # lists of words
${CC:-clang} $flags -fsanitize=fuzzer -std=gnu11 -I"$top/include" -o fuzzer "$here"/libfuzzer.c \
    "$here"/targets.c "$here"/folder.c .libs/libaxle-models.a .libs/libaxle.a \
    $(sed -n "s/^dependency_libs='\(.*\)'/\1/p" libaxle-models.la | sed 's/[^ ]*libaxle[^ ]*//g') \
    $(sed -n "s/^dependency_libs='\(.*\)'/\1/p" libaxle.la) -lm -ldl -lpthread
[ $# -gt 0 ] || set -- $(cd "$here/corpus" && ls)
status=0
for target in "$@"; do
    mkdir -p "corpus/$target"
    echo "== $target"
    AXLE_FUZZ_TARGET=$target AXLE_FUZZ_BESIDE=$here/beside/$target ./fuzzer -max_total_time="$seconds" \
        -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="corpus/$target/" \
        "corpus/$target" "$here/corpus/$target" >"$target.log" 2>&1 || { status=1; tail -n 40 "$target.log"; }
    grep -E 'stat::number_of_executed_units|DONE' "$target.log" || :
done
exit $status
