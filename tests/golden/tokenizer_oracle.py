# SPDX-License-Identifier: Apache-2.0
"""Tokenizers of the library `tokenizers`, trained on any text, and texts to compare on.

They have the normalisers, splitters and processors that transformers gives the families; the
vocabularies are our own and small.
"""

import json
import pathlib
import random
import unicodedata

from tokenizers import (AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT_CONFIG = {"tokenizer_class": "BertTokenizer", "unk_token": "[UNK]", "cls_token": "[CLS]",
               "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]",
               "model_max_length": 512}
ELECTRA_CONFIG = {**BERT_CONFIG, "tokenizer_class": "ElectraTokenizer"}
ROBERTA_CONFIG = {"tokenizer_class": "RobertaTokenizer", "bos_token": "<s>", "cls_token": "<s>",
                  "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>",
                  "unk_token": "<unk>", "mask_token": "<mask>", "model_max_length": 512,
                  "add_prefix_space": False, "trim_offsets": True}
GPT2_CONFIG = {"tokenizer_class": "GPT2Tokenizer", "bos_token": "<|endoftext|>",
               "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>",
               "model_max_length": 1024, "add_prefix_space": False}


def wordpiece(lines, size, lower, config, processor="template"):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=BERT, show_progress=False, limit_alphabet=size // 3,
        continuing_subword_prefix="##"))
    if processor == "template":
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    else:
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer, {**config, "do_lower_case": lower}


def byte_level(lines, size, specials, prefix_space):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def roberta(lines, size, prefix_space=False):
    tokenizer = byte_level(lines, size, ROBERTA, prefix_space)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False,
                                             special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=prefix_space)
    return tokenizer, {**ROBERTA_CONFIG, "add_prefix_space": prefix_space}


def gpt2(lines, size):
    tokenizer = byte_level(lines, size, ["<|endoftext|>"], False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, GPT2_CONFIG


# Folder, and how it is made of lines of text.
FAMILIES = {
    "bert-cased": lambda lines, size: wordpiece(lines, size, False, BERT_CONFIG),
    "bert-uncased": lambda lines, size: wordpiece(lines, size, True, BERT_CONFIG),
    "electra": lambda lines, size: wordpiece(lines, size, True, ELECTRA_CONFIG, "bert"),
    "roberta": roberta,
    "roberta-space": lambda lines, size: roberta(lines, size, True),
    "gpt2": gpt2,
}


def write(folder, tokenizer, config):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")


# ---- texts that are hard on tokenizers

ODD = ["[MASK]", "[SEP]x", "[mask]", "<mask>", " <mask> ", "<s>", "</s>", "<|endoftext|>",
       "it's", "we'll'd", "I'M", "don't", "\u2019s", "$5+3", "a\u00adb", "10\u00a0km", "\ufffd",
       "\x00", "\x07", "\x85", "\u200b", "\ufeff", "\u2028", "\t", "\r", "  ", "   ", "\u3000",
       "\U0001F469\u200d\U0001F52C", "\U0001F1E9\U0001F1EA", "\U0001F44D\U0001F3FD", "\u2603\ufe0f",
       "e\u0301\u0323", "\u1e9b\u0323", "\u212b", "\u0130", "\u01c5", "\ufb01", "\u1100\u1161",
       "\uac01", "\u0915\u094d\u0937\u093f", "\u0e01\u0e33", "\u4e2d\u6587", "\u65e5\u672c",
       "a" * 101, "\u0436" * 60, "\ue000", "\U000f0000", "\U0001D400", "\u0378", "\U00050000",
       "\uff21\uff42", "\u0660\u0661", "\u2167", "\u00bd", "_", "\u203f", "##ing", "."]


def known(code):
    """Whether all versions of Unicode in use agree on what the code point is."""
    char = chr(code)
    if 0xD800 <= code < 0xE000:
        return False
    # Unassigned for long: planes without characters, and holes that nothing is to fill.
    return unicodedata.category(char) != "Cn" or 0x40000 <= code < 0xE0000 or code in (0x378, 0xFFFE)


def fuzzed(count, seed):
    """Lines of code points and odd pieces drawn at random, without newlines."""
    draw = random.Random(seed)
    everything = [code for code in range(0x110000) if known(code)]
    everything.remove(10)
    letters = [code for code in everything if code < 0x3000]
    marks = [code for code in everything if unicodedata.combining(chr(code))]
    pools = [everything, letters, letters, [code for code in letters if code < 0x180], marks]
    lines = []
    for _ in range(count):
        line = ""
        for _ in range(draw.randrange(1, 30)):
            kind = draw.random()
            if kind < 0.25:
                line += draw.choice(ODD)
            elif kind < 0.4:
                line += " "
            else:
                pool = draw.choice(pools)
                line += "".join(chr(draw.choice(pool)) for _ in range(draw.randrange(1, 5)))
        lines.append(line)
    return lines


def mojibake(line):
    """UTF-8 that somebody took for Windows-1252."""
    return line.encode("utf-8").decode("cp1252", "replace").replace("\n", " ")
