# SPDX-License-Identifier: Apache-2.0
"""The same, where several batches make an update.

    python gradient_accumulation.py --gradient_accumulation_steps 4
"""
from axle import Accelerator
from axle.optim import AdamW
from axle.transformers import (AutoModelForSequenceClassification, get_linear_schedule_with_warmup,
                               set_seed)
from common import evaluate, get_dataloaders, options
from paraphrases import checkpoint

parser = options(__doc__)
parser.add_argument("--gradient_accumulation_steps", type=int, default=2)
args = parser.parse_args()
accelerator = Accelerator(cpu=args.cpu, mixed_precision=args.mixed_precision,
                          gradient_accumulation_steps=args.gradient_accumulation_steps)
set_seed(42)
train_dataloader, eval_dataloader = get_dataloaders(accelerator, args.batch_size)
model = AutoModelForSequenceClassification.from_pretrained(checkpoint(), return_dict=True)
optimizer = AdamW(params=model.parameters(), lr=args.lr)
updates = len(train_dataloader) * args.epochs // args.gradient_accumulation_steps
lr_scheduler = get_linear_schedule_with_warmup(optimizer, 10, updates)
model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler)

for epoch in range(args.epochs):
    model.train()
    for batch in train_dataloader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
    accelerator.print(f"epoch {epoch}:", evaluate(accelerator, model, eval_dataloader))
accelerator.print("updates:", optimizer.updates)
accelerator.end_training()
