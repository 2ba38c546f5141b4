# SPDX-License-Identifier: Apache-2.0
"""The same, with checkpoints to go on from.

    python checkpointing.py --checkpointing_steps 50 --output_dir kept
    python checkpointing.py --resume_from_checkpoint kept/step_100
    python checkpointing.py --checkpointing_steps epoch --output_dir kept
"""
import os

from axle import Accelerator
from axle.optim import AdamW
from axle.transformers import (AutoModelForSequenceClassification, get_linear_schedule_with_warmup,
                               set_seed)
from common import evaluate, get_dataloaders, options
from paraphrases import checkpoint

parser = options(__doc__)
parser.add_argument("--checkpointing_steps", help="a number of batches, or epoch")
parser.add_argument("--output_dir", default=".")
parser.add_argument("--resume_from_checkpoint")
args = parser.parse_args()
accelerator = Accelerator(cpu=args.cpu, mixed_precision=args.mixed_precision)
set_seed(42)
train_dataloader, eval_dataloader = get_dataloaders(accelerator, args.batch_size)
model = AutoModelForSequenceClassification.from_pretrained(checkpoint(), return_dict=True)
optimizer = AdamW(params=model.parameters(), lr=args.lr)
lr_scheduler = get_linear_schedule_with_warmup(optimizer, 10,
                                               len(train_dataloader) * args.epochs)
model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler)

starting_epoch, resume_step = 0, None
if args.resume_from_checkpoint:
    accelerator.load_state(args.resume_from_checkpoint)
    kind, number = os.path.basename(args.resume_from_checkpoint).split("_")
    if kind == "epoch":
        starting_epoch = int(number) + 1
    else:
        starting_epoch, resume_step = divmod(int(number), len(train_dataloader))
overall_step = starting_epoch * len(train_dataloader) + (resume_step or 0)

for epoch in range(starting_epoch, args.epochs):
    model.train()
    batches = train_dataloader
    if epoch == starting_epoch and resume_step:
        batches = accelerator.skip_first_batches(train_dataloader, resume_step)
    for batch in batches:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
        overall_step += 1
        if (args.checkpointing_steps or "epoch") != "epoch" and \
                overall_step % int(args.checkpointing_steps) == 0:
            accelerator.save_state(os.path.join(args.output_dir, f"step_{overall_step}"))
    accelerator.print(f"epoch {epoch}:", evaluate(accelerator, model, eval_dataloader))
    if args.checkpointing_steps == "epoch":
        accelerator.save_state(os.path.join(args.output_dir, f"epoch_{epoch}"))
accelerator.end_training()
