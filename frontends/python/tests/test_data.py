# SPDX-License-Identifier: Apache-2.0
"""Data sets and loaders."""
import gc
import unittest

import axle
from axle.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset,
                       RandomSampler, SequentialSampler, Subset, TensorDataset, random_split)
from axle.data import source


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        if not 0 <= k < self.n:
            raise IndexError(k)
        return {"k": k, "square": axle.tensor([float(k * k)]), "text": "<%d>" % k}


class Counting(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return ((k, float(-k)) for k in range(self.n))


def numbers(loader):
    return [k for batch in loader for k in batch["k"].tolist()]


class Loaders(unittest.TestCase):
    def test_order(self):
        """in order, with a last batch that is shorter or dropped"""
        loader = DataLoader(Squares(10), batch_size=4)
        batches = list(loader)
        self.assertEqual([b["k"].tolist() for b in batches], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
        self.assertEqual(batches[2]["square"].tolist(), [[64.0], [81.0]])
        self.assertEqual(batches[2]["text"], ["<8>", "<9>"])
        self.assertEqual((len(loader), len(DataLoader(Squares(10), 4, drop_last=True))), (3, 2))

    def test_shuffle(self):
        """shuffled anew each epoch, by the seed"""
        axle.manual_seed(3)
        loader, again = (DataLoader(Squares(20), 4, shuffle=True) for _ in range(2))
        one, two = numbers(loader), numbers(loader)
        self.assertEqual(sorted(one), list(range(20)))
        self.assertNotEqual(one, two)
        self.assertEqual(one, numbers(again))
        again.set_epoch(0)
        self.assertEqual(one, numbers(again))
        self.assertNotEqual(one, numbers(DataLoader(Squares(20), 4, shuffle=True, seed=4)))

    def test_workers(self):
        """threads that fetch ahead change nothing"""
        for _ in range(3):
            loader = DataLoader(Squares(50), 4, num_workers=3)
            self.assertEqual(numbers(loader), list(range(50)))
        for batch in loader:
            break
        self.assertEqual(batch["k"].tolist(), [0, 1, 2, 3])
        self.assertEqual(numbers(loader), list(range(50)))

    def test_samplers(self):
        """orders and batches of one's own"""
        back = DataLoader(Squares(5), 2, sampler=[4, 3, 2, 1, 0])
        self.assertEqual([b["k"].tolist() for b in back], [[4, 3], [2, 1], [0]])
        own = DataLoader(Squares(5), batch_sampler=[[1], [0, 2, 4]])
        self.assertEqual([b["k"].tolist() for b in own], [[1], [0, 2, 4]])
        self.assertEqual(len(own), 2)
        both = BatchSampler(RandomSampler(range(9)), 4, drop_last=True)
        self.assertEqual(len(set(numbers(DataLoader(Squares(9), batch_sampler=both)))), 8)
        self.assertEqual(list(SequentialSampler("abc")), [0, 1, 2])
        with self.assertRaises(ValueError):
            DataLoader(Squares(5), sampler=[0], shuffle=True)
        with self.assertRaisesRegex(ValueError, "6 numbers for 5"):
            list(DataLoader(Squares(5), sampler=[0] * 6))

    def test_tensors(self):
        """rows of tensors, and sequences of tuples"""
        x, y = axle.arange(10, dtype="float32").reshape(5, 2), axle.arange(5)
        for dataset in (TensorDataset(x, y), list(zip(x, y))):
            batches = list(DataLoader(dataset, 2))
            self.assertEqual(batches[1][0].tolist(), [[4.0, 5.0], [6.0, 7.0]])
            self.assertEqual([b[1].tolist() for b in batches], [[0, 1], [2, 3], [4]])
            self.assertEqual(batches[0][0].device, axle.current_device())

    def test_collate(self):
        """a function of one's own joins samples"""
        loader = DataLoader([[1], [1, 2], [3]], 2, collate_fn=lambda rows: sum(rows, []))
        self.assertEqual(list(loader), [[1, 1, 2], [3]])

    def test_streams(self):
        """iterables, of known and unknown length"""
        loader = DataLoader(Counting(5), 2)
        for _ in range(2):
            self.assertEqual([(k.tolist(), v.tolist()) for k, v in loader],
                             [([0, 1], [-0.0, -1.0]), ([2, 3], [-2.0, -3.0]), ([4], [-4.0])])
        with self.assertRaises(TypeError):
            len(loader)
        self.assertEqual(len(list(DataLoader(Counting(7), 2, num_workers=1))), 4)
        self.assertEqual(len(list(DataLoader({1, 2, 3}, 2))), 2)

    def test_errors(self):
        """exceptions of the data set come out of the loop"""
        for workers in (0, 2):
            loader = DataLoader([1, 2, 3], 1, num_workers=workers,
                                collate_fn=lambda rows: 1 / (rows[0] - 2))
            with self.assertRaises(ZeroDivisionError):
                list(loader)
            with self.assertRaises(ZeroDivisionError):
                list(loader)

    def test_nested(self):
        """loops inside each other, and left early"""
        outer, inner = DataLoader(Squares(3), 1), DataLoader(Squares(2), 1)
        seen = []
        for a in outer:
            seen += [(a["k"].item(), b["k"].item()) for b in inner]
        self.assertEqual(seen, [(i, j) for i in range(3) for j in range(2)])
        pairs = [(a["k"].item(), b["k"].item()) for a, b in zip(outer, inner)]
        self.assertEqual(pairs, [(0, 0), (1, 1)])
        self.assertEqual(numbers(outer), [0, 1, 2])
        outer.skip(2)
        self.assertEqual(numbers(outer), [2])

    def test_forgotten(self):
        """a loader leaves nothing behind"""
        gc.collect()
        before = len(source._sources)
        loader = DataLoader(Squares(3), 1)
        list(loader)
        self.assertEqual((len(source._sources), len(loader._source.structures)), (before + 1, 0))
        del loader
        gc.collect()
        self.assertEqual(len(source._sources), before)


class Sets(unittest.TestCase):
    def test_sets(self):
        """subsets, joined and split sets"""
        joined = Squares(3) + Squares(2)
        self.assertIsInstance(joined, ConcatDataset)
        self.assertEqual([joined[k]["k"] for k in (0, 2, 3, -1)], [0, 2, 0, 1])
        self.assertEqual(Subset("abcd", [3, 1])[1], "b")
        for lengths in ([7, 3], [0.7, 0.3]):
            parts = random_split(list(range(10)), lengths)
            self.assertEqual([len(part) for part in parts], [7, 3])
            self.assertEqual(sorted(x for part in parts for x in part), list(range(10)))
        with self.assertRaises(ValueError):
            random_split([1, 2], [1, 2])


if __name__ == "__main__":
    unittest.main()
