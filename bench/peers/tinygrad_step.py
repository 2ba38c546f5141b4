#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step of tinygrad, on the networks that `axle bench step` builds.

    DEV=CL tinygrad_step.py lenet|distilbert [--batch-size N] [--length N] [--repeat N]

Prints one JSON object: the median of a step in milliseconds, the process's peak memory in MB, and
the time of the first update, in seconds since 1970. The step is captured by TinyJit; the device is
the one that DEV names, and BEAM sets the search for kernels, as tinygrad has it.
"""
import argparse
import json
import os
import resource
import statistics
import time
from importlib.metadata import version

from tinygrad import Context, Device, Tensor, TinyJit, dtypes, nn

CLASSES = 10


class LeNet:
    def __init__(self):
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 5, padding=2), nn.Conv2d(8, 16, 5, padding=2)
        self.hidden, self.out = nn.Linear(16 * 7 * 7, 128), nn.Linear(128, CLASSES)

    def __call__(self, x):
        x = self.conv1(x).relu().max_pool2d(2)
        x = self.conv2(x).relu().max_pool2d(2)
        return self.out(self.hidden(x.flatten(1)).relu())


class Block:
    def __init__(self, width, heads, inner):
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def __call__(self, x):
        n, t, width = x.shape
        q, k, v = (f(x).reshape(n, t, self.heads, -1).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        a = q.scaled_dot_product_attention(k, v, dropout_p=0.1)
        x = self.norm1(self.o(a.transpose(1, 2).reshape(n, t, width)) + x)
        return self.norm2(self.down(self.up(x).gelu()).dropout(0.1) + x)


class DistilBert:
    def __init__(self, words=30522, places=512, width=768, heads=12, inner=3072, layers=6):
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.blocks = [Block(width, heads, inner) for _ in range(layers)]
        self.first, self.last = nn.Linear(width, width), nn.Linear(width, 2)

    def __call__(self, ids):
        x = self.words(ids) + self.places(Tensor.arange(ids.shape[1]).reshape(1, -1))
        x = self.norm(x).dropout(0.1)
        for block in self.blocks:
            x = block(x)
        return self.last(self.first(x[:, 0]).relu().dropout(0.2))


def lenet(rows, _):
    x = Tensor.rand(rows, 1, 28, 28).realize()
    return LeNet(), x, (Tensor.arange(rows) % CLASSES).realize()


def distilbert(rows, length):
    ids = Tensor.randint(rows, length, low=1000, high=30000).realize()
    return DistilBert(), ids, (Tensor.arange(rows) % 2).cast(dtypes.int).realize()


WORKS = {"lenet": lenet, "distilbert": distilbert}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=WORKS)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2, help="of PoCL, through its environment")
    parser.add_argument("--repeat", type=int, default=15)
    args = parser.parse_args()
    os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", str(args.threads))
    Tensor.manual_seed(1)
    module, x, target = WORKS[args.work](args.batch_size, args.length)
    optimizer = nn.optim.Adam(nn.state.get_parameters(module), lr=1e-4)

    @TinyJit
    def step():
        optimizer.zero_grad()
        loss = module(x).sparse_categorical_crossentropy(target)
        loss.backward()
        return loss.realize(*optimizer.schedule_step())

    def timed():
        start = time.perf_counter()
        step()
        Device[Device.DEFAULT].synchronize()
        return 1e3 * (time.perf_counter() - start)

    with Context(TRAINING=1):
        timed()
        first = time.time()
        timed()
        timed()
        spans = [timed() for _ in range(args.repeat)]
    print(json.dumps({
        "peer": "tinygrad", "version": version("tinygrad"), "device": Device.DEFAULT,
        "first_update": first, "median_ms": statistics.median(spans),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))


if __name__ == "__main__":
    main()
