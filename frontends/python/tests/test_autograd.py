# SPDX-License-Identifier: Apache-2.0
"""Gradients, hooks and functions of one's own."""
import gc
import unittest

import axle
from axle import autograd


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class SumAndDifference(autograd.Function):
    outputs = 2

    @staticmethod
    def forward(ctx, a, b, scale):
        ctx.scale = scale
        return (a + b) * scale, (a - b) * scale

    @staticmethod
    def backward(ctx, one, two):
        return (one + two) * ctx.scale, (one - two) * ctx.scale, None


class Faulty(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1

    @staticmethod
    def backward(ctx, grad):
        raise KeyError("in backward")


class Gradients(unittest.TestCase):
    def test_backward(self):
        """gradients of leaves add up"""
        x = axle.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            (x * x).sum().backward()
        self.assertEqual(x.grad.tolist(), [4.0, 8.0])
        x.grad = None
        self.assertIsNone(x.grad)

    def test_no_grad(self):
        """nothing is recorded under no_grad"""
        x = axle.ones(2, requires_grad=True)
        with axle.no_grad():
            self.assertFalse((x * 2).requires_grad)
        self.assertTrue((x * 2).requires_grad)
        with self.assertRaises(RuntimeError):
            x.add_(1)
        with axle.no_grad():
            x.add_(1)
        self.assertEqual(x.tolist(), [2.0, 2.0])

    def test_hook(self):
        """a hook sees and replaces the gradient until it is removed"""
        x, seen = axle.ones(2, requires_grad=True), []

        def hook(grad):
            seen.append(grad.tolist())
            return grad * 10
        handle = x.register_hook(hook)
        (x * 3).sum().backward()
        self.assertEqual((seen, x.grad.tolist()), ([[3.0, 3.0]], [30.0, 30.0]))
        handle.remove()
        x.grad = None
        (x * 3).sum().backward()
        self.assertEqual(x.grad.tolist(), [3.0, 3.0])

    def test_hook_error(self):
        """an exception in a hook comes out of backward"""
        x = axle.ones(2, requires_grad=True)
        x.register_hook(lambda grad: {}["missing"])
        with self.assertRaisesRegex(KeyError, "missing"):
            x.sum().backward()


class Functions(unittest.TestCase):
    def test_function(self):
        """a function of one's own has its own derivative"""
        x = axle.tensor([2.0, 3.0], requires_grad=True)
        y = Cube.apply(x)
        self.assertEqual(y.tolist(), [8.0, 27.0])
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), [12.0, 27.0])

    def test_several(self):
        """of several inputs, results, and other arguments"""
        a, b = (axle.tensor([n], requires_grad=True) for n in (5.0, 3.0))
        total, difference = SumAndDifference.apply(a, b, 2.0)
        self.assertEqual((total.item(), difference.item()), (16.0, 4.0))
        (total + 3 * difference).backward()
        self.assertEqual((a.grad.item(), b.grad.item()), (8.0, -4.0))

    def test_error(self):
        """an exception in backward comes out of backward"""
        x = axle.ones(2, requires_grad=True)
        with self.assertRaisesRegex(KeyError, "in backward"):
            Faulty.apply(x).sum().backward()

    def test_forgotten(self):
        """what a function kept goes with its result"""
        gc.collect()
        before = len(autograd._objects)
        x = axle.ones(2, requires_grad=True)
        y = Cube.apply(x)
        self.assertGreater(len(autograd._objects), before)
        del y
        gc.collect()
        self.assertEqual(len(autograd._objects), before)


if __name__ == "__main__":
    unittest.main()
