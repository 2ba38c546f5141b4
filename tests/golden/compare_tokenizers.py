#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare tokenizers with the library `tokenizers`, line by line, and in speed.

usage: compare_tokenizers.py PROGRAM [--lines N] [--fuzzed N] [--speed RUNS] [--size N]
                             [--translations FOLDER] [--folder FOLDER]... [--work FOLDER]

PROGRAM is tests/tokenizers/encode_lines of a build. Texts are Debian's translated package
descriptions (*Translation-* files of apt, as `apt-get update -o Acquire::Languages=de,fr,ja`
fetches them) and the manual pages in /usr/share/man, in whatever languages there are, some of them
as mojibake; and lines of random code points. A vocabulary of each family is trained on them; a
--folder with a tokenizer.json is compared, too.

Ids, offsets and words of each line are compared; both programs run on one thread. Exits 1 if a line
differs.
"""

import argparse
import gzip
import os
import pathlib
import random
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
sys.dont_write_bytecode = True

from tokenizers import Tokenizer  # noqa: E402

import tokenizer_oracle as oracle  # noqa: E402


def translations(folder):
    for path in sorted(pathlib.Path(folder).glob("*Translation-*")):
        if path.suffix == ".lz4":
            data = subprocess.run(["lz4cat", path], capture_output=True, check=True).stdout
        else:
            data = path.read_bytes()
        for line in data.decode("utf-8", "replace").split("\n"):
            if line.startswith((" ", "Description-")) and line != " .":
                yield line.split(": ", 1)[-1] if line[0] == "D" else line[1:]


def manuals():
    for path in sorted(pathlib.Path("/usr/share/man").rglob("*.gz")):
        if path.is_file():
            data = gzip.decompress(path.read_bytes())
            yield from data.decode("utf-8", "replace").split("\n")[:200]


def mixed(options):
    draw = random.Random(1)
    pools = [list(translations(options.translations)), list(manuals())]
    pools = [pool for pool in pools if pool]
    lines = [draw.choice(pools[k % len(pools)]) for k in range(options.lines)]
    return [oracle.mojibake(line) if k % 20 == 0 else line for k, line in enumerate(lines)]


def expected(tokenizer, line):
    encoding = tokenizer.encode(line)
    starts = [0]
    for char in line:
        starts.append(starts[-1] + len(char.encode("utf-8")))
    words = (-1 if word is None else word for word in encoding.word_ids)
    return "|".join((" ".join(map(str, encoding.ids)),
                     " ".join(f"{starts[a]},{starts[b]}" for a, b in encoding.offsets),
                     " ".join(map(str, words))))


def compare(options, folder, path, lines):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ours = subprocess.run([options.program, folder, path], capture_output=True, check=True,
                          text=True, encoding="utf-8").stdout.split("\n")
    different = 0
    for line, got in zip(lines, ours, strict=False):
        want = expected(tokenizer, line)
        if want != got:
            different += 1
            if different <= options.show:
                print(f"  {line!r}\n    theirs {want}\n    ours   {got}")
    if len(ours) != len(lines) + 1:
        print(f"  {len(ours) - 1} lines came back")
        different += 1
    return different, tokenizer


def speed(options, folder, path, lines, tokenizer):
    """Their seconds over ours, the best of each."""
    theirs, ours = [], []
    for _ in range(options.speed):
        begin = time.perf_counter()
        for line in lines:
            tokenizer.encode(line)
        one = time.perf_counter() - begin
        begin = time.perf_counter()
        tokenizer.encode_batch(lines)
        theirs.append(min(one, time.perf_counter() - begin))
        ours.append(float(subprocess.run([options.program, folder, path, "1"], check=True,
                                         capture_output=True).stdout))
    return min(theirs), min(ours)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("program")
    parser.add_argument("--lines", type=int, default=100000)
    parser.add_argument("--fuzzed", type=int, default=20000)
    parser.add_argument("--speed", type=int, default=0)
    parser.add_argument("--size", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--translations", default="/var/lib/apt/lists")
    parser.add_argument("--folder", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--work", default="compare_tokenizers.tmp", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    real, random_lines = mixed(options), oracle.fuzzed(options.fuzzed, options.seed)
    paths = {}
    for name, lines in (("real", real), ("fuzzed", random_lines)):
        paths[name] = options.work / f"{name}.txt"
        paths[name].write_text("".join(line + "\n" for line in lines), encoding="utf-8",
                               newline="\n")
    folders = list(options.folder)
    for family, make in oracle.FAMILIES.items():
        folders.append(options.work / family)
        if not (folders[-1] / "tokenizer.json").exists():
            oracle.write(folders[-1], *make(real[:40000], options.size))
    failed = False
    for folder in folders:
        real_bad, tokenizer = compare(options, folder, paths["real"], real)
        fuzzed_bad, _ = compare(options, folder, paths["fuzzed"], random_lines)
        failed |= real_bad + fuzzed_bad > 0
        text = f"{folder.name}: {real_bad} of {len(real)} lines differ, " \
               f"{fuzzed_bad} of {len(random_lines)} fuzzed ones"
        if options.speed:
            theirs, ours = speed(options, folder, paths["real"], real, tokenizer)
            text += f"; {ours:.2f} s, theirs {theirs:.2f} s, {theirs / ours:.1f} times as fast"
        print(text, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
