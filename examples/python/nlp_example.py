# SPDX-License-Identifier: Apache-2.0
"""Fine-tune a BERT to tell whether two sentences say the same.

    python nlp_example.py
    axle launch -n 2 nlp_example.py --mixed_precision bf16
"""
from axle import Accelerator
from axle.optim import AdamW
from axle.transformers import (AutoModelForSequenceClassification, get_linear_schedule_with_warmup,
                               set_seed)
from common import evaluate, get_dataloaders, options
from paraphrases import checkpoint

args = options(__doc__).parse_args()
accelerator = Accelerator(cpu=args.cpu, mixed_precision=args.mixed_precision)
set_seed(42)
train_dataloader, eval_dataloader = get_dataloaders(accelerator, args.batch_size)
model = AutoModelForSequenceClassification.from_pretrained(checkpoint(), return_dict=True)
optimizer = AdamW(params=model.parameters(), lr=args.lr)
lr_scheduler = get_linear_schedule_with_warmup(
    optimizer=optimizer, num_warmup_steps=10,
    num_training_steps=len(train_dataloader) * args.epochs)
model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler)

for epoch in range(args.epochs):
    model.train()
    for batch in train_dataloader:
        outputs = model(**batch)
        accelerator.backward(outputs.loss)
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
    accelerator.print(f"epoch {epoch}:", evaluate(accelerator, model, eval_dataloader))
accelerator.end_training()
