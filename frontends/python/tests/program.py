# SPDX-License-Identifier: Apache-2.0
"""A training that prints its losses; the test runs it alone and in jobs."""
import sys

import axle
from axle import Accelerator, nn, optim
from axle.data import DataLoader
from axle.utils import gather_object, set_seed

set_seed(7)
accelerator = Accelerator(gradient_accumulation_steps=2)
processes = accelerator.num_processes
x = axle.randn(88, 4)
y = x.sum(1, keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.two(self.one(x).tanh())


model = Net()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
loader = DataLoader(list(zip(x, y)), batch_size=16 // processes, shuffle=True)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for epoch in range(3):
    rows = 0
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            optimizer.zero_grad()
            outputs = model(inputs)
            accelerator.backward(nn.functional.mse_loss(outputs, targets))
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        errors = accelerator.gather_for_metrics((outputs - targets).square())
        rows += len(errors)
        accelerator.print("loss %.6f" % errors.mean().item())
    accelerator.print("rows %d, updates %d, rate %.6f" % (
        rows, optimizer.updates, scheduler.get_last_lr()[0]))

rank = accelerator.process_index
assert accelerator.gather(axle.tensor([rank])).tolist() == list(range(processes))
assert gather_object([rank, "text"]) == [v for r in range(processes) for v in (r, "text")]
for reduction, wanted in (("sum", sum(range(processes))), ("max", processes - 1), ("min", 0)):
    assert accelerator.reduce(axle.tensor([rank]), reduction).tolist() == [wanted]
padded = accelerator.pad_across_processes(axle.ones(rank + 1), pad_index=-1)
assert padded.tolist() == [1.0] * (rank + 1) + [-1.0] * (processes - rank - 1)
with accelerator.split_between_processes(list(range(17)), apply_padding=True) as part:
    assert gather_object(part)[:17] == list(range(17)) or processes > 1
    assert len(part) == -(-17 // processes)
with accelerator.split_between_processes({"text": "abc", "rows": axle.arange(3)}) as part:
    assert "".join(gather_object([part["text"]])) == "abc"
    assert gather_object(part["rows"].tolist()) == [0, 1, 2]
seen = []
accelerator.on_main_process(seen.append)("main")
accelerator.on_process(process_index=processes - 1)(seen.append)("last")
assert gather_object(seen) == ["main", "last"]
with accelerator.main_process_first():
    pass
if rank == processes - 1:
    accelerator.set_trigger()
assert accelerator.check_trigger() and not accelerator.check_trigger()
accelerator.end_training()
sys.exit(0)
