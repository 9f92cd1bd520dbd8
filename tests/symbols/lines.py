# SPDX-License-Identifier: MIT
"""lines.py PLACES FILE EVERY [SOURCE]: holds what the program places says of a file's code against addr2line: for every EVERYth
instruction the same lines, and the same functions that are inlined there. SOURCE is the file that it was made from:
binutils' addr2line names it with DWARF 5 for some of what it includes, with lines that it has not got."""
import os
import re
import subprocess
import sys

places, path, every = sys.argv[1], sys.argv[2], int(sys.argv[3])
source = sys.argv[4] if len(sys.argv) > 4 else None
source_lines = len(open(source).readlines()) if source else 0

# Of a program of many files, the share of addresses for which addr2line may name another file.
OTHER_FILE_MAX = 0.001
# And that of those where a piece of code begins that has no line yet: libdw's lines do not tell it from the end of the one before.
NO_LINE_MAX = 0.001

listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
addresses = [m.group(1) for m in re.finditer(r"^ *([0-9a-f]+):\t", listing, re.M)][::every]
asked = "\n".join(addresses) + "\n"
ours = subprocess.run([places, path], check=True, capture_output=True, text=True, input=asked).stdout.splitlines()
theirs = subprocess.run(["addr2line", "-e", path, "-a", "-i", "-f", "-C"], check=True, capture_output=True, text=True,
                        input=asked).stdout


def function(name):
    """Without what compilers append, and parameters, which not everybody knows of an inlined function."""
    name = re.sub(r" \[clone [^]]*\]", "", name)
    name = re.sub(r"\.(part|isra|constprop|cold|localalias|llvm)\b.*", "", name)
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return name.split("(")[0].split("::")[-1].split(" ")[-1]


def number(place):
    return int(place.rpartition(":")[2])


def lengths(folder):
    """Lines of the longest file of each name."""
    found = {}
    for root, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith((".", "build"))]
        for name in files:
            if name.endswith((".c", ".h")):
                with open(os.path.join(root, name), "rb") as file:
                    found[name] = max(found.get(name, 0), file.read().count(b"\n"))
    return found


# Of our own library addr2line names the unit's file for lines that stand in what it includes, and that are beyond its end.
ends = {} if source else lengths(os.environ.get("FX_SRCDIR", "."))


def is_beyond_end(place):
    return number(place) > ends.get(place.rpartition(":")[0], sys.maxsize)


def is_of_its_unit(got, want):
    """The same where the lines stand in what is generated for the unit, which is unit-X.inc for X.c."""
    return got.rpartition(":")[0] == "unit-" + want.rpartition(":")[0].removesuffix(".c") + ".inc"


def is_other_file(got, want):
    """Whether they differ in the files' names alone, and as far as is known, addr2line's is the wrong one."""
    return len(got) == len(want) and all(
        g[0] == w[0] and number(g[1]) == number(w[1]) and
        (g[1] == w[1] or not source or not 0 < number(w[1]) <= source_lines)
        for g, w in zip(got, want))


def line(text):
    """FILE:LINE without folders; what is not known has the line 0."""
    text = re.sub(r" \(discriminator \d+\)", "", text)
    file, _, number = text.rpartition(":")
    return f"{file.rpartition('/')[2]}:{number if number.isdigit() else 0}"


expected = {}
for block in re.split(r"^(?=0x)", theirs, flags=re.M):
    rows = block.splitlines()
    if rows:
        expected[rows[0].removeprefix("0x").lstrip("0")] = [
            (function(rows[i]), line(rows[i + 1])) for i in range(1, len(rows) - 1, 2)]
different = inlined = unknown = other_file = no_line = beyond = 0
for row in ours:
    address, *rest = row.split("\t")
    got = [(function(rest[i]), rest[i + 1]) for i in range(0, len(rest), 2)]
    want = expected[address.lstrip("0")]
    # Behind a function's end, where it is filled up, there is no symbol; and of a library's functions some have several.
    if got and want and (got[-1][0] == "?" or not source):
        got[-1] = (want[-1][0], got[-1][1])
    inlined += len(got) > 1
    if not got:
        unknown += 1
    # Where nothing is known of a line, there is no file either; and of code that has no line, neither says more.
    if got != want and is_other_file(got, want):
        if all(g[1] == w[1] or is_beyond_end(w[1]) or is_of_its_unit(g[1], w[1]) for g, w in zip(got, want)):
            beyond += 1
        else:
            other_file += 1
    elif not source and got and want and number(want[0][1]) == 0 and got[0][0] == want[0][0] and got[1:] == want[1:]:
        no_line += 1
    elif got != want and not (not got and number(want[0][1]) == 0):
        different += 1
        if different <= 10:
            print(f"{address}: {got}, addr2line says {want}")
print(f"{path}: {len(ours)} addresses, {inlined} of inlined code, {unknown} without lines, {different} otherwise than addr2line, "
      f"{other_file} of another file, {beyond} where its line is none of its file's, {no_line} where it knows none")
sys.exit(different > 0 or not ours or
         (not source and (other_file > OTHER_FILE_MAX * len(ours) or no_line > NO_LINE_MAX * len(ours))))
