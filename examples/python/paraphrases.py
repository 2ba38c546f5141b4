# SPDX-License-Identifier: Apache-2.0
"""Pairs of sentences that say the same or not, and a small model to begin with.

Examples of Hugging Face's accelerate load GLUE's MRPC with their library `datasets`; this module
stands in for it. With MRPC_DIR, a folder with train.tsv and dev.tsv of that set, the data are MRPC;
without, sentences that are made up. Likewise CHECKPOINT is a model's folder or name; without, a
BERT of two small layers with random parameters.
"""
import csv
import os
import random
import tempfile

from axle.transformers import AutoConfig, AutoModelForSequenceClassification, set_seed

WORDS = {
    "who": "the farmer,a painter,my neighbour,the doctor,her brother,an old sailor".split(","),
    "did": "bought,sold,found,lost,painted,hid".split(","),
    "what": "a boat,the red car,an apple,two books,the key,a lamp".split(","),
}
FORMS = ("{who} {did} {what} .", "it is said that {who} {did} {what} .",
         "{what} was what {who} {did} .")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


class Rows(list):
    """Rows, with what examples call of a split of `datasets`."""

    def map(self, function, batched=True, remove_columns=()):
        columns = {name: [row[name] for row in self] for name in self[0]}
        columns.update(function(columns))
        kept = {name: column for name, column in columns.items() if name not in remove_columns}
        return Rows(dict(zip(kept, values)) for values in zip(*kept.values()))

    def rename_column(self, old, new):
        return Rows({new if name == old else name: value for name, value in row.items()}
                    for row in self)


class Splits(dict):
    """Splits by name, with the same calls."""

    def map(self, *arguments, **named):
        return Splits((name, rows.map(*arguments, **named)) for name, rows in self.items())

    def rename_column(self, old, new):
        return Splits((name, rows.rename_column(old, new)) for name, rows in self.items())


def _made_up(n, seed):
    draw, rows = random.Random(seed), Rows()
    for number in range(n):
        facts = {name: draw.choice(words) for name, words in WORDS.items()}
        label, others = draw.randrange(2), dict(facts)
        if not label:
            name = draw.choice(sorted(WORDS))
            others[name] = draw.choice([word for word in WORDS[name] if word != facts[name]])
        first, second = draw.sample(FORMS, 2)
        rows.append({"sentence1": first.format(**facts), "sentence2": second.format(**others),
                     "label": label, "idx": number})
    return rows


def _read(path):
    with open(path, encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return Rows({"label": int(label), "sentence1": first, "sentence2": second, "idx": number}
                for number, (label, _, _, first, second) in enumerate(lines))


def load_dataset(path="glue", name="mrpc"):
    """Splits "train" and "validation"."""
    folder = os.environ.get("MRPC_DIR")
    if folder:
        return Splits(train=_read(os.path.join(folder, "train.tsv")),
                      validation=_read(os.path.join(folder, "dev.tsv")))
    size = int(os.environ.get("PAIRS", "2000"))
    return Splits(train=_made_up(size, 1), validation=_made_up(max(size // 10, 10), 2))


def checkpoint():
    """Folder or name of the model to begin with."""
    given = os.environ.get("CHECKPOINT")
    if given:
        return given
    words = sorted({word for text in (*FORMS, *sum(WORDS.values(), [])) for word in text.split()
                    if "{" not in word})
    folder = _kept.name
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(SPECIAL + words) + "\n")
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        file.write('{"tokenizer_class": "BertTokenizer", "model_max_length": 64}\n')
    if not os.path.exists(os.path.join(folder, "config.json")):
        set_seed(1)
        config = AutoConfig.for_model(
            "bert", vocab_size=len(SPECIAL) + len(words), hidden_size=32, num_hidden_layers=2,
            num_attention_heads=2, intermediate_size=64, max_position_embeddings=64)
        AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    return folder


_kept = tempfile.TemporaryDirectory()
