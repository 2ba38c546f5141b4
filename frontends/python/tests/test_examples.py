# SPDX-License-Identifier: Apache-2.0
"""The examples run, and go on from checkpoints as if they had not stopped."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import axle
from axle.transformers import AutoTokenizer  # noqa: F401

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples",
                        "python")


def has_tokenizers():
    try:
        axle._library.out_pointer(axle._library.models.axle_synthetic_tokenizer_create)
        return True
    except axle.AxleError:
        return False


@unittest.skipUnless(has_tokenizers(), "there are no tokenizers")
class Examples(unittest.TestCase):
    def run_one(self, name, *arguments):
        """Lines of an example's output."""
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, name), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              universal_newlines=True, timeout=300,
                              env={**os.environ, "PAIRS": "64"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_plain(self):
        """nlp_example"""
        lines = self.run_one("nlp_example.py", "--epochs", "2")
        self.assertEqual([line.split(":")[0] for line in lines], ["epoch 0", "epoch 1"])
        self.assertIn("'accuracy': ", lines[1])

    def test_accumulation(self):
        """gradient_accumulation makes an update of two batches"""
        lines = self.run_one("gradient_accumulation.py", "--epochs", "2")
        self.assertEqual(lines[-1], "updates: 4")

    def test_checkpointing(self):
        """checkpointing goes on within an epoch and at its end, bit by bit"""
        def state(folder, name):
            with open(os.path.join(folder, name, "model.safetensors"), "rb") as file:
                return file.read()
        with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as again:
            self.run_one("checkpointing.py", "--epochs", "2", "--checkpointing_steps", "2",
                         "--output_dir", kept)
            self.assertEqual(sorted(os.listdir(kept)), ["step_2", "step_4", "step_6", "step_8"])
            lines = self.run_one("checkpointing.py", "--epochs", "2", "--checkpointing_steps", "2",
                                 "--output_dir", again, "--resume_from_checkpoint",
                                 os.path.join(kept, "step_6"))
            self.assertEqual([line.split(":")[0] for line in lines], ["epoch 1"])
            self.assertEqual(state(again, "step_8"), state(kept, "step_8"))
            self.run_one("checkpointing.py", "--epochs", "2", "--checkpointing_steps", "2",
                         "--output_dir", again, "--resume_from_checkpoint",
                         os.path.join(kept, "step_4"))
            self.assertEqual(state(again, "step_6"), state(kept, "step_6"))

    def test_tracking(self):
        """tracking writes its files"""
        with tempfile.TemporaryDirectory() as folder:
            self.run_one("tracking.py", "--with_tracking", "--project_dir", folder, "--epochs", "2")
            with open(os.path.join(folder, "tracking", "metrics.jsonl")) as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual([line["step"] for line in lines], [0, 1])
        self.assertLessEqual({"accuracy", "f1", "train_loss", "epoch"}, set(lines[0]))


if __name__ == "__main__":
    unittest.main()
