# SPDX-License-Identifier: Apache-2.0
"""Tensors: making, operators, indexing, NumPy."""
import copy
import gc
import pickle
import unittest
import weakref

import axle

try:
    import numpy
except ImportError:
    numpy = None


class Making(unittest.TestCase):
    def test_types(self):
        """types follow from what is given"""
        for data, kind in ((1, axle.int64), (1.5, axle.float32), ([True], axle.bool),
                           ([1, 2.0], axle.float32), ([[1], [2]], axle.int64)):
            with self.subTest(data):
                self.assertIs(axle.tensor(data).dtype, kind)
        self.assertIs(axle.tensor([1], dtype=axle.float64).dtype, axle.float64)
        self.assertEqual(axle.tensor([1, 2], dtype="float16").tolist(), [1.0, 2.0])

    def test_shapes(self):
        """shapes are given as numbers or as a tuple"""
        self.assertEqual(axle.zeros(2, 3).shape, (2, 3))
        self.assertEqual(axle.zeros((2, 3)).shape, (2, 3))
        self.assertEqual(axle.ones(()).shape, ())
        self.assertEqual(axle.tensor([[], []]).shape, (2, 0))
        with self.assertRaises(ValueError):
            axle.tensor([[1], [1, 2]])

    def test_makers(self):
        """full, arange, linspace, eye, *_like, randperm, randint"""
        self.assertEqual(axle.full((2,), 3).tolist(), [3, 3])
        self.assertEqual(axle.arange(1, 7, 2).tolist(), [1, 3, 5])
        self.assertEqual(axle.linspace(0, 1, 3).tolist(), [0.0, 0.5, 1.0])
        self.assertEqual(axle.eye(2).tolist(), [[1.0, 0.0], [0.0, 1.0]])
        self.assertEqual(axle.ones_like(axle.zeros(2, dtype="int32")).tolist(), [1, 1])
        self.assertEqual(sorted(axle.randperm(20).tolist()), list(range(20)))
        drawn = axle.randint(2, 5, (100,)).tolist()
        self.assertEqual(set(drawn), {2, 3, 4})

    def test_seed(self):
        """a seed repeats the random numbers"""
        axle.manual_seed(5)
        first = axle.randn(3).tolist()
        state = axle.get_rng_state()
        second = axle.randn(3).tolist()
        axle.manual_seed(5)
        self.assertEqual(axle.randn(3).tolist(), first)
        axle.set_rng_state(state)
        self.assertEqual(axle.randn(3).tolist(), second)
        self.assertNotEqual(first, second)


class Operators(unittest.TestCase):
    def test_arithmetic(self):
        """with tensors and numbers on either side"""
        x = axle.tensor([1.0, 2.0])
        for got, wanted in ((x + x, [2, 4]), (x - 1, [0, 1]), (1 - x, [0, -1]), (x * 3, [3, 6]),
                            (3 * x, [3, 6]), (x / 2, [0.5, 1]), (2 / x, [2, 1]), (x ** 2, [1, 4]),
                            (2 ** x, [2, 4]), (-x, [-1, -2]), (abs(-x), [1, 2]), (x % 2, [1, 0]),
                            (x // 2, [0, 1])):
            self.assertEqual(got.tolist(), wanted)

    def test_integers(self):
        """division of integers gives floats, and a float makes a float"""
        x = axle.tensor([1, 2])
        self.assertEqual((x / 2).tolist(), [0.5, 1.0])
        self.assertEqual((x // 2).tolist(), [0, 1])
        self.assertEqual((x * 0.5).tolist(), [0.5, 1.0])
        self.assertIs((x + 1).dtype, axle.int64)

    def test_broadcasting(self):
        """shapes broadcast, or else an error tells them"""
        self.assertEqual((axle.ones(2, 1) + axle.ones(3)).shape, (2, 3))
        with self.assertRaises(axle.ShapeError):
            axle.ones(2) + axle.ones(3)

    def test_compare(self):
        """comparisons and logic"""
        x = axle.tensor([1.0, 2.0, 3.0])
        self.assertEqual(((x > 1) & (x < 3)).tolist(), [False, True, False])
        self.assertEqual((~(x == 2)).tolist(), [True, False, True])
        self.assertEqual(axle.where(x > 1, x, 0.0).tolist(), [0.0, 2.0, 3.0])
        with self.assertRaises(axle.AxleError):
            bool(x)

    def test_reductions(self):
        """sums, means, extremes and their positions"""
        x = axle.tensor([[1.0, 5.0], [4.0, 2.0]])
        self.assertEqual(x.sum().item(), 12.0)
        self.assertEqual(x.mean(0).tolist(), [2.5, 3.5])
        values, places = x.max(dim=1)
        self.assertEqual((values.tolist(), places.tolist()), ([5.0, 4.0], [1, 0]))
        self.assertEqual(x.argmax().item(), 1)
        self.assertEqual(x.sum(1, keepdim=True).shape, (2, 1))
        self.assertAlmostEqual(x.std().item(), 1.8257419, places=6)

    def test_temporaries(self):
        """operands that nothing else holds live until they were used"""
        x = axle.ones(1000)
        for _ in range(50):
            y = axle.where((x > 0) & (x < 2), x + 1, x - 1) + axle.cat([x[:500] + 1, x[500:] + 1])
        self.assertEqual(y.sum().item(), 4000.0)


class Shapes(unittest.TestCase):
    def test_views(self):
        """views share memory"""
        x = axle.arange(6, dtype="float32").reshape(2, 3)
        self.assertEqual(x.T.tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(x.permute(1, 0).shape, (3, 2))
        self.assertEqual(x.unsqueeze(0).squeeze().shape, (2, 3))
        self.assertEqual(axle.ones(1, 3).expand(2, -1).shape, (2, 3))
        self.assertEqual([p.shape for p in x.split(2, dim=1)], [(2, 2), (2, 1)])
        self.assertEqual([p.tolist() for p in x.flatten().chunk(2)], [[0, 1, 2], [3, 4, 5]])
        x[0].zero_()
        self.assertEqual(x.tolist(), [[0, 0, 0], [3, 4, 5]])

    def test_indexing(self):
        """numbers, slices, None, ..., lists and masks"""
        x = axle.arange(24).reshape(2, 3, 4)
        plain = x.tolist()
        self.assertEqual(x[1, 2, 3].item(), 23)
        self.assertEqual(x[-1].tolist(), plain[-1])
        self.assertEqual(x[0, 1:, ::2].tolist(), [row[::2] for row in plain[0][1:]])
        self.assertEqual(x[0, ::-1].tolist(), plain[0][::-1])
        self.assertEqual(x[..., 0].tolist(), [[row[0] for row in part] for part in plain])
        self.assertEqual(x[:, None].shape, (2, 1, 3, 4))
        self.assertEqual(x[:, [2, 0]].shape, (2, 2, 4))
        self.assertEqual(x[0, 0][axle.tensor([-1, 0])].tolist(), [3, 0])
        self.assertEqual(x[x > 20].tolist(), [21, 22, 23])
        self.assertEqual([row.shape for row in x], [(3, 4)] * 2)
        for wrong in ((2,), (0, 0, 0, 0), (0, 3)):
            with self.assertRaises(IndexError):
                x[wrong]

    def test_assignment(self):
        """elements, slices and masks are overwritten"""
        x = axle.zeros(2, 3)
        x[0, 1] = 5
        x[1] = axle.tensor([1.0, 2.0, 3.0])
        x[x > 2] = -1
        self.assertEqual(x.tolist(), [[0, -1, 0], [1, 2, -1]])

    def test_copies(self):
        """pickle and copy keep values, type and whether gradients are wanted"""
        for kind in ("float32", "float64", "bfloat16", "int64", "bool"):
            x = axle.tensor([[1], [0]], dtype=kind)
            for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
                self.assertEqual((y.tolist(), y.dtype), (x.tolist(), x.dtype))
        self.assertTrue(copy.deepcopy(axle.ones(1, requires_grad=True)).requires_grad)


@unittest.skipUnless(numpy, "there is no NumPy")
class NumPy(unittest.TestCase):
    def test_shared(self):
        """numpy() has the tensor's memory on devices of the host, and keeps it"""
        x = axle.arange(6, dtype="float32", ).to("cpu").reshape(2, 3)
        array = x.T.numpy()
        array[0, 1] = 9
        self.assertEqual(x.tolist(), [[0, 1, 2], [9, 4, 5]])
        del x
        self.assertEqual(array.tolist(), [[0, 9], [1, 4], [2, 5]])

    def test_borrowed(self):
        """from_numpy() has the array's memory on devices of the host, and keeps it"""
        with axle.Device("cpu"):
            array = numpy.arange(6, dtype="float32").reshape(2, 3)
            alive = weakref.ref(array)
            x = axle.from_numpy(array)
            array[0, 0] = 7
            x[1, 2] = 9
            self.assertEqual(x[0, 0].item(), 7)
            self.assertEqual(array[1, 2], 9)
            row = x[0] * 1
            del array, x
            gc.collect()
            self.assertIsNone(alive())
            self.assertEqual(row.tolist(), [7, 1, 2])
            fixed = numpy.ones(2)
            fixed.flags.writeable = False
            axle.from_numpy(fixed)[0] = 5  # a copy
            self.assertEqual(fixed[0], 1)
            copied = numpy.zeros(2)
            axle.tensor(copied)[0] = 1
            self.assertEqual(copied[0], 0)

    def test_dlpack(self):
        """DLPack shares memory both ways, whichever side ends first"""
        with axle.Device("cpu"):
            for kind in ("float32", "float64", "float16", "int64", "int32", "uint8"):
                x = axle.tensor([[1, 2, 3], [4, 5, 6]], dtype=kind)
                array = numpy.from_dlpack(x.T)
                self.assertEqual((array.dtype.name, array.tolist()), (kind, x.T.tolist()))
                x[0, 1] = 9
                self.assertEqual(array[1, 0], 9)
                del x
                self.assertEqual(array[2].tolist(), [3, 6])
                back = axle.from_dlpack(numpy.arange(24, dtype=kind).reshape(2, 3, 4)
                                        .transpose(2, 0, 1))
                self.assertEqual((back.shape, back.dtype.name), ((4, 2, 3), kind))
                self.assertEqual(back[:, 1, 2].tolist(), [20, 21, 22, 23])
            array = numpy.zeros(3)
            axle.from_dlpack(array)[1] = 5
            self.assertEqual(array[1], 5)
            again = axle.from_dlpack(axle.ones(2, dtype="bfloat16"))
            self.assertEqual((again.dtype, again.tolist()), (axle.bfloat16, [1, 1]))
            axle.ones(2).__dlpack__()  # a capsule that nobody takes
            self.assertEqual(axle.from_dlpack(numpy.zeros((0, 2))).shape, (0, 2))
            with self.assertRaisesRegex(BufferError, "gaps"):
                axle.from_dlpack(numpy.zeros(6)[::2])
            with self.assertRaisesRegex(BufferError, "gradient"):
                numpy.from_dlpack(axle.ones(1, requires_grad=True))
        del array, back, again
        gc.collect()
        self.assertEqual(len(axle.exchange._owners), 0)

    def test_types(self):
        """every type of NumPy's goes there and back"""
        for kind in ("float32", "float64", "float16", "int64", "int32", "uint8", "bool"):
            array = numpy.array([[0, 1], [1, 1]], dtype=kind)
            x = axle.from_numpy(array)
            self.assertEqual(x.dtype.name, kind)
            numpy.testing.assert_array_equal(x.numpy(), array)
        with self.assertRaises(TypeError):
            axle.from_numpy(numpy.array(["text"]))

    def test_strided(self):
        """arrays of any strides are taken, and arithmetic mixes"""
        array = numpy.arange(6, dtype="float32").reshape(2, 3).T[::-1]
        numpy.testing.assert_array_equal(axle.from_numpy(array).numpy(), array)
        numpy.testing.assert_array_equal((array + axle.from_numpy(array)).numpy(), 2 * array)
        numpy.testing.assert_array_equal(numpy.asarray(axle.from_numpy(array)), array)

    def test_gradient(self):
        """a tensor that requires a gradient must be detached"""
        with self.assertRaises(RuntimeError):
            axle.ones(2, requires_grad=True).numpy()


if __name__ == "__main__":
    unittest.main()
