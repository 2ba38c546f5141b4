# SPDX-License-Identifier: Apache-2.0
"""Modules, layers, losses, optimizers, schedules."""
import math
import unittest

import axle
from axle import nn, optim
from axle.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(8, 3))
        self.scale = nn.Parameter(axle.ones(1))
        self.register_buffer("seen", axle.zeros(1))
        self.register_buffer("scratch", axle.zeros(1), persistent=False)

    def forward(self, x):
        return self.head(self.body(x)) * self.scale


NAMES = ["scale", "seen", "body.weight", "body.bias", "head.1.weight", "head.1.bias"]


class Modules(unittest.TestCase):
    def test_names(self):
        """attributes register parameters, buffers and modules, with dotted paths"""
        net = Net()
        self.assertEqual(list(net.state_dict()), NAMES)
        self.assertEqual([name for name, _ in net.named_parameters()],
                         [name for name in NAMES if name != "seen"])
        self.assertEqual([name for name, _ in net.named_modules()],
                         ["", "body", "head", "head.0", "head.1"])
        self.assertEqual(sum(p.numel() for p in net.parameters()), 1 + 32 + 8 + 24 + 3)
        with self.assertRaises(AttributeError):
            net.missing
        with self.assertRaisesRegex(AttributeError, "super"):
            type("Bad", (nn.Module,), {"__init__": lambda self: setattr(
                self, "x", nn.Linear(1, 1))})()

    def test_state(self):
        """a state goes into another module, or nothing changes"""
        one, two = Net(), Net()
        x = axle.randn(5, 4)
        self.assertFalse(axle.allclose(one(x), two(x)))
        two.load_state_dict(one.state_dict())
        self.assertTrue(axle.equal(one(x), two(x)))
        state = dict(one.state_dict(), extra=axle.ones(1))
        del state["seen"]
        with self.assertRaisesRegex(RuntimeError, "seen.*extra"):
            two.load_state_dict(state)
        result = two.load_state_dict(state, strict=False)
        self.assertEqual((result.missing_keys, result.unexpected_keys), (["seen"], ["extra"]))
        with self.assertRaisesRegex(RuntimeError, "body.bias"):
            two.load_state_dict(dict(one.state_dict(), **{"body.bias": axle.ones(3)}))

    def test_modes(self):
        """dropout is on in training only"""
        net = nn.Sequential(nn.Dropout(0.5), nn.Identity())
        x = axle.ones(1000)
        self.assertTrue(0 < (net(x) == 0).to("float32").mean().item() < 1)
        net.eval()
        self.assertFalse(net[0].training)
        self.assertEqual(net(x).tolist(), x.tolist())

    def test_tied(self):
        """a shared parameter is one parameter"""
        net = nn.Module()
        net.one = nn.Parameter(axle.ones(2))
        net.two = net.one
        self.assertEqual(len(list(net.parameters())), 1)
        self.assertEqual(list(net.state_dict()), ["one", "two"])

    def test_frozen(self):
        """frozen parameters stay, and have no gradient"""
        net = Net()
        net.body.requires_grad_(False)
        net.twin()
        before = net.body.weight.tolist()
        optimizer = optim.SGD(net.parameters(), lr=0.1)
        net(axle.randn(2, 4)).sum().backward()
        optimizer.step()
        self.assertIsNone(net.body.weight.grad)
        self.assertEqual(net.body.weight.tolist(), before)

    def test_types(self):
        """a module changes its type and device"""
        net = Net().double().to("cpu")
        self.assertEqual({p.dtype for p in net.parameters()}, {axle.float64})
        self.assertIs(net(axle.ones(1, 4, dtype="float64").cpu()).dtype, axle.float64)


class Layers(unittest.TestCase):
    def test_shapes(self):
        """layers give the shapes of PyTorch's"""
        x = axle.randn(2, 4, 8, 8)
        for layer, shape in (
                (nn.Conv2d(4, 6, 3, padding=1), (2, 6, 8, 8)),
                (nn.Conv2d(4, 6, 3, stride=2, bias=False), (2, 6, 3, 3)),
                (nn.ConvTranspose2d(4, 2, 2, stride=2), (2, 2, 16, 16)),
                (nn.MaxPool2d(2), (2, 4, 4, 4)), (nn.AvgPool2d(2), (2, 4, 4, 4)),
                (nn.AdaptiveAvgPool2d(1), (2, 4, 1, 1)), (nn.BatchNorm2d(4), x.shape),
                (nn.GroupNorm(2, 4), x.shape), (nn.LayerNorm((8, 8)), x.shape),
                (nn.LayerNorm(8), x.shape), (nn.Flatten(), (2, 256)), (nn.GELU(), x.shape),
                (nn.LeakyReLU(0.2), x.shape), (nn.Softmax(dim=-1), x.shape)):
            with self.subTest(layer):
                self.assertEqual(layer(x).shape, shape)
        self.assertEqual(nn.Conv1d(4, 5, 3)(axle.randn(2, 4, 9)).shape, (2, 5, 7))
        self.assertEqual(nn.Embedding(10, 3)(axle.tensor([[1, 2]])).shape, (1, 2, 3))

    def test_sequences(self):
        """recurrent layers and attention"""
        y, (h, c) = nn.LSTM(4, 5, num_layers=2)(axle.randn(3, 2, 4))
        self.assertEqual((y.shape, h.shape, c.shape), ((3, 2, 5), (2, 2, 5), (2, 2, 5)))
        y, h = nn.GRU(4, 5, batch_first=True)(axle.randn(2, 3, 4))
        self.assertEqual((y.shape, h.shape), ((2, 3, 5), (1, 2, 5)))
        x = axle.randn(2, 3, 8)
        self.assertEqual(nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)[0].shape, x.shape)
        self.assertEqual(nn.TransformerEncoderLayer(8, 2, 16)(x).shape, x.shape)

    def test_chain(self):
        """a sequence computes what its layers do one by one"""
        chain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        x = axle.randn(3, 4)
        self.assertTrue(axle.allclose(chain(x), chain[2](chain[0](x).relu()), atol=1e-6))
        chain.append(nn.ReLU())
        self.assertGreaterEqual(chain(x).min().item(), 0)

    def test_losses(self):
        """losses have the values of their definitions"""
        logits, target = axle.tensor([[1.0, 2.0], [3.0, 0.0]]), axle.tensor([1, 0])
        wanted = (math.log(1 + math.exp(-1)) + math.log(1 + math.exp(-3))) / 2
        self.assertAlmostEqual(nn.CrossEntropyLoss()(logits, target).item(), wanted, places=6)
        self.assertAlmostEqual(nn.NLLLoss()(logits.log_softmax(1), target).item(), wanted, places=6)
        p, t = axle.tensor([0.25, 0.5]), axle.tensor([1.0, 0.0])
        wanted = (math.log(4) + math.log(2)) / 2
        self.assertAlmostEqual(nn.BCELoss()(p, t).item(), wanted, places=6)
        self.assertAlmostEqual(nn.BCEWithLogitsLoss()((p / (1 - p)).log(), t).item(), wanted,
                               places=6)
        self.assertEqual(F.mse_loss(p, t, reduction="sum").item(), 0.5625 + 0.25)
        self.assertEqual(nn.L1Loss(reduction="none")(p, t).tolist(), [0.75, 0.5])
        with self.assertRaises(ValueError):
            F.mse_loss(p, t, reduction="median")


class Training(unittest.TestCase):
    def test_optimizers(self):
        """every optimizer makes a loss smaller"""
        for make in (lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=0.1),
                     lambda p: optim.AdamW(p, lr=0.1), lambda p: optim.RMSprop(p, lr=0.05)):
            axle.manual_seed(1)
            net, x = nn.Linear(3, 1), axle.randn(32, 3)
            y = x.sum(1, keepdim=True) * 0.5 + 1
            optimizer = make(net.parameters())
            with self.subTest(optimizer):
                losses = []
                for _ in range(40):
                    optimizer.zero_grad()
                    loss = F.mse_loss(net(x), y)
                    loss.backward()
                    optimizer.step()
                    losses.append(loss.item())
                self.assertLess(losses[-1], losses[0] / 10)
                self.assertEqual(optimizer.updates, 40)

    def test_groups(self):
        """groups have rates of their own"""
        net = Net()
        optimizer = optim.AdamW([{"params": net.body.parameters(), "lr": 0.5},
                                 {"params": [net.scale], "weight_decay": 0.0}], lr=0.25)
        self.assertEqual([g["lr"] for g in optimizer.param_groups], [0.5, 0.25])
        optimizer.param_groups[0]["lr"] = 0.125
        self.assertEqual(optimizer.param_groups[0]["lr"], 0.125)
        with self.assertRaises(ValueError):
            optim.SGD([])

    def test_schedules(self):
        """schedules multiply the initial rates"""
        schedules = optim.lr_scheduler
        for make, wanted in (
                (lambda o: schedules.LambdaLR(o, lambda tick: 1 / (1 + tick)), [1, 1 / 2, 1 / 3]),
                (lambda o: schedules.StepLR(o, 2, gamma=0.5), [1, 1, 0.5]),
                (lambda o: schedules.MultiStepLR(o, [1, 2]), [1, 0.1, 0.01]),
                (lambda o: schedules.ExponentialLR(o, 0.5), [1, 0.5, 0.25]),
                (lambda o: schedules.LinearLR(o, 0.5, 1.0, total_iters=2), [0.5, 0.75, 1]),
                (lambda o: schedules.CosineAnnealingLR(o, 2, eta_min=0.5), [1, 0.75, 0.5])):
            parameter = nn.Parameter(axle.ones(1))
            optimizer = optim.SGD([parameter], lr=1.0)
            scheduler, rates = make(optimizer), []
            for _ in wanted:
                rates += scheduler.get_last_lr()
                parameter.sum().backward()
                optimizer.step()
                scheduler.step()
            with self.subTest(type(scheduler).__name__):
                for rate, right in zip(rates, wanted):
                    self.assertAlmostEqual(rate, right, places=9)
                self.assertEqual(scheduler.state_dict(), {"last_epoch": 3})


if __name__ == "__main__":
    unittest.main()
