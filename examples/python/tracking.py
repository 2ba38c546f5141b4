# SPDX-License-Identifier: Apache-2.0
"""The same, with losses and metrics in the files of trackers: JSON lines, CSV, TensorBoard.

    python tracking.py --with_tracking --project_dir logs
"""
from axle import Accelerator
from axle.optim import AdamW
from axle.transformers import (AutoModelForSequenceClassification, get_linear_schedule_with_warmup,
                               set_seed)
from common import evaluate, get_dataloaders, options
from paraphrases import checkpoint

parser = options(__doc__)
parser.add_argument("--with_tracking", action="store_true")
parser.add_argument("--project_dir", default="logs")
args = parser.parse_args()
accelerator = Accelerator(cpu=args.cpu, mixed_precision=args.mixed_precision,
                          log_with="all" if args.with_tracking else None,
                          project_dir=args.project_dir)
accelerator.init_trackers("tracking", vars(args))
set_seed(42)
train_dataloader, eval_dataloader = get_dataloaders(accelerator, args.batch_size)
model = AutoModelForSequenceClassification.from_pretrained(checkpoint(), return_dict=True)
optimizer = AdamW(params=model.parameters(), lr=args.lr)
lr_scheduler = get_linear_schedule_with_warmup(optimizer, 10,
                                               len(train_dataloader) * args.epochs)
model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler)

for epoch in range(args.epochs):
    model.train()
    total_loss = 0.0
    for batch in train_dataloader:
        loss = model(**batch).loss
        total_loss += loss.item()
        accelerator.backward(loss)
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
    values = evaluate(accelerator, model, eval_dataloader)
    accelerator.print(f"epoch {epoch}:", values)
    accelerator.log({**values, "epoch": epoch,
                     "train_loss": total_loss / len(train_dataloader)}, step=epoch)
accelerator.end_training()
