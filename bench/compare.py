#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of Axle beside those of another framework, on the same work.

    compare.py [--axle PROGRAM] [--python PYTHON] [--peer NAME] [--backend B] [--rounds N] [WORK...]

Both run in turns, a process each, with as many threads; what counts is the median over the rounds.
Prints a JSON object a work: milliseconds a step, peak memory, the time from a process's start to
its first update, and the ratios peer / axle. PYTHON is an interpreter that has the peer.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Name of the work, what `axle bench step` is asked for, what the peer is asked for.
WORKS = {
    "mlp-b16": (["--model", "mlp", "--batch-size", "16"], ["mlp", "--batch-size", "16"]),
    "mlp256-b64": (["--model", "mlp", "--hidden", "256", "--batch-size", "64"],
                   ["mlp256", "--batch-size", "64"]),
    "lenet-b64": (["--model", "lenet", "--batch-size", "64"], ["lenet", "--batch-size", "64"]),
    "resnet18-b32": (["--model", "resnet18", "--batch-size", "32", "--shape", "3x32x32"],
                     ["resnet18", "--batch-size", "32"]),
    "distilbert-b8x128": (["--model", "distilbert", "--batch-size", "8", "--length", "128"],
                          ["distilbert", "--batch-size", "8", "--length", "128"]),
    "distilbert-b32x32": (["--model", "distilbert", "--batch-size", "32", "--length", "32"],
                          ["distilbert", "--batch-size", "32", "--length", "32"]),
    "distilbert-b8x128-bf16": (
        ["--model", "distilbert", "--batch-size", "8", "--length", "128", "--precision", "bf16"],
        ["distilbert", "--batch-size", "8", "--length", "128", "--precision", "bf16"]),
    "gpt2-b4x64": (["--model", "gpt2", "--batch-size", "4", "--length", "64"],
                   ["gpt2", "--batch-size", "4", "--length", "64"]),
}

# A peer's script and the environment that its documentation asks for.
PEERS = {
    "pytorch": ("pytorch_step.py", {"OMP_WAIT_POLICY": "passive"}),
    "tinygrad-cl": ("tinygrad_step.py", {"DEV": "CL"}),
    "tinygrad-cpu": ("tinygrad_step.py", {"DEV": "CPU"}),
}


def run(command, environment):
    """The last JSON object that the command prints, the process's peak memory and its start."""
    began = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, **environment})
    output, errors = process.communicate()
    if process.returncode:
        sys.exit("compare: %s: status %d\n%s" %
                 (" ".join(command), process.returncode, errors.decode(errors="replace")))
    return json.loads(output.splitlines()[-1]), began


def axle_start(args, options, environment):
    """Milliseconds to the first update of those networks that `axle bench start` trains."""
    if "--shape" in options or options[1] not in ("mlp", "lenet"):
        return None
    kept = [o for k, o in enumerate(options) if "--hidden" not in options[max(0, k - 1):k + 1]]
    result, _ = run([args.axle, "bench", "start", *kept, "--backend", args.backend,
                     "--repeat", "1", "--json"], environment)
    return result["median_ms"]


def axle_round(args, options):
    environment = {"AXLE_THREADS": str(args.threads)}
    common = ["--backend", args.backend, "--repeat", str(args.repeat), "--json"]
    result, _ = run([args.axle, "bench", "step", *options, *common], environment)
    bytes_used = result.get("peak_process_bytes")
    return {"ms": result["median_ms"], "mb": bytes_used and bytes_used / 1e6,
            "start_ms": axle_start(args, options, environment), "backend": result["backend"]}


def peer_round(args, options):
    script, environment = PEERS[args.peer]
    result, began = run([args.python, os.path.join(HERE, "peers", script), *options, "--threads",
                         str(args.threads), "--repeat", str(args.repeat)], environment)
    return {"ms": result["median_ms"], "mb": result["peak_mb"],
            "start_ms": 1e3 * (result["first_update"] - began), "version": result["version"]}


def median(rounds, key):
    values = [r[key] for r in rounds if r[key] is not None]
    return round(statistics.median(values), 4) if values else None


def compare(args, work):
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(axle_round(args, WORKS[work][0]))
        theirs.append(peer_round(args, WORKS[work][1]))
    line = {"work": work, "backend": ours[0]["backend"], "peer": args.peer,
            "version": theirs[0]["version"], "threads": args.threads, "rounds": args.rounds}
    for key in "ms", "mb", "start_ms":
        a, p = median(ours, key), median(theirs, key)
        line["axle_" + key], line["peer_" + key] = a, p
        line["ratio_" + key] = round(p / a, 3) if a and p else None
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("works", nargs="*", metavar="WORK", help=", ".join(WORKS) + " [all]")
    parser.add_argument("--axle", default=os.environ.get("AXLE", "axle"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peer", default="pytorch", choices=PEERS)
    parser.add_argument("--backend", default="onednn")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=15, help="steps a round")
    args = parser.parse_args()
    for work in args.works:
        if work not in WORKS:
            parser.error("no such work: %s (known: %s)" % (work, ", ".join(WORKS)))
    for work in args.works or WORKS:
        compare(args, work)


if __name__ == "__main__":
    main()
