#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a training step's time goes, beside what the machine's peaks allow.

    roofline.py [--axle PROGRAM] [--backend B] -- STEP OPTIONS OF axle bench step...

Runs `axle bench step` with AXLE_HOOK=trace. Each operator's limit is the longer of its arithmetic at
the measured peak and its traffic at the measured bandwidth: a product of 1024 x 1024 matrices, and a
triad over arrays that fit into no cache. Traffic counts every operand once, so an operator whose
operands are in a cache may be faster than its limit. Prints a table in Markdown.
"""
import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile


def run(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode:
        sys.exit("roofline: %s: %s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def peaks(args):
    """GFLOP and GB a second."""
    product = run([args.axle, "bench", "matmul", "--shape", "1024x1024x1024", "--backend",
                   args.backend, "--json"])
    triad = run([args.axle, "bench", "optimizer", "--backend", args.backend, "--repeat", "5",
                 "--json"])
    return product["gflops"], triad["bytes"] / triad["limit_ms"] / 1e6


# ---- arithmetic

def dims_of(text):
    return [[int(n) for n in re.findall(r"\d+", dims)] for dims in re.findall(r"\(([^)]*)\)", text)]


def count(dims):
    product = 1
    for n in dims:
        product *= n
    return product


def matmul(ins, outs):
    return 2 * count(outs[0]) * ins[0][-1]


def conv(ins, outs):
    return 2 * count(outs[0]) * count(ins[1][1:])


def conv_backward_data(ins, _):
    return 2 * count(ins[0]) * count(ins[1][1:])


def conv_backward_weight(ins, outs):
    return 2 * count(ins[0]) * count(outs[0][1:])


def attention(ins, _):
    query, key, value = ins[:3]
    return 2 * count(query[:3]) * key[2] * (query[3] + value[3])


def attention_backward(ins, outs):
    return attention(ins[1:], outs) * 5 // 2


FLOPS = {f.__name__: f for f in (matmul, conv, conv_backward_data, conv_backward_weight, attention,
                                 attention_backward)}


# ---- the trace

def phases_of(events):
    """Intervals in which a step runs; the benchmark's own limit runs outside of them."""
    spans = [(e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == "phase"]
    steps = sum(e.get("cat") == "phase" and e["name"] == "step" for e in events)
    return sorted(spans), steps


def operators(events):
    spans, steps = phases_of(events)
    at, groups = 0, collections.defaultdict(list)
    for e in sorted((e for e in events if e.get("cat") == "operator"), key=lambda e: e["ts"]):
        while at < len(spans) and spans[at][1] < e["ts"]:
            at += 1
        if at < len(spans) and spans[at][0] <= e["ts"]:
            a = e["args"]
            groups[e["name"], a["in"], a["out"], a["bytes"]].append(e["dur"])
    return groups, steps


def table(groups, steps, gflops, gbs):
    rows = collections.defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for (name, ins, outs, moved), durations in groups.items():
        times = len(durations) / steps
        kind = name.split(":")[0]
        flops = FLOPS[kind](dims_of(ins), dims_of(outs)) if kind in FLOPS else 0
        row = rows[name]
        row[0] += times * statistics.median(durations) / 1e3
        row[1] += times * flops / 1e9
        row[2] += times * moved / 1e9
        row[3] += times * max(flops / gflops, moved / gbs) / 1e6
    return sorted(rows.items(), key=lambda item: -item[1][0])


def show(rows):
    total = [sum(values) for values in zip(*(row for _, row in rows), strict=True)]
    print("| operator | ms a step | share | GFLOP | GB | limit, ms | of the limit |")
    print("|---|---|---|---|---|---|---|")
    for name, row in [*rows[:12], ("all operators", total)]:
        print("| %s | %.3f | %.1f %% | %.3f | %.3f | %.3f | %.2f |" % (
            name, row[0], 100 * row[0] / total[0], row[1], row[2], row[3], row[3] / row[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axle", default=os.environ.get("AXLE", "axle"))
    parser.add_argument("--backend", default="onednn")
    parser.add_argument("step", nargs="+", help="options of axle bench step, behind --")
    args = parser.parse_args()
    gflops, gbs = peaks(args)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        result = run([args.axle, "bench", "step", "--backend", args.backend, "--json", *args.step],
                     AXLE_HOOK="trace", AXLE_TRACE_FILE=path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
    groups, steps = operators(events["traceEvents"] if isinstance(events, dict) else events)
    print("%s: a step of %.3f ms with the trace; peaks of %.0f GFLOP/s and %.1f GB/s\n" % (
        result["case"], result["median_ms"], gflops, gbs))
    show(table(groups, steps, gflops, gbs))


if __name__ == "__main__":
    main()
