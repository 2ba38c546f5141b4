#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write tests/golden/tokenizers: small tokenizers and what the library `tokenizers` makes of texts.

usage: make_tokenizers.py    (with `tokenizers` from PyPI; the version is told at the end)

A folder has a tokenizer, and for each group of texts GROUP.txt, one text or pair a line,
GROUP.options for `axle tokenize`, and GROUP.jsonl, what that prints. Texts of the group `fuzzed` are
compared without offsets: those of marks that change places under normalisation differ.
"""

import json
import pathlib
import random
import sys

import tokenizers
from tokenizers import Tokenizer

sys.dont_write_bytecode = True
import tokenizer_oracle as oracle  # noqa: E402

HERE = pathlib.Path(__file__).parent
FAMILIES = ("bert-cased", "bert-uncased", "roberta", "gpt2")
VOCABULARY = 700

SENTENCES = [
    "The film was far better than its poster, and I'd watch it again.",
    "Don't believe the reviews: 3/10, unbelievably dull!",
    "Der Zug fährt um 7:45 Uhr über Köln nach Düsseldorf; Straße gesperrt.",
    "Où est passée la clé ? L'été dernier, elle était là.",
    "¿Cuánto cuesta? Unos 1.250,50 € — más o menos.",
    "Поезд опоздал на двадцать минут.", "Ο καιρός είναι καλός σήμερα.",
    "今天天气很好，我们去公园吧。", "明日は東京へ行きます。", "오늘은 비가 옵니다.",
    "आज मौसम अच्छा है।", "الطقس جميل اليوم", "מזג האוויר נעים", "วันนี้อากาศดี",
    "naïve café coöperate Ångström ﬁnally",
    "\U0001F600 great \U0001F469\u200d\U0001F52C\U0001F44D\U0001F3FD!!",
    "x = a[i]*b[j] + c->d; /* 100% */ printf(\"%d\\n\", x);",
    "user@example.org  visits   http://example.org/a_b?c=1&d=2",
    "\tindented\u00a0text \u200b with\u3000odd spaces  ", "",
    "[CLS] is a token [MASK] here </s> and <mask> <|endoftext|> there",
    "supercalifragilistic" * 6, "e\u0301 \u212b \u1e9b\u0323 İstanbul ǅ",
]


def training_text():
    root = HERE.parent.parent
    files = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    return [line for path in files for line in path.read_text().splitlines()] + SENTENCES * 3


def byte_offsets(text, pair, encoding):
    starts = []
    for part in (text, pair or ""):
        places = [0]
        for char in part:
            places.append(places[-1] + len(char.encode("utf-8")))
        starts.append(places)
    for (begin, end), which in zip(encoding.offsets, encoding.sequence_ids, strict=True):
        places = starts[which or 0]
        yield [places[begin], places[end]]


def line_of(tokenizer, text, pair, encoding):
    return {"input_ids": encoding.ids, "token_type_ids": encoding.type_ids,
            "attention_mask": encoding.attention_mask,
            "special_tokens_mask": encoding.special_tokens_mask,
            "word_ids": [-1 if word is None else word for word in encoding.word_ids],
            "tokens": [tokenizer.id_to_token(k) for k in encoding.ids],
            "offsets": list(byte_offsets(text, pair, encoding))}


def pairs():
    draw = random.Random(3)
    usable = [s for s in SENTENCES if "\t" not in s]
    return [tuple(draw.sample(usable, 2)) for _ in range(12)]


# What a line of a file cannot hold.
FUZZED = [line for line in oracle.fuzzed(60, 7) if "\0" not in line and not line.endswith("\r")]

# Name, texts, options of axle tokenize, truncation, padding, special tokens.
GROUPS = (
    ("plain", SENTENCES, "", None, None, True),
    ("bare", SENTENCES, "--no-special-tokens", None, None, False),
    ("pairs", pairs(), "--pairs", None, None, True),
    ("longest_first", pairs(), "--pairs --truncation longest_first --max-length 24",
     {"max_length": 24, "strategy": "longest_first"}, None, True),
    ("only_second", pairs(), "--truncation only_second --pairs --max-length 400",
     {"max_length": 400, "strategy": "only_second"}, None, True),
    ("cut", SENTENCES, "--truncation only_first --max-length 9",
     {"max_length": 9, "strategy": "only_first"}, None, True),
    ("padded", SENTENCES[:8], "--padding longest --pad-to-multiple-of 8", None,
     {"pad_to_multiple_of": 8}, True),
    ("fixed", SENTENCES[:8], "--padding max_length --max-length 40 --truncation longest_first",
     {"max_length": 40}, {"length": 40}, True),
    ("fuzzed", FUZZED, "", None, None, True),
)


def write_group(folder, group, config):
    name, texts, options, truncation, padding, special = group
    pad = config.get("pad_token")
    if padding is not None and not pad:
        return
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    if truncation:
        tokenizer.enable_truncation(**truncation)
    if padding is not None:
        tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad), pad_token=pad, **padding)
    inputs = [text if isinstance(text, tuple) else (text, None) for text in texts]
    encodings = tokenizer.encode_batch([a if b is None else (a, b) for a, b in inputs],
                                       add_special_tokens=special)
    lines = ["\t".join(part for part in text if part is not None) for text in inputs]
    (folder / f"{name}.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8",
                                        newline="\n")
    (folder / f"{name}.options").write_text(options + "\n")
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8", newline="\n") as out:
        for (text, pair), encoding in zip(inputs, encodings, strict=True):
            line = line_of(tokenizer, text, pair, encoding)
            if name == "fuzzed":
                del line["offsets"]
            out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    for family in FAMILIES:
        folder = HERE / "tokenizers" / family
        tokenizer, config = oracle.FAMILIES[family](training_text(), VOCABULARY)
        oracle.write(folder, tokenizer, config)
        for group in GROUPS:
            write_group(folder, group, config)
    print("made with tokenizers", tokenizers.__version__)


if __name__ == "__main__":
    main()
