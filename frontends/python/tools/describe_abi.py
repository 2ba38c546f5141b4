#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print axle/_abi.py: what the public headers declare, as tables for ctypes.

    tools/describe_abi.py INCLUDE_FOLDER > axle/_abi.py

Needs a C preprocessor and pycparser; neither is needed to use the package.
"""
import os
import pprint
import re
import subprocess
import sys
import tempfile

from pycparser import c_ast, c_parser

# The standard headers hold what no parser but a compiler's takes; this is what we need of them.
STANDARD = """
typedef unsigned long size_t; typedef signed char int8_t; typedef short int16_t;
typedef int int32_t; typedef long int64_t; typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t; typedef unsigned long uint64_t; typedef unsigned long uintptr_t;
"""
MACROS = {"math.h": "#define NAN (0.0 / 0.0)\n#define INFINITY (1.0 / 0.0)\n",
          "stddef.h": "#define NULL ((void *)0)\n",
          "stdint.h": "#define INT64_MAX 9223372036854775807\n"
                      "#define INT64_MIN (-9223372036854775807 - 1)\n"
                      "#define INT64_C(x) x\n#define UINT64_C(x) x\n"
                      "#define INT32_MAX 2147483647\n#define SIZE_MAX 18446744073709551615u\n"}
#: What backends and transports are written with.
SKIPPED = ("backend.h", "collective.h", "reference.h")
INTEGERS = {"int": "int", "unsigned int": "uint", "unsigned": "uint", "long": "i64", "char": "char",
            "size_t": "size", "int64_t": "i64", "uint64_t": "u64", "int32_t": "int",
            "uint32_t": "uint", "uint16_t": "u16", "uint8_t": "u8", "double": "f64",
            "float": "f32", "void": "void"}


def preprocess(include, headers):
    """The declarations of all headers, and a variable for each ..._INIT macro."""
    text = "".join('#include "axle/%s"\n' % os.path.basename(h) for h in headers)
    for header in headers:
        for name in re.findall(r"^#define (AXLE_\w+)_INIT\b", open(header).read(), re.M):
            text += "static %s default__%s = %s_INIT;\n" % (name.lower(), name, name)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("stddef.h", "stdint.h", "math.h", "stdarg.h", "stdio.h", "stdbool.h",
                     "string.h"):
            with open(os.path.join(folder, name), "w") as file:
                file.write("#pragma once\n" + MACROS.get(name, ""))
        command = ["cpp", "-nostdinc", "-P", "-I", folder, "-I", include, "-D__attribute__(x)=",
                   "-DAXLE_NO_CALL_SITES", "-U__GNUC__", "-"]
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return STANDARD + done.stdout


class Describer(c_ast.NodeVisitor):
    """Collects the tables."""

    def __init__(self):
        self.enums, self.structs, self.callbacks = {}, {}, {}
        self.functions, self.defaults = {}, {}
        self.aliases = {}  # of typedefs: name -> node

    # ---- types

    def kind(self, node):
        """The name of a type in the tables."""
        if isinstance(node, c_ast.PtrDecl):
            return self.pointer(node.type)
        if isinstance(node, c_ast.ArrayDecl):
            return "ptr"
        if isinstance(node, c_ast.TypeDecl):
            return self.kind(node.type)
        if isinstance(node, c_ast.Enum):
            return "int"
        if isinstance(node, c_ast.Struct):
            return node.name
        name = " ".join(node.names)
        if name in INTEGERS:
            return INTEGERS[name]
        if name in self.callbacks or name in self.structs:
            return name
        if name in self.aliases:
            return self.kind(self.aliases[name])
        raise ValueError("unknown type " + name)

    def pointer(self, node):
        if isinstance(node, c_ast.FuncDecl):
            return "ptr"
        plain = isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType)
        text = plain and node.type.names == ["char"] and "const" in node.quals
        return "str" if text else "ptr"

    def signature(self, node):
        """(result, arguments) of a function; None for one of a variable number."""
        arguments = []
        for parameter in node.args.params if node.args else []:
            if isinstance(parameter, c_ast.EllipsisParam):
                arguments.append("...")
                continue
            kind = self.kind(parameter.type)
            if kind != "void":
                arguments.append(kind)
        return self.kind(node.type), tuple(arguments)

    # ---- declarations

    def visit_Enum(self, node):
        value = -1
        for item in node.values.enumerators if node.values else []:
            value = self.number(item.value) if item.value else value + 1
            if item.name.startswith("AXLE_"):
                self.enums[item.name] = value

    def fields(self, struct):
        return tuple((d.name, self.field(d.type)) for d in struct.decls)

    def field(self, node):
        if isinstance(node, c_ast.ArrayDecl):
            return (self.kind(node.type), self.number(node.dim))
        return self.kind(node)

    def visit_Typedef(self, node):
        inner = node.type
        if isinstance(inner, c_ast.PtrDecl) and isinstance(inner.type, c_ast.FuncDecl):
            self.callbacks[node.name] = self.signature(inner.type)
            return
        self.generic_visit(node)
        self.aliases[node.name] = inner
        struct = inner.type if isinstance(inner, c_ast.TypeDecl) else None
        if isinstance(struct, c_ast.Struct) and struct.decls and node.name.startswith("axle_"):
            self.structs[node.name] = self.fields(struct)

    def visit_Decl(self, node):
        self.generic_visit(node)
        if isinstance(node.type, c_ast.FuncDecl) and node.name.startswith("axle_"):
            self.functions[node.name] = self.signature(node.type)
        elif node.name and node.name.startswith("default__"):
            self.default(node)
        elif isinstance(node.type, c_ast.Struct) and node.type.decls:
            self.structs[node.type.name] = self.fields(node.type)

    def default(self, node):
        kind = self.kind(node.type)
        values = [self.number(value) for value in node.init.exprs]
        names = [name for name, _ in self.structs[kind]]
        pairs = zip(names, values)
        self.defaults[node.name[len("default__"):].lower()] = (
            kind, {n: v for n, v in pairs if n != "struct_size" and v not in (0, None)})

    # ---- constant expressions

    def number(self, node):
        if isinstance(node, c_ast.Constant):
            if node.type == "string":
                return node.value[1:-1]
            if node.type == "char":
                return ord(node.value[1:-1].replace("\\'", "'"))
            text = node.value.rstrip("uUlL")
            return float(text) if "double" in node.type or "float" in node.type else int(text, 0)
        if isinstance(node, c_ast.UnaryOp):
            if node.op == "sizeof":
                return None
            value = self.number(node.expr)
            return {"-": lambda: -value, "+": lambda: value, "~": lambda: ~value}[node.op]()
        if isinstance(node, c_ast.BinaryOp):
            left, right = self.number(node.left), self.number(node.right)
            if node.op == "/" and right == 0.0:
                return float("nan") if left == 0.0 else float("inf")
            return {"-": lambda: left - right, "+": lambda: left + right, "|": lambda: left | right,
                    "<<": lambda: left << right, "*": lambda: left * right}[node.op]()
        if isinstance(node, c_ast.InitList):
            return tuple(self.number(value) for value in node.exprs)
        if isinstance(node, c_ast.ID):
            return self.enums[node.name]
        if isinstance(node, c_ast.Cast):
            return None  # NULL
        raise ValueError("no constant: %r" % node)


def table(name, comment, content):
    lines = pprint.pformat(content, width=98, sort_dicts=True)
    return "\n#: %s\n%s = %s\n" % (comment, name, lines.replace("nan", "NAN"))


def main():
    include = sys.argv[1]
    headers = sorted(os.path.join(include, "axle", name)
                     for name in os.listdir(os.path.join(include, "axle")) if name not in SKIPPED)
    describer = Describer()
    describer.visit(c_parser.CParser().parse(preprocess(include, headers)))
    print("# SPDX-License-Identifier: Apache-2.0")
    print('"""What the C library declares. Made by tools/describe_abi.py; do not edit."""')
    print("# flake8: noqa")
    print('\nNAN = float("nan")')
    constants = dict(describer.enums)
    for header in headers:
        for name, value in re.findall(r"^#define (AXLE_\w+) (-?\d+)$", open(header).read(), re.M):
            constants[name] = int(value)
    print(table("CONSTANTS", "enumerators and macros that are numbers", constants), end="")
    print(table("STRUCTS", "struct: ((field, type), ...)", describer.structs), end="")
    print(table("DEFAULTS", "..._INIT: (struct, the fields that are not 0)", describer.defaults),
          end="")
    print(table("CALLBACKS", "type: (result, arguments)", describer.callbacks), end="")
    print(table("FUNCTIONS", "name: (result, arguments)", describer.functions), end="")


if __name__ == "__main__":
    main()
