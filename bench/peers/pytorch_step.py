#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step of PyTorch, on the networks that `axle bench step` builds.

    pytorch_step.py WORK [--batch-size N] [--length N] [--precision no|bf16] [--threads N] [--repeat N]

Prints one JSON object: the median of a step in milliseconds, the process's peak memory in MB, and
the time of the first update, in seconds since 1970. The same batch is used for every step. As
PyTorch's documentation advises, pictures are channels-last and Adam is the fused one. Language
models come from the package transformers.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from torch import nn

CLASSES = 10


def mlp(hidden):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, CLASSES))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, CLASSES))


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + self.shortcut(x))


def resnet18(channels):
    blocks, inputs = [], 64
    for width, stride in (64, 1), (128, 2), (256, 2), (512, 2):
        blocks += [Residual(inputs, width, stride), Residual(width, width, 1)]
        inputs = width
    return nn.Sequential(
        nn.Conv2d(channels, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


def pictures(network, channels, side):
    """A function of the batch size that makes a function that computes the loss."""
    def create(rows, _):
        module = network().to(memory_format=torch.channels_last)
        x, target = torch.rand(rows, channels, side, side), torch.arange(rows) % CLASSES
        x = x.to(memory_format=torch.channels_last)
        return module, lambda: nn.functional.cross_entropy(module(x), target)
    return create


def distilbert(rows, length):
    from transformers import DistilBertConfig, DistilBertForSequenceClassification
    module = DistilBertForSequenceClassification(DistilBertConfig(num_labels=2))
    ids = torch.randint(1000, 30000, (rows, length))
    mask, labels = torch.ones_like(ids), torch.arange(rows) % 2
    return module, lambda: module(input_ids=ids, attention_mask=mask, labels=labels).loss


def gpt2(rows, length):
    from transformers import GPT2Config, GPT2LMHeadModel
    module = GPT2LMHeadModel(GPT2Config(use_cache=False))
    ids = torch.randint(1000, 30000, (rows, length))
    return module, lambda: module(input_ids=ids, labels=ids).loss


WORKS = {
    "mlp": pictures(lambda: mlp(32), 1, 28),
    "mlp256": pictures(lambda: mlp(256), 1, 28),
    "lenet": pictures(lenet, 1, 28),
    "resnet18": pictures(lambda: resnet18(3), 3, 32),
    "distilbert": distilbert,
    "gpt2": gpt2,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=WORKS)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--precision", choices=("no", "bf16"), default="no")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=15)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    module, compute = WORKS[args.work](args.batch_size, args.length)
    module.train()
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4, fused=True)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "bf16"):
            loss = compute()
        loss.backward()
        optimizer.step()

    step()
    first = time.time()
    for _ in range(2):
        step()
    spans = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        step()
        spans.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({
        "peer": "pytorch", "version": torch.__version__, "first_update": first,
        "median_ms": statistics.median(spans),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))


if __name__ == "__main__":
    main()
