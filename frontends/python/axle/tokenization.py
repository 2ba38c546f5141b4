# SPDX-License-Identifier: Apache-2.0
"""Texts to token ids and back, with the names of Hugging Face's transformers."""
import ctypes
import json
import os

from . import _abi
from ._library import check, models, options, out_pointer, struct, take_text
from .creation import tensor
from .data.collate import map_tensors

#: Attributes of a tokenizer, in the order of AXLE_TOKEN_....
_ROLES = ("unk", "bos", "eos", "sep", "pad", "cls", "mask")
_TRUNCATIONS = {True: "LONGEST_FIRST", "longest_first": "LONGEST_FIRST", False: "NONE",
                None: "NONE", "do_not_truncate": "NONE", "only_first": "ONLY_FIRST",
                "only_second": "ONLY_SECOND"}
_PADDINGS = {True: "LONGEST", "longest": "LONGEST", "max_length": "MAX_LENGTH", False: "NONE",
             None: "NONE", "do_not_pad": "NONE"}
#: Fields of an encoding, and the members of the C struct that hold them.
_FIELDS = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask",
           "special_tokens_mask": "special_mask", "offset_mapping": "offsets"}
_FRAMEWORKS = (None, "ax", "axle", "pt", "np")


def _choice(names, key, prefix):
    if key not in names:
        raise ValueError("%r is none of %s" % (key, ", ".join(map(repr, names))))
    return _abi.CONSTANTS[prefix + names[key]]


class BatchEncoding(dict):
    """Fields of encoded texts, also as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def data(self):
        """The fields as a dictionary."""
        return dict(self)

    def to(self, device):
        """Move the tensors."""
        return map_tensors(self, lambda one: one.to(device))


def _convert(fields, framework):
    if framework not in _FRAMEWORKS:
        raise ValueError("return_tensors is %r, not one of %s" % (framework, _FRAMEWORKS))
    if framework is None:
        return BatchEncoding(fields)
    try:
        result = BatchEncoding((name, tensor(rows)) for name, rows in fields.items())
    except ValueError as error:
        raise ValueError("padding and truncation make rows of one length: %s" % error) from None
    return result if framework != "np" else BatchEncoding(
        (name, value.numpy()) for name, value in result.items())


class Tokenizer:
    """WordPiece or byte-level BPE; see AutoTokenizer."""

    _as_parameter_ = None

    def __init__(self, folder):
        self._as_parameter_ = out_pointer(models.axle_tokenizer_open, os.fspath(folder).encode())
        self.name_or_path = os.fspath(folder)
        self.model_max_length = models.axle_tokenizer_max_length(self) or int(1e30)
        said = _settings(folder)
        self.padding_side = said.get("padding_side", "right")
        self.model_input_names = said.get("model_input_names") or (
            ["input_ids", "token_type_ids", "attention_mask"] if self._tells_pairs_apart()
            else ["input_ids", "attention_mask"])

    def __del__(self):
        try:
            models.axle_tokenizer_release(self)
        except (AttributeError, TypeError):  # it was never made, or the interpreter ends
            pass

    def _tells_pairs_apart(self):
        return any(self._encode(["a"], ["a"], options("axle_encode_options"))[0]["token_type_ids"])

    # ---- the vocabulary

    def __len__(self):
        return models.axle_tokenizer_vocab_size(self)

    @property
    def vocab_size(self):
        """Number of ids."""
        return len(self)

    def __getattr__(self, name):
        role, _, kind = name.partition("_token")
        if role not in _ROLES or kind not in ("", "_id"):
            raise AttributeError(name)
        number = models.axle_tokenizer_special_id(self, _ROLES.index(role))
        if number < 0:
            return None
        return number if kind else self.convert_ids_to_tokens(number)

    def convert_tokens_to_ids(self, tokens):
        """The id of a token, or of each; of unknown ones that of unk_token."""
        if isinstance(tokens, str):
            number = models.axle_tokenizer_token_id(self, tokens.encode())
            return number if number >= 0 else self.unk_token_id
        return [self.convert_tokens_to_ids(one) for one in tokens]

    def convert_ids_to_tokens(self, ids):
        """The token of an id, or of each; None for ids that there are not."""
        if isinstance(ids, int):
            text = models.axle_tokenizer_token(self, ids)
            return None if text is None else text.decode()
        return [self.convert_ids_to_tokens(int(one)) for one in ids]

    # ---- texts to ids

    def __call__(self, text, text_pair=None, add_special_tokens=True, padding=False,
                 truncation=None, max_length=None, pad_to_multiple_of=None, return_tensors=None,
                 return_token_type_ids=None, return_attention_mask=None,
                 return_special_tokens_mask=False, return_offsets_mapping=False):
        """Encode a text or a list of them, or pairs. Without return_tensors the fields are lists.
        Offsets count characters."""
        alone = isinstance(text, str)
        texts = [text] if alone else list(text)
        pairs = None if text_pair is None else [text_pair] if alone else list(text_pair)
        if pairs is not None and len(pairs) != len(texts):
            raise ValueError("there are %d texts and %d second ones" % (len(texts), len(pairs)))
        chosen = options(
            "axle_encode_options", add_special_tokens=int(add_special_tokens),
            max_length=max_length or 0, pad_to_multiple_of=pad_to_multiple_of or 0,
            truncation=_choice(_TRUNCATIONS, truncation, "AXLE_TRUNCATE_"),
            padding=_choice(_PADDINGS, padding, "AXLE_PAD_"))
        wanted = {"input_ids": True, "token_type_ids": return_token_type_ids,
                  "attention_mask": return_attention_mask,
                  "special_tokens_mask": return_special_tokens_mask,
                  "offset_mapping": return_offsets_mapping}
        names = [name for name, said in wanted.items()
                 if said or said is None and name in self.model_input_names]
        if return_offsets_mapping and pairs and not self._tells_pairs_apart():
            raise ValueError("offsets of pairs need a tokenizer with token_type_ids")
        rows = self._encode(texts, pairs, chosen, names)
        if alone and return_tensors is None:
            return BatchEncoding(rows[0])
        return _convert({name: [row[name] for row in rows] for name in names}, return_tensors)

    encode_plus = batch_encode_plus = __call__

    def encode(self, text, text_pair=None, **named):
        """The ids of a text or pair."""
        return self(text, text_pair, **named)["input_ids"]

    def tokenize(self, text, **named):
        """The tokens of a text."""
        return self.convert_ids_to_tokens(self.encode(text, add_special_tokens=False, **named))

    def _encode(self, texts, pairs, chosen, names=("token_type_ids",)):
        plain = [one.encode(errors="replace") for one in texts]
        seconds = None if pairs is None else [one.encode(errors="replace") for one in pairs]
        if any(b"\0" in one for one in plain + (seconds or [])):
            raise ValueError("a text holds a NUL character")
        n = len(plain)
        made = out_pointer(models.axle_tokenizer_encode_batch, self, (ctypes.c_char_p * n)(*plain),
                           seconds and (ctypes.c_char_p * n)(*seconds), n, ctypes.byref(chosen), 0)
        try:
            each = (ctypes.POINTER(struct("axle_encoding")) * n).from_address(made) if n else []
            return [{name: _row(one.contents, name, plain[k], seconds and seconds[k])
                     for name in names} for k, one in enumerate(each)]
        finally:
            models.axle_encodings_release(made, n)

    # ---- padding

    def pad(self, encoded_inputs, padding=True, max_length=None, pad_to_multiple_of=None,
            return_tensors=None):
        """Pad encoded texts to one length: a list of dictionaries, or a dictionary of lists."""
        if isinstance(encoded_inputs, (list, tuple)):
            encoded_inputs = {name: [one[name] for one in encoded_inputs]
                              for name in encoded_inputs[0]}
        fields = {name: [_plain(row) for row in rows] for name, rows in encoded_inputs.items()}
        _choice(_PADDINGS, padding, "AXLE_PAD_")
        lengths = [len(row) for row in fields["input_ids"]]
        if padding in (True, "longest", "max_length"):
            fill = {"input_ids": self.pad_token_id, "special_tokens_mask": 1}
            longest = max(lengths, default=0)
            size = max_length or self.model_max_length if padding == "max_length" else longest
            size += -size % (pad_to_multiple_of or 1)
            fields.setdefault("attention_mask", [[1] * length for length in lengths])
            for name, rows in fields.items():
                if name in ("input_ids", "special_tokens_mask", *self.model_input_names):
                    fields[name] = [self._padded(row, size - len(row), fill.get(name, 0))
                                    for row in rows]
        return _convert(fields, return_tensors)

    def _padded(self, row, more, value):
        if value is None:
            raise ValueError("the tokenizer has no padding token")
        return [value] * more + row if self.padding_side == "left" else row + [value] * more

    # ---- ids to texts

    def decode(self, token_ids, skip_special_tokens=False):
        """The text of ids."""
        ids = _plain(token_ids)
        ids = [ids] if isinstance(ids, int) else ids
        return take_text(out_pointer(models.axle_tokenizer_decode, self,
                                     (ctypes.c_int64 * max(len(ids), 1))(*ids), len(ids),
                                     int(skip_special_tokens)))

    def batch_decode(self, sequences, skip_special_tokens=False):
        """The text of each row of ids."""
        return [self.decode(row, skip_special_tokens) for row in _plain(sequences)]

    def save_pretrained(self, save_directory):
        """Write the tokenizer's files, which transformers reads, too."""
        os.makedirs(save_directory, exist_ok=True)
        check(models.axle_tokenizer_save(self, os.fspath(save_directory).encode()))

    def __repr__(self):
        return "Tokenizer(%r, vocab_size=%d)" % (self.name_or_path, len(self))


def _settings(folder):
    """What tokenizer_config.json says; the library has read it before."""
    try:
        with open(os.path.join(folder, "tokenizer_config.json"), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


def _row(encoding, name, text, pair):
    """A field of an encoding as a list."""
    member, n = getattr(encoding, _FIELDS[name]), encoding.length
    if not n:
        return []
    if name != "offset_mapping":
        return list((ctypes.c_int64 * n).from_address(member))
    spans = (ctypes.c_int64 * 2 * n).from_address(member)
    if text.isascii() and (pair is None or pair.isascii()):
        return [tuple(span) for span in spans]
    second = list((ctypes.c_int64 * n).from_address(encoding.type_ids))
    return [tuple(len((pair if second[k] and pair else text)[:end].decode()) for end in span)
            for k, span in enumerate(spans)]


class AutoTokenizer:
    """Tokenizers of pretrained models."""

    @staticmethod
    def from_pretrained(pretrained_model_name_or_path, use_fast=True):
        """That of a folder, or of a model's name, which may be downloaded."""
        from .transformers import folder_of
        return Tokenizer(folder_of(pretrained_model_name_or_path))


class DataCollatorWithPadding:
    """Joins encoded samples, padded to the longest; "label" becomes "labels"."""

    def __init__(self, tokenizer, padding=True, max_length=None, pad_to_multiple_of=None,
                 return_tensors="ax"):
        self.tokenizer, self.padding, self.max_length = tokenizer, padding, max_length
        self.pad_to_multiple_of, self.return_tensors = pad_to_multiple_of, return_tensors

    def __call__(self, features):
        batch = self.tokenizer.pad(features, padding=self.padding, max_length=self.max_length,
                                   pad_to_multiple_of=self.pad_to_multiple_of,
                                   return_tensors=self.return_tensors)
        for name in ("label", "label_ids"):
            if name in batch:
                batch["labels"] = batch.pop(name)
        return batch


def default_data_collator(features):
    """Joins samples of one length; "label" becomes "labels"."""
    names = {name: "labels" if name in ("label", "label_ids") else name for name in features[0]}
    return BatchEncoding((new, tensor([_plain(one[name]) for one in features]))
                         for name, new in names.items() if not isinstance(features[0][name], str))
