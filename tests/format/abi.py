#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""abi.py SRCDIR [HEADER...]: a C program that prints the layout of what a library and its users share: the size of each struct
of the installed headers, by default libfxtrace-reader's, the place of each member, the numbers of kinds, faults and types."""

import re
import sys

HEADERS = ("record", "reader", "batch", "writer")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def members(body):
    """The names in a struct's body; those of anonymous unions are its own."""
    for line in re.split(r"[;{}]", body):
        words = line.strip()
        if not words or words == "union":
            continue
        pointer = re.search(r"\(\*(\w+)\)\(", words)
        if pointer:
            yield pointer.group(1)
            continue
        for part in words.split(","):
            yield re.search(r"(\w+)\s*(?:\[[^]]*\])*\s*$", part).group(1)


def structs(text):
    for match in re.finditer(r"^struct (\w+) \{\n(.*?)^\};", text, flags=re.S | re.M):
        yield match.group(1), list(members(match.group(2)))


def main():
    srcdir = sys.argv[1]
    print("#include <stddef.h>\n#include <stdio.h>")
    texts = []
    for header in sys.argv[2:] or HEADERS:
        print(f"#include <fxtrace/{header}.h>")
        with open(f"{srcdir}/include/fxtrace/{header}.h", encoding="utf-8") as file:
            texts.append(without_comments(file.read()))
    print("int main(void)\n{")
    for text in texts:
        for name, names in structs(text):
            print(f'\tprintf("sizeof {name} %zu\\n", sizeof(struct {name}));')
            for member in names:
                print(f'\tprintf("{name}.{member} %zu\\n", offsetof(struct {name}, {member}));')
        for macro, prefix in (("FXT_KINDS", "FXT_KIND_"), ("FXT_FAULTS", "FXT_FAULT_")):
            found = re.search(r"^#define " + macro + r"\(X\)(.*?[^\\])\n", text, flags=re.S | re.M)
            for name in re.findall(r"X\((\w+),", found.group(1)) if found else ():
                print(f'\tprintf("{prefix}{name} %d\\n", (int){prefix}{name});')
        for body in re.findall(r"^enum \w+ \{([^}]*)\}", text, flags=re.M):
            for name in re.findall(r"\b(FXT(?:RACE)?_[A-Z0-9_]+)\b(?!\s*\()", body):
                if not name.endswith(("_ENUM_KIND_", "_ENUM_FAULT_", "_KINDS", "_FAULTS", "_COUNT")):
                    print(f'\tprintf("{name} %d\\n", (int){name});')
    print("\treturn 0;\n}")


main()
