#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fine-tune a model on ../reviews.py's texts with PyTorch and transformers.

    pytorch_reviews.py MODEL FOLDER [--seed N] [--max-steps N]
"""
import argparse
import json
import pathlib

import torch
import transformers

LABELS = ("negative", "positive")


def read(path):
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t", 1) for line in lines]


def batches(rows, tokenizer, size):
    for k in range(0, len(rows), size):
        part = rows[k:k + size]
        batch = tokenizer([text for _, text in part], truncation=True, padding=True,
                          return_tensors="pt")
        batch["labels"] = torch.tensor([LABELS.index(label) for label, _ in part])
        yield batch


def accuracy(model, rows, tokenizer):
    model.eval()
    right = 0
    with torch.no_grad():
        for batch in batches(rows, tokenizer, 64):
            right += (model(**batch).logits.argmax(-1) == batch["labels"]).sum().item()
    return right / len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-steps", type=int)
    args = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(args.seed)
    transformers.logging.set_verbosity_error()
    tokenizer = transformers.AutoTokenizer.from_pretrained(args.model)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(args.model)
    train, test = read(args.folder / "train.tsv"), read(args.folder / "test.tsv")
    steps = 3 * -(-len(train) // 32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, fused=True)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    done = 0
    for _ in range(3):
        model.train()
        order = torch.randperm(len(train)).tolist()
        for batch in batches([train[k] for k in order], tokenizer, 32):
            if args.max_steps and done == args.max_steps:
                break
            optimizer.zero_grad()
            model(**batch).loss.backward()
            optimizer.step()
            schedule.step()
            done += 1
    print(json.dumps({"accuracy": accuracy(model, test, tokenizer),
                      "version": torch.__version__}))


if __name__ == "__main__":
    main()
