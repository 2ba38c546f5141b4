# SPDX-License-Identifier: Apache-2.0
"""A fine-tuning that prints its losses, with Axle or with PyTorch: only the imports differ.

    training.py axle|torch CHECKPOINT [tuple|dict|plain]

Batches are tuples, or dictionaries; "plain" trains without prepare(). make_training.py writes what
it prints with PyTorch.
"""
import os
import random
import sys

if sys.argv[1] == "axle":
    from axle import Accelerator, tensor
    from axle.data import DataLoader
    from axle.optim import Adam
    from axle.transformers import AutoModelForSequenceClassification
    from axle.transformers import get_linear_schedule_with_warmup, set_seed
else:
    from accelerate import Accelerator
    from torch import tensor
    from torch.optim import Adam
    from torch.utils.data import DataLoader
    from transformers import AutoModelForSequenceClassification
    from transformers import get_linear_schedule_with_warmup, set_seed

checkpoint, form = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "tuple"
set_seed(3)
draw = random.Random(3).random
rows = []
for _ in range(320):
    label = int(draw() * 2)
    rows.append((tensor([int(draw() * 20) + 20 * label + 1 for _ in range(8)]), label))
if form == "dict":
    rows = [{"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": label}
            for ids, label in rows]
processes = int(os.environ.get("WORLD_SIZE", 1))
dataloader = DataLoader(rows, batch_size=8 // processes)
num_warmup_steps, num_training_steps = 4, 40

if form == "tuple":
    accelerator = Accelerator(device_placement=True)
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, return_dict=True)
    optimizer = Adam(params=model.parameters(), lr=2e-5)
    lr_scheduler = get_linear_schedule_with_warmup(optimizer=optimizer,
                                                   num_warmup_steps=num_warmup_steps,
                                                   num_training_steps=num_training_steps)
    model, optimizer, dataloader, lr_scheduler = accelerator.prepare(model, optimizer, dataloader,
                                                                     lr_scheduler)
    for batch in dataloader:
        optimizer.zero_grad()
        inputs, targets = batch
        outputs = model(inputs, labels=targets)
        loss = outputs.loss
        accelerator.backward(loss)
        optimizer.step()
        lr_scheduler.step()
        accelerator.print("loss %.7f" % accelerator.gather(loss).mean().item())
elif form == "dict":
    accelerator = Accelerator()
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint)
    optimizer = Adam(params=model.parameters(), lr=2e-5)
    lr_scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps)
    model, optimizer, dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, dataloader, lr_scheduler)
    model.train()
    for batch in dataloader:
        outputs = model(**batch)
        accelerator.backward(outputs["loss"])
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
        accelerator.print("loss %.7f" % accelerator.gather(outputs.loss).mean().item())
else:
    device = Accelerator().device
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint).to(device)
    optimizer = Adam(params=model.parameters(), lr=2e-5)
    lr_scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps)
    for inputs, targets in dataloader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = model(inputs, labels=targets).loss
        loss.backward()
        optimizer.step()
        lr_scheduler.step()
        print("loss %.7f" % loss.item())
