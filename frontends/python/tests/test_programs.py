# SPDX-License-Identifier: Apache-2.0
"""Whole programs: a GAN, interrupts, objects that end in any order."""
import itertools
import os
import subprocess
import sys
import tempfile
import unittest

import axle
from axle import Accelerator, nn, optim
from axle.data import DataLoader, IterableDataset

WAITING = """
import os, signal, sys, threading, time
import axle
accelerator = axle.Accelerator()
if accelerator.process_index == 1:
    time.sleep(600)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    accelerator.wait_for_everyone()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(3)
"""
COMPUTING = """
import os, signal, threading
import axle
x = axle.ones(64, 64, requires_grad=True)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        (x @ x).sum().backward()
except KeyboardInterrupt:
    print("interrupted", (x + x).sum().item())
"""


def note_ranks(folder):
    """Leave a file that is named after the process."""
    accelerator = Accelerator()
    rank, count = accelerator.process_index, accelerator.num_processes
    total = accelerator.reduce(axle.tensor([rank]), "sum").item()
    with open(os.path.join(folder, "%d-of-%d-sum-%d" % (rank, count, total)), "w"):
        pass
    accelerator.end_training()


def fail():
    """Fail in one process."""
    if os.environ["RANK"] == "1":
        sys.exit(3)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(2, 16), nn.Linear(16, 1)

    def forward(self, noise):
        return self.out(self.hidden(noise).tanh())


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


class Numbers(IterableDataset):
    """Draws around 3."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for _ in range(self.n):
            yield axle.randn(1) * 0.5 + 3.0


class Programs(unittest.TestCase):
    def test_gan(self):
        """two networks train each other on a stream, each with its own optimizer"""
        axle.manual_seed(0)
        accelerator = Accelerator()
        makes, tells = Generator(), Discriminator()
        one = optim.Adam(makes.parameters(), lr=5e-3, betas=(0.5, 0.999))
        other = optim.Adam(tells.parameters(), lr=5e-3, betas=(0.5, 0.999))
        data = DataLoader(Numbers(32 * 150), batch_size=32)
        makes, tells, one, other, data = accelerator.prepare(makes, tells, one, other, data)
        loss = nn.BCEWithLogitsLoss()
        start = makes(axle.randn(256, 2)).mean().item()
        for real in data:
            rows = real.shape[0]
            fake = makes(axle.randn(rows, 2))
            other.zero_grad()
            accelerator.backward(loss(tells(real), axle.ones(rows, 1)) +
                                 loss(tells(fake.detach()), axle.zeros(rows, 1)))
            other.step()
            one.zero_grad()
            accelerator.backward(loss(tells(fake), axle.ones(rows, 1)))
            one.step()
        end = makes(axle.randn(256, 2)).mean().item()
        self.assertLess(abs(end - 3), 0.5 * abs(start - 3))
        self.assertEqual((one.updates, other.updates), (150, 150))

    def test_order(self):
        """model, optimizer, schedule, loader and accelerator may end in any order"""
        names = ("accelerator", "model", "optimizer", "schedule", "loader", "loss")
        for order in itertools.islice(itertools.permutations(names), 0, None, 31):
            things = {"accelerator": Accelerator(), "model": nn.Linear(2, 1)}
            optimizer = optim.SGD(things["model"].parameters(), lr=0.1)
            schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
            loader = DataLoader([axle.ones(2)] * 4, batch_size=2)
            things.update(optimizer=optimizer, schedule=schedule, loader=loader)
            things["accelerator"].prepare(things["model"], optimizer, loader, schedule)
            for batch in loader:
                things["loss"] = things["model"](batch).sum()
                things["accelerator"].backward(things["loss"])
                optimizer.step()
                schedule.step()
            del optimizer, schedule, loader, batch
            for name in order:
                del things[name]

    def stopped(self, *command):
        done = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, universal_newlines=True)
        try:
            return done.communicate(timeout=120)[0]
        finally:
            done.kill()
            done.wait()

    @unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("AXLE_LIBRARY", ""),
                                                     "collectives", "gloo.so")),
                         "there is no transport between processes")
    def test_launcher(self):
        """notebook_launcher calls a function in several processes, and tells which failed"""
        with tempfile.TemporaryDirectory() as folder:
            axle.notebook_launcher(note_ranks, (folder,), num_processes=2)
            self.assertEqual(sorted(os.listdir(folder)), ["0-of-2-sum-1", "1-of-2-sum-1"])
            axle.notebook_launcher(note_ranks, (folder,))
            self.assertIn("0-of-1-sum-0", os.listdir(folder))
            with self.assertRaisesRegex(RuntimeError, "1"):
                axle.notebook_launcher(fail, num_processes=2)

    def test_interrupt(self):
        """Ctrl-C ends a loop, and the library works on"""
        self.assertEqual(self.stopped("-c", COMPUTING), "interrupted 8192.0\n")

    @unittest.skipUnless(os.path.exists(os.path.join(os.environ.get("AXLE_LIBRARY", ""),
                                                     "collectives", "gloo.so")),
                         "there is no transport between processes")
    def test_interrupted_wait(self):
        """Ctrl-C ends the wait for another process"""
        self.assertEqual(self.stopped("-m", "axle", "launch", "--quiet", "-n", "2",
                                      sys.executable, "-c", WAITING).strip(), "interrupted")


if __name__ == "__main__":
    unittest.main()
