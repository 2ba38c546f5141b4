# SPDX-License-Identifier: Apache-2.0
"""Element types."""
from . import _abi


class dtype:
    """An element type; there is one object a type."""

    __slots__ = ("name", "code", "typestr")

    def __init__(self, name, code, typestr):
        self.name, self.code, self.typestr = name, code, typestr

    def __repr__(self):
        return "axle." + self.name

    def __reduce__(self):
        return _named, (self.name,)

    @property
    def is_floating_point(self):
        return self.name.startswith(("float", "bfloat"))

    @property
    def itemsize(self):
        return int("".join(c for c in self.name if c.isdigit()) or 8) // 8


#: NumPy has no bfloat16.
_TYPES = (("float32", "F32", "f4"), ("float64", "F64", "f8"), ("float16", "F16", "f2"),
          ("bfloat16", "BF16", None), ("int64", "I64", "i8"), ("int32", "I32", "i4"),
          ("uint8", "U8", "u1"), ("bool", "BOOL", "b1"))
_ALL = {name: dtype(name, _abi.CONSTANTS["AXLE_DTYPE_" + c_name], typestr)
        for name, c_name, typestr in _TYPES}
_BY_CODE = {one.code: one for one in _ALL.values()}
_ALIASES = {"float": "float32", "double": "float64", "half": "float16", "long": "int64",
            "int": "int32"}


def _named(name):
    return _ALL[name]


def of_code(code):
    """The type that the C library gives that number."""
    return _BY_CODE[code]


def resolve(value, default=None):
    """A dtype from a dtype, a name, a Python type or a NumPy type; None gives the default."""
    if value is None:
        return default
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in (float, int, bool):
        return {float: _ALL["float32"], int: _ALL["int64"], bool: _ALL["bool"]}[value]
    name = value
    if not isinstance(value, str):
        name = getattr(value, "name", None) or getattr(value, "__name__", "")
    name = _ALIASES.get(name, name)
    if name not in _ALL:
        raise TypeError("%r is no element type; there are %s" % (value, ", ".join(_ALL)))
    return _ALL[name]


globals().update(_ALL)
__all__ = ["dtype", *_ALL]
