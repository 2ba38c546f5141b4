# SPDX-License-Identifier: Apache-2.0
"""The accelerator, alone and in jobs."""
import gc
import json
import os
import subprocess
import sys
import tempfile
import unittest

import axle
from axle import Accelerator, nn, optim
from axle.data import DataLoader
from axle.utils import ProjectConfiguration, set_seed

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.environ.get("AXLE_LIBRARY", "")


def train(accelerator, epochs=1, model=None, stop=None, then=None):
    """Losses of a small training, and what was trained."""
    set_seed(1)
    x = axle.randn(40, 3)
    model = model or nn.Linear(3, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = DataLoader(list(zip(x, x.sum(1, keepdim=True))), 8, shuffle=True)
    objects = accelerator.prepare(model, optimizer, data)
    return list(run(accelerator, *objects, epochs, stop, then)), objects


def run(accelerator, model, optimizer, data, epochs, stop=None, then=None):
    while data.epoch < epochs:
        for inputs, targets in data:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            yield loss.item()
            if optimizer.updates == stop:
                then()
                return


class Stack:
    """Something with a state."""

    def __init__(self, *values):
        self.values = list(values)

    def state_dict(self):
        return {"values": self.values}

    def load_state_dict(self, state):
        self.values = state["values"]


class Alone(unittest.TestCase):
    def setUp(self):
        gc.collect()  # accelerators that live have one precision

    def test_prepare(self):
        """prepare gives back what it got"""
        accelerator = Accelerator()
        model, other = nn.Linear(2, 1), object()
        self.assertIs(accelerator.prepare(model), model)
        self.assertEqual(accelerator.prepare(model, other), (model, other))
        self.assertIs(accelerator.unwrap_model(model), model)
        self.assertTrue(accelerator.is_main_process and accelerator.is_last_process)
        self.assertEqual((accelerator.num_processes, accelerator.process_index), (1, 0))
        self.assertEqual(accelerator.device, axle.current_device())

    def test_unprepared(self):
        """the same losses without an accelerator"""
        prepared, _ = train(Accelerator())

        class Plain:
            def prepare(self, *objects):
                return objects

            def backward(self, loss):
                loss.backward()
        plain, _ = train(Plain())
        for a, b in zip(prepared, plain):
            self.assertAlmostEqual(a, b, places=6)

    def test_checkpoint(self):
        """a training goes on from a checkpoint, bit by bit, with objects of its own"""
        wanted, _ = train(Accelerator(), epochs=3)
        with tempfile.TemporaryDirectory() as folder:
            first = Accelerator(project_config=ProjectConfiguration(folder, total_limit=1))
            kept = Stack(1, "two")
            first.register_for_checkpointing(kept)
            paths = []
            losses, _ = train(first, 3, stop=7, then=lambda: paths.append(first.save_state()))
            (path,) = paths
            self.assertEqual(os.listdir(os.path.join(folder, "checkpoints")),
                             [os.path.basename(path)])
            second, other = Accelerator(), Stack()
            second.register_for_checkpointing(other)
            model = nn.Linear(3, 1)
            nn.init.zeros_(model.weight)
            _, objects = train(second, epochs=0, model=model)
            second.load_state(path)
            losses += list(run(second, *objects, 3))
            self.assertEqual(losses, wanted)
            self.assertEqual(other.values, kept.values)
            with self.assertRaises(ValueError):
                second.register_for_checkpointing(object())
            with self.assertRaises(axle.NotFoundError):
                second.load_state(os.path.join(folder, "missing"))

    def test_model_file(self):
        """a saved model has the names of its state"""
        accelerator = Accelerator()
        model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        with tempfile.TemporaryDirectory() as folder:
            accelerator.save_model(model, folder)
            with open(os.path.join(folder, "model.safetensors"), "rb") as file:
                size = int.from_bytes(file.read(8), "little")
                names = set(json.loads(file.read(size))) - {"__metadata__"}
        self.assertEqual(names, {"0.weight", "0.bias"})

    def test_accumulation(self):
        """accumulate() makes windows where no loader is prepared"""
        accelerator = Accelerator(gradient_accumulation_steps=2)
        model = nn.Linear(1, 1)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        accelerator.prepare(model, optimizer)
        updates = []
        for _ in range(4):
            with accelerator.accumulate(model):
                accelerator.backward(model(axle.ones(1, 1)).sum())
                optimizer.step()
                optimizer.zero_grad()
                updates.append(optimizer.updates)
        self.assertEqual(updates, [0, 1, 1, 2])
        self.assertEqual(accelerator.gradient_accumulation_steps, 2)

    def test_clip(self):
        """clipping gives the norm before"""
        accelerator = Accelerator()
        parameter = nn.Parameter(axle.zeros(2))
        model = nn.Module()
        model.weight = parameter
        optimizer = optim.SGD(model.parameters(), lr=1.0)
        accelerator.prepare(model, optimizer)
        accelerator.backward((parameter * axle.tensor([3.0, 4.0])).sum())
        norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        self.assertAlmostEqual(norm.item(), 5.0, places=5)
        self.assertAlmostEqual(parameter[0].item(), -0.6, places=5)
        with self.assertRaises(ValueError):
            accelerator.clip_grad_norm_([nn.Parameter(axle.zeros(1))], 1.0)

    def test_precision(self):
        """mixed precision runs products in halves, and gives float32"""
        accelerator = Accelerator(mixed_precision="bf16")

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.inside = nn.Linear(2, 2), []

            def forward(self, x):
                y = x @ self.layer.weight
                self.inside.append(y.dtype)
                return {"y": y}
        model = accelerator.prepare(Net())
        self.assertIs(model(axle.ones(1, 2))["y"].dtype, axle.float32)
        self.assertEqual(model.inside, [axle.bfloat16])
        with accelerator.autocast():
            self.assertIs((axle.ones(2, 2) @ axle.ones(2, 2)).dtype, axle.bfloat16)
        with self.assertRaises(ValueError):
            Accelerator(mixed_precision="fp7")

    def test_state(self):
        """the loop is known while it runs"""
        accelerator = Accelerator()
        outer, inner = accelerator.prepare(DataLoader(range(2)), DataLoader(range(3)))
        state, ends = accelerator.gradient_state, []
        for _ in outer:
            self.assertIs(state.active_dataloader, outer)
            for _ in inner:
                self.assertIs(state.active_dataloader, inner)
            ends.append(state.end_of_dataloader)
        self.assertEqual(ends, [False, True])
        self.assertFalse(state.in_dataloader)
        self.assertEqual([b.item() for b in accelerator.skip_first_batches(inner, 1)], [1, 2])

    def test_tracking(self):
        """numbers go to the files of the trackers"""
        with tempfile.TemporaryDirectory() as folder:
            accelerator = Accelerator(log_with="jsonl", project_dir=folder)
            accelerator.init_trackers("run", config={"lr": 0.5})
            accelerator.log({"loss": axle.tensor(0.25), "text": "left out"}, step=3)
            accelerator.end_training()
            with open(os.path.join(folder, "run", "metrics.jsonl")) as file:
                line = json.loads(file.readline())
        self.assertEqual((line["step"], line["loss"]), (3, 0.25))
        self.assertNotIn("text", line)


class Jobs(unittest.TestCase):
    def launch(self, *command, **environment):
        done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=300,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stdout.splitlines() if line.startswith(("loss", "rows"))]

    def same(self, one, two):
        self.assertEqual(len(one), len(two))
        for a, b in zip(one, two):
            for x, y in zip(a.split(), b.split()):
                if x != y:
                    self.assertAlmostEqual(float(x.strip(",")), float(y.strip(",")), delta=2e-5)

    @unittest.skipUnless(os.path.exists(os.path.join(LIBRARY, "collectives", "gloo.so")),
                         "there is no transport between processes")
    def test_processes(self):
        """one and two processes print the same losses"""
        program = os.path.join(FOLDER, "program.py")
        alone = self.launch(program)
        self.assertEqual(len(alone), 3 * 7)
        self.assertIn("rows 88, updates 9,", alone[-1])
        self.same(alone, self.launch("-m", "axle", "launch", "--quiet", "-n", "2", program))


if __name__ == "__main__":
    unittest.main()
