# SPDX-License-Identifier: Apache-2.0
"""Pretrained models, tokenizers, schedules, metrics; a fine-tuning beside PyTorch's."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import axle
from axle import metrics, optim
from axle import transformers as tf
from make_training import checkpoint, losses

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.environ.get("AXLE_LIBRARY", "")
PROGRAM = os.path.join(FOLDER, "training.py")
GOLDEN = os.path.join(FOLDER, "..", "..", "..", "tests", "golden", "transformers")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "film", "is", "good", "bad", "##ly",
         "é", "!"]


def there(name):
    """Whether a plugin was built."""
    return os.path.exists(os.path.join(LIBRARY, name))


class Training(unittest.TestCase):
    """The same file with Axle and with PyTorch."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.plain = checkpoint(cls.folder.name, dropout=False)
        with open(os.path.join(FOLDER, "training.json")) as file:
            cls.wanted = json.load(file)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def near(self, found, wanted, delta):
        self.assertEqual(len(found), len(wanted))
        for k, (a, b) in enumerate(zip(found, wanted)):
            self.assertAlmostEqual(a, b, delta=delta, msg="update %d" % k)

    def test_forms(self):
        """losses of 40 updates are PyTorch's to 1e-5, with tuples, dictionaries and unprepared"""
        for form in ("tuple", "dict", "plain"):
            with self.subTest(form):
                self.near(losses(PROGRAM, "axle", self.plain, form), self.wanted, 1e-5)

    @unittest.skipUnless(there("backends/opencl.so"), "there is no OpenCL backend")
    def test_opencl(self):
        """and with OpenCL"""
        try:
            axle.Device("opencl")
        except axle.AxleError:
            self.skipTest("there is no OpenCL device")
        self.near(losses(PROGRAM, "axle", self.plain, AXLE_BACKEND="opencl"), self.wanted, 1e-5)

    @unittest.skipUnless(there("collectives/gloo.so"), "there is no transport between processes")
    def test_processes(self):
        """and by two processes, which also draw the dropout of one"""
        launch = ("-m", "axle", "launch", "--quiet", "-n", "2", PROGRAM, "axle")
        self.near(losses(*launch, self.plain), self.wanted, 1e-5)
        with tempfile.TemporaryDirectory() as folder:
            dropout = checkpoint(folder)
            alone = losses(PROGRAM, "axle", dropout, "dict")
            self.assertGreater(abs(alone[0] - self.wanted[0]), 1e-4)
            self.near(losses(*launch, dropout, "dict"), alone, 1e-5)


class Models(unittest.TestCase):
    def test_saved(self):
        """a saved model is the same, with other labels where they are asked for"""
        config = tf.AutoConfig.for_model("bert", vocab_size=20, hidden_size=8, num_hidden_layers=1,
                                         num_attention_heads=2, intermediate_size=16,
                                         max_position_embeddings=8)
        self.assertEqual((config.model_type, config.hidden_size), ("bert", 8))
        model = tf.AutoModelForSequenceClassification.from_config(config).eval()
        ids = axle.arange(12).reshape(2, 6)
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            self.assertEqual(sorted(os.listdir(folder)), ["config.json", "model.safetensors"])
            again = tf.AutoModelForSequenceClassification.from_pretrained(folder)
            self.assertFalse(again.training)
            self.assertTrue(axle.allclose(again(ids).logits, model(ids)["logits"]))
            other = tf.AutoModelForSequenceClassification.from_pretrained(
                folder, id2label={0: "a", 1: "b", 2: "c"}, label2id={"a": 0, "b": 1, "c": 2},
                ignore_mismatched_sizes=True)
            self.assertEqual(other.config.label2id, {"a": 0, "b": 1, "c": 2})
            self.assertEqual(other(ids)[0].shape, (2, 3))
        (logits,) = model(ids, return_dict=False)
        self.assertEqual(logits.shape, (2, 2))
        with self.assertRaisesRegex(TypeError, "labels"):
            model(ids, labels=[0, 1])

    def test_tasks(self):
        """each task's class reads what was made for it"""
        for name, kind, shape in (("distilbert-masked", tf.AutoModelForMaskedLM, 60),
                                  ("bert-token", tf.AutoModelForTokenClassification, None)):
            with self.subTest(name):
                model = kind.from_pretrained(os.path.join(GOLDEN, name))
                width = model(axle.ones(1, 4, dtype="int64")).logits.shape[-1]
                self.assertEqual(width, shape or model.config.num_labels)
        with self.assertRaises(axle.AxleError):
            tf.AutoModelForCausalLM.from_pretrained(os.path.join(GOLDEN, "bert-token"))

    def test_generate(self):
        """a model for the next token continues texts, and equal seeds draw equal ones"""
        model = tf.AutoModelForCausalLM.from_pretrained(os.path.join(GOLDEN, "gpt2-causal"))
        begin = axle.tensor([[5, 6, 7]], dtype="int64")
        likely = model.generate(begin, max_new_tokens=5, eos_token_id=-1)
        self.assertEqual(likely.shape, (1, 8))
        whole = model(likely).logits.tolist()[0]
        for k in range(3, 8):
            row = whole[k - 1]
            self.assertEqual(likely.tolist()[0][k], row.index(max(row)))
        drawn = [model.generate(begin, max_new_tokens=9, do_sample=True, temperature=9.0,
                                eos_token_id=-1, seed=seed).tolist() for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        with self.assertRaises(ValueError):
            model.generate(axle.ones(2, 3, dtype="int64"))

    def test_schedules(self):
        """rates go up and down"""
        def rates(make, *arguments, **named):
            parameter = axle.nn.Parameter(axle.ones(1))
            optimizer = optim.SGD([parameter], lr=1.0)
            schedule, seen = make(*arguments[:1], optimizer, *arguments[1:], **named), []
            for _ in range(5):
                seen.append(round(schedule.get_last_lr()[0], 4))
                parameter.sum().backward()
                optimizer.step()
                schedule.step()
            return seen
        self.assertEqual(rates(tf.get_scheduler, "linear", num_warmup_steps=1,
                               num_training_steps=5), [0.0, 1.0, 0.75, 0.5, 0.25])
        self.assertEqual(rates(tf.get_scheduler, "cosine", 1, 5),
                         [0.0, 1.0, 0.8536, 0.5, 0.1464])
        self.assertEqual(rates(tf.get_scheduler, "constant"), [1.0] * 5)
        self.assertEqual(rates(tf.get_scheduler, "constant_with_warmup", 2),
                         [0.0, 0.5, 1.0, 1.0, 1.0])
        self.assertEqual(rates(tf.get_scheduler, "polynomial", 0, 4)[-1], 0.0)
        with self.assertRaisesRegex(ValueError, "no schedule"):
            rates(tf.get_scheduler, "square")


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.folder.name, "vocab.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(WORDS) + "\n")
        with open(os.path.join(cls.folder.name, "tokenizer_config.json"), "w") as file:
            json.dump({"tokenizer_class": "BertTokenizer", "do_lower_case": True,
                       "strip_accents": False, "model_max_length": 32}, file)
        try:
            cls.tokenizer = tf.AutoTokenizer.from_pretrained(cls.folder.name)
        except axle.AxleError as error:  # built without utf8proc
            cls.folder.cleanup()
            raise unittest.SkipTest(str(error)) from None

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_one(self):
        """one text gives lists, and ids give the text back"""
        made = self.tokenizer("The film is goodly!")
        self.assertEqual(made.input_ids, [2, 5, 6, 7, 8, 10, 12, 3])
        self.assertEqual(made["attention_mask"], [1] * 8)
        self.assertEqual(made.token_type_ids, [0] * 8)
        self.assertEqual(self.tokenizer.decode(made.input_ids, skip_special_tokens=True),
                         "the film is goodly!")
        self.assertEqual(self.tokenizer.tokenize("goodly"), ["good", "##ly"])
        self.assertEqual(self.tokenizer.convert_tokens_to_ids(["film", "none"]), [6, 1])
        self.assertEqual((self.tokenizer.pad_token, self.tokenizer.cls_token_id), ("[PAD]", 2))
        self.assertIsNone(self.tokenizer.bos_token)
        self.assertEqual((len(self.tokenizer), self.tokenizer.model_max_length), (13, 32))
        spans = self.tokenizer("é é good", return_offsets_mapping=True).offset_mapping
        self.assertEqual(spans, [(0, 0), (0, 1), (2, 3), (4, 8), (0, 0)])

    def test_many(self):
        """several texts and pairs become padded, truncated tensors"""
        made = self.tokenizer(["film", "the film is good"], ["bad", "is bad"], padding=True,
                              truncation=True, max_length=8, return_tensors="pt")
        self.assertEqual(made.input_ids.tolist(),
                         [[2, 6, 3, 9, 3, 0, 0, 0], [2, 5, 6, 7, 3, 7, 9, 3]])
        self.assertEqual(made.token_type_ids.tolist()[1], [0] * 5 + [1] * 3)
        self.assertEqual(made.to("cpu")["attention_mask"][0].tolist(), [1] * 5 + [0] * 3)
        with self.assertRaisesRegex(ValueError, "one length"):
            self.tokenizer(["film", "the film"], return_tensors="pt")
        with self.assertRaisesRegex(ValueError, "NUL"):
            self.tokenizer("a\0b")
        with self.assertRaisesRegex(ValueError, "none of"):
            self.tokenizer("a", padding="much")

    def test_collator(self):
        """samples of several lengths make a batch"""
        samples = [{**self.tokenizer("film"), "label": 0}, {**self.tokenizer("is bad"), "label": 1}]
        batch = tf.DataCollatorWithPadding(self.tokenizer, pad_to_multiple_of=8)(samples)
        self.assertEqual(batch["input_ids"].shape, (2, 8))
        self.assertEqual(batch.labels.tolist(), [0, 1])
        self.assertEqual(batch.attention_mask.tolist()[0], [1, 1, 1, 0, 0, 0, 0, 0])

    def test_saved(self):
        """a saved tokenizer is the same"""
        with tempfile.TemporaryDirectory() as folder:
            self.tokenizer.save_pretrained(folder)
            again = tf.AutoTokenizer.from_pretrained(folder)
            self.assertEqual(again("the é!").input_ids, self.tokenizer("the é!").input_ids)
        with self.assertRaises(axle.NotFoundError):
            with tempfile.TemporaryDirectory() as folder:
                tf.AutoTokenizer.from_pretrained(folder)


class Metrics(unittest.TestCase):
    def test_values(self):
        """accuracy and F1 over batches of predictions, then anew"""
        metric = metrics.load("glue", "mrpc")
        for _ in range(2):
            metric.add_batch(predictions=axle.tensor([1, 1]), references=axle.tensor([1, 0]))
            metric.add_batch(predictions=axle.tensor([0, 1]), references=axle.tensor([0, 1]))
            found = metric.compute()
            self.assertEqual(set(found), {"accuracy", "f1"})
            self.assertAlmostEqual(found["accuracy"], 0.75)
            self.assertAlmostEqual(found["f1"], 0.8)
        self.assertEqual(metrics.load("accuracy").compute(
            predictions=axle.tensor([1]), references=axle.tensor([1])), {"accuracy": 1.0})
        with self.assertRaisesRegex(ValueError, "no metric"):
            metrics.load("taste")


class Imports(unittest.TestCase):
    def test_lazy(self):
        """import axle loads neither the models' library nor NumPy"""
        text = "import axle, sys; print('numpy' in sys.modules, axle._library.models.path)"
        done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                              check=True)
        self.assertEqual(done.stdout, "False None\n")


if __name__ == "__main__":
    unittest.main()
