#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print frontends/models/tokenizers/frozen_table.h.

The library `tokenizers` looks BERT's categories up in the tables of an old version of Unicode, and
vocabularies were made with them. This lists where it differs from the newest one: characters that
are punctuation, marks or format characters by now and are none for it, and the few that it takes
for one of these and that are none any more. Needs the packages tokenizers and regex.
"""
import regex
from tokenizers import normalizers, pre_tokenizers

FLAGS = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
CLEAN = normalizers.BertNormalizer(**{**FLAGS, "clean_text": True})
STRIP = normalizers.BertNormalizer(**{**FLAGS, "strip_accents": True})
SPLIT = pre_tokenizers.BertPreTokenizer()

NOW = {name: regex.compile(rf"\p{{{name}}}") for name in ("P", "Mn", "Cf", "Cn")}


def is_now(name, char):
    return bool(NOW[name].match(char))


def difference(char):
    """What the library makes of the character that Unicode's category does not say."""
    marks = is_now("Mn", char)
    stripped = STRIP.normalize_str(char) == ""
    if marks != stripped:
        return "NO_MARK" if marks else "MARK"
    splits = [part for part, _ in SPLIT.pre_tokenize_str("a" + char + "b")] == ["a", char, "b"]
    if is_now("P", char) != splits and not char.isascii():
        return "PUNCTUATION" if splits else "NO_PUNCTUATION"
    if is_now("Cf", char) and CLEAN.normalize_str(char) == char:
        return "NO_FORMAT"
    return None


def ranges():
    found = []
    for code in range(0x80, 0x110000):
        if 0xD800 <= code < 0xE000 or is_now("Cn", chr(code)):
            continue
        kind = difference(chr(code))
        if kind and found and found[-1][1:] == [code - 1, kind]:
            found[-1][1] = code
        elif kind:
            found.append([code, code, kind])
    return found


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by tests/golden/make_unicode_table.py, which says what it is. Sorted. */")
    print("/* clang-format off */")
    line = ""
    for first, last, kind in ranges():
        item = f"{{0x{first:x}, 0x{last:x}, {kind}}}, "
        if len(line) + len(item) > 98:
            print(line.rstrip())
            line = ""
        line += item
    print(line.rstrip())
    print("/* clang-format on */")


main()
