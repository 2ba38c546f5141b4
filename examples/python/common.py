# SPDX-License-Identifier: Apache-2.0
"""What the examples share: options, loaders, evaluation."""
import argparse

import axle
from axle import metrics
from axle.data import DataLoader
from axle.transformers import AutoTokenizer
from paraphrases import checkpoint, load_dataset


def options(description):
    """The command line's parser."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cpu", action="store_true", help="train on the processor")
    parser.add_argument("--mixed_precision", choices=["no", "bf16", "fp16"])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--batch_size", type=int, default=16)
    return parser


def get_dataloaders(accelerator, batch_size):
    """Loaders of tokenized pairs, to train with and to evaluate with."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint())

    def tokenize(columns):
        return tokenizer(columns["sentence1"], columns["sentence2"], truncation=True)

    def collate(rows):
        return tokenizer.pad(rows, padding="longest", return_tensors="pt")

    with accelerator.main_process_first():
        sets = load_dataset("glue", "mrpc").map(
            tokenize, remove_columns=["idx", "sentence1", "sentence2"])
    sets = sets.rename_column("label", "labels")
    return (DataLoader(sets["train"], shuffle=True, collate_fn=collate, batch_size=batch_size),
            DataLoader(sets["validation"], collate_fn=collate, batch_size=32))


def evaluate(accelerator, model, loader):
    """Accuracy and F1 over all processes."""
    metric = metrics.load("glue", "mrpc")
    model.eval()
    for batch in loader:
        with axle.no_grad():
            predictions = model(**batch).logits.argmax(dim=-1)
        predictions, references = accelerator.gather_for_metrics((predictions, batch["labels"]))
        metric.add_batch(predictions=predictions, references=references)
    return metric.compute()
