# SPDX-License-Identifier: MIT
"""arguments.py generate SEED c|c++: a program whose functions have random parameters and results; it writes what they are called
with, and what they return, into the file "log": by whoever calls them, so that they need not keep what they do not use.
arguments.py compare LOG DUMP [LEAST]: that against what an archive has. What differs is an error; what it says is optimised out
is counted, and more than LEAST percent must be there."""
import collections
import json
import random
import re
import sys

# --- Types: C's name, a value of it as an expression, and how it is written to the log -----------------------------------------

LOST = "<optimised out>"


class Type:
    def __init__(self, name, values, write, use):
        self.name, self.values, self.write, self.use = name, values, write, use


def number(name, values, letter="i", cast="long long", form="%lld", use="sink += (long){0};"):
    return Type(name, values, [("", letter, form, f"({cast}){{0}}")], use)


def ints(bits, signed):
    top = 1 << (bits - signed)
    values = [0, 1, 2, 3, 7, 100, top - 1, top // 2 + 5]
    if signed:
        values += [-1, -2, -100, -top + 1]
    suffix = "LL" if signed else "ULL"
    return [f"{v}{suffix}" for v in values]


DOUBLES = ["0.0", "1.5", "-2.25", "3.141592653589793", "1e300", "-1e-300", "4.9e-324", "123456789.0"]
FLOATS = ["0.0f", "1.5f", "-2.25f", "3.1415927f", "1e30f", "1e-40f"]

SCALARS = [
    number("signed char", ints(8, 1)),
    number("unsigned char", ints(8, 0)),
    number("short", ints(16, 1)),
    number("unsigned short", ints(16, 0)),
    number("int", ints(32, 1)),
    number("int", ints(32, 1)),
    number("unsigned", ints(32, 0)),
    number("long", ints(64, 1)),
    number("unsigned long", ints(64, 0), cast="unsigned long long", form="%llu"),
    number("char", ["'a'", "'Z'", "' '", "'\\n'", "(char)200"], "c", "int", "%d"),
    number("bool", ["true", "false"], "b", "int", "%d"),
    number("double", DOUBLES, "d", "double", "%.17g"),
    number("float", FLOATS, "d", "double", "%.17g"),
    number("long double", ["0.0L", "1.5L", "-2.25L", "1e300L"], "d", "double", "%.17g"),
]
RED = Type("enum colour", ["RED", "GREEN", "BLUE", "(enum colour)77"], [("", "e", "%s", "colour_name((long)({0}))")], "sink += (long){0};")
BELOW = Type("enum below", ["MINUS", "PLUS"], [("", "e", "%s", "below_name((long)({0}))")], "sink += (long){0};")
TEXT = Type("const char *", ['"hello"', '""', '"a longer text that is none of the shortest \\342\\202\\254"', "(const char *)0", "(const char *)16", "long_text"],
            [("", "t", "%s", "text({0})")], "sink += (unsigned long){0} > 4096 ? {0}[0] : 0;")
EDITABLE = Type("char *", ["editable", "(char *)0", "at_end"], [("", "t", "%s", "text({0})")], "sink += (unsigned long){0} > 4096 ? {0}[0] : 0;")
VOIDS = Type("void *", ["(void *)0", "(void *)&sink", "(void *)~0ul"], [("", "p", "%p", "(void *)({0})")], "sink += (long){0};")
INTS = Type("int *", ["numbers", "(int *)0", "numbers + 3"], [("", "p", "%p", "(void *)({0})")], "sink += {0} ? {0}[0] : 0;")


def struct(name, fields, use):
    """Fields: (C declaration, name, letter, form, cast, values)."""
    def value(rng):
        return f"(struct {name}){{{', '.join(rng.choice(f[5]) for f in fields)}}}"
    t = Type(f"struct {name}", value, [("." + f[1], f[2], f[3], f"({f[4]}){{0}}.{f[1]}") for f in fields], use)
    t.declaration = f"struct {name} {{ {' '.join(f[0] for f in fields)} }};"
    return t


def field(declaration, letter, values, cast="long long", form="%lld"):
    name = declaration.split(";")[0].split(":")[0].split()[-1].lstrip("*")
    return (declaration, name, letter, form, cast, values)


SMALL = ["0", "1", "-7", "100"]
STRUCTS = [
    struct("two_ints", [field("int x;", "i", SMALL), field("int y;", "i", SMALL)], "sink += {0}.x;"),
    struct("mixed", [field("int x;", "i", SMALL), field("double y;", "d", ["1.5", "-2.5"], "double", "%.17g")], "sink += (long){0}.y;"),
    struct("floats", [field("float x;", "d", ["1.5f", "2.5f"], "double", "%.17g"), field("float y;", "d", ["3.5f", "-1.0f"], "double", "%.17g")], "sink += (long){0}.x;"),
    struct("doubles", [field("double x;", "d", ["1.5", "2.5"], "double", "%.17g"), field("double y;", "d", ["3.5"], "double", "%.17g")], "sink += (long){0}.x;"),
    struct("longs", [field("long x;", "i", SMALL), field("long y;", "i", SMALL)], "sink += {0}.x ^ {0}.y;"),
    struct("packed_up", [field("signed char x;", "i", SMALL), field("short y;", "i", SMALL), field("int z;", "i", SMALL)], "sink += {0}.z;"),
    struct("bits", [field("int x : 5;", "i", ["-3", "7", "0"]), field("unsigned y : 11;", "i", ["5", "1000"]), field("int z;", "i", SMALL)], "sink += {0}.y;"),
    struct("big", [field("long x;", "i", SMALL), field("double y;", "d", ["0.5"], "double", "%.17g"), field("int z;", "i", SMALL)], "sink += {0}.x;"),
    struct("three", [field("float x;", "d", ["1.5f"], "double", "%.17g"), field("float y;", "d", ["2.5f"], "double", "%.17g"), field("float z;", "d", ["-3.5f"], "double", "%.17g")], "sink += (long){0}.z;"),
]

CXX = [
    Type("std::string", ['std::string("by value")', "std::string()", "std::string(200, 'x')"], [("", "s", "%s", "{0}.c_str()")], "sink += {0}.size();"),
    Type("const std::string &", ["some_string", "long_string"], [("", "s", "%s", "{0}.c_str()")], "sink += {0}.size();"),
    Type("std::string &", ["some_string"], [("", "s", "%s", "{0}.c_str()")], "sink += {0}.size();"),
    Type("std::string_view", ['std::string_view("a view")', 'std::string_view("")'], [("", "s", "%s", "std::string({0}).c_str()")], "sink += {0}.size();"),
    Type("const int &", ["numbers[1]", "numbers[2]"], [("", "i", "%lld", "(long long){0}")], "sink += {0};"),
    Type("double &", ["some_double"], [("", "d", "%.17g", "{0}")], "sink += (long){0};"),
    Type("kind", ["kind::one", "kind::two"], [("", "e", "%s", '({0} == kind::one ? "one" : "two")')], "sink += (long){0};"),
    # An object of a class that lives elsewhere than where it seems to.
    Type("lively", ["lively(5)", "lively(-6)"], [], "sink += {0}.x;"),
]

COMMON = r"""
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define QUIET __attribute__((no_instrument_function, noinline))
#define PLAIN __attribute__((noinline))
enum colour { RED, GREEN = 5, BLUE = 1000 };
enum below { MINUS = -4, PLUS = 4 };
static volatile long sink;
static int numbers[8] = {11, 22, 33, 44, 55, 66, 77, 88};
static char editable[32] = "editable";
static char long_text[400];
static char *at_end; /* of a page, behind which nothing is */
static int calls;
static FILE *log_file;
QUIET static const char *colour_name(long c) { static char b[24]; if (c == RED) return "RED"; if (c == GREEN) return "GREEN"; if (c == BLUE) return "BLUE"; snprintf(b, sizeof b, "%ld", c); return b; }
QUIET static const char *below_name(long c) { return c == MINUS ? "MINUS" : "PLUS"; }
QUIET static const char *text(const char *s) { static char b[4][440]; static int n; char *to = b[n++ & 3]; if ((unsigned long)s < 4096) snprintf(to, 440, "p%p", (void *)s); else snprintf(to, 440, "s%s", s); return to; }
QUIET static void say(const char *format, ...) { va_list a; va_start(a, format); vfprintf(log_file, format, a); va_end(a); }
QUIET static void begin(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two = (char *)mmap(0, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(two + page, page);
	at_end = two + page - 4;
	strcpy(at_end, "end");
	memset(long_text, 'q', sizeof long_text - 1);
	log_file = fopen("log", "w");
}
"""

CXX_COMMON = r"""
#include <string>
#include <string_view>
enum class kind : unsigned char { one = 1, two = 2 };
struct lively { int x; lively(int x) : x(x) {} lively(const lively &o) : x(o.x) {} ~lively() { sink += x; } };
static std::string some_string("some string"), long_string(300, 'l');
static double some_double = 12.75;
"""


class Function:
    def __init__(self, rng, index, cxx):
        pool = SCALARS * 2 + [RED, BELOW, TEXT, TEXT, EDITABLE, VOIDS, INTS] + STRUCTS + (CXX * 2 if cxx else [])
        self.name = f"f{index}"
        self.method = cxx and rng.random() < 0.15
        self.params = [(f"a{i}", rng.choice(pool)) for i in range(rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11]))]
        results = [t for t in pool if not t.name.endswith("&") and t.name != "long double" and t.name not in ("char *", "lively")]
        self.result = rng.choice(results) if rng.random() < 0.8 else None
        self.kind = rng.choice(["plain", "plain", "plain", "static", "inline"])
        self.used = [p for p in self.params if rng.random() < 0.7]
        self.deep = rng.random() < 0.2

    def signature(self):
        result = self.result.name if self.result else "void"
        params = ", ".join(f"{t.name} {n}" for n, t in self.params) or "void"
        how = {"plain": "PLAIN", "static": "PLAIN static", "inline": "static inline"}[self.kind]
        return f"{how} {result} {self.name}({params})"


def value_of(rng, t, own):
    """An expression of the type: one of the caller's own parameters, or something new."""
    same = [n for n, o in own if o.name == t.name]
    if same and rng.random() < 0.5:
        return rng.choice(same)
    if callable(t.values):
        return t.values(rng)
    if t.name.endswith("&") or t.name in ("lively",):
        return rng.choice(t.values)
    return f"({t.name})({rng.choice(t.values)})" if not t.name.startswith("std::") else rng.choice(t.values)


def call(rng, f, own, cxx):
    """Statements that call f, and say so."""
    out = ["\t{"]
    names = []
    for i, (n, t) in enumerate(f.params):
        name = f"v{i}"
        names.append(name)
        value = value_of(rng, t, own)
        if t.name.endswith("&"):
            out.append(f"\t\t{t.name}{name} = {value};")
        else:
            out.append(f"\t\t{t.name} {name} = {value};")
            if rng.random() < 0.3 and not callable(t.values) and "std" not in t.name and t.name != "lively":
                out.append(f'\t\t__asm__ volatile("" : "+m"({name}));')
    form, values = f"C %d {f.name}", []
    for (n, t), name in zip(f.params, names):
        for suffix, letter, how, expression in t.write:
            form += f"\\t{n}{suffix}={letter}:{how}"
            values.append(expression.format(name))
    out.append("\t\tint call = calls++;")
    out.append(f'\t\tsay("{form}\\n", call{"".join(", " + v for v in values)});')
    invoke = f"{f.name}({', '.join(names)})"
    if f.result:
        out.append(f"\t\t{f.result.name} r = {invoke};")
        form, values = "R %d", []
        for suffix, letter, how, expression in f.result.write:
            form += f"\\tret{suffix}={letter}:{how}"
            values.append(expression.format("r"))
        out.append(f'\t\tsay("{form}\\n", call{"".join(", " + v for v in values)});')
    else:
        out.append(f"\t\t{invoke};")
        out.append('\t\tsay("V %d\\n", call);')
    out.append("\t}")
    return out


def generate(seed, language):
    rng = random.Random(f"{seed} {language}")
    cxx = language == "c++"
    functions = [Function(rng, i, cxx) for i in range(40)]
    out = [COMMON] + ([CXX_COMMON] if cxx else []) + [s.declaration for s in STRUCTS]
    out += [f"{f.signature()};" for f in functions]
    for i, f in enumerate(functions):
        out.append(f"{f.signature()}\n{{")
        if f.deep:
            out.append("\tvolatile char room[3000]; room[sink & 255] = 1;")
        for n, t in f.used[: len(f.used) // 2]:
            out.append("\t" + t.use.format(n))
        for later in rng.sample(functions[i + 1:], min(len(functions) - i - 1, rng.choice([0, 0, 1, 1, 2]))):
            if i > 30 or rng.random() < 0.6:
                out += call(rng, later, f.params, cxx)
        for n, t in f.used[len(f.used) // 2:]:
            out.append("\t" + t.use.format(n))
        if f.result:
            own = [n for n, t in f.params if t.name == f.result.name]
            if own and rng.random() < 0.4:
                out.append(f"\treturn {rng.choice(own)};")
            elif f.result.name in ("int", "long", "unsigned", "unsigned long") and rng.random() < 0.6:
                terms = [f"({f.result.name}){n}" for n, t in f.params if t.name in ("int", "long", "unsigned", "short", "unsigned char")]
                terms += ["3", "(sink & 7)", "(sink >> 3)"]
                expression = rng.choice(terms)
                for _ in range(rng.randint(0, 3)):
                    expression = f"({expression} {rng.choice(['+', '-', '*', '&', '|', '^'])} {rng.choice(terms)})"
                out.append(f"\treturn ({f.result.name}){expression};")
            else:
                out.append(f"\treturn {value_of(rng, f.result, [])};")
        out.append("}")
    # Each place calls more than once: what the tracer has learned by then is another way to the same.
    out.append("QUIET int main(void)\n{\n\tbegin();\n\tfor (int round = 0; round < 3; round++) {")
    for _ in range(2):
        for f in rng.sample(functions, len(functions)):
            out += call(rng, f, [], cxx)
    out.append("\t}")
    out.append("\tfclose(log_file);\n\treturn 0;\n}")
    return "\n".join(out) + "\n"


# --- Comparison -----------------------------------------------------------------------------------------------------------------


def shown_text(text):
    """As it is cut."""
    raw = text.encode()
    if len(raw) <= 120:
        return text
    return raw[:117].decode(errors="ignore") + "..."


def same(expected, letter, arg):
    value, kind = arg["value"], arg["type"]
    if letter == "i":
        return kind in ("int32", "uint32", "int64", "uint64") and int(value) == int(expected)
    if letter == "b":
        return kind == "bool" and bool(value) == (expected == "1")
    if letter == "d":
        return kind == "double" and float(value) == float(expected)
    if letter == "c":
        n = (int(expected) + 128) % 256 - 128
        return value == f"'{chr(n)}'" if 32 <= n < 127 else int(value) == n
    if letter == "e":
        return str(value) == expected
    if letter == "p":
        return kind == "pointer" and int(str(value), 0) == (0 if expected == "(nil)" else int(expected, 0))
    if letter == "t":
        if expected[0] == "p":
            return same(expected[1:], "p", arg)
        return kind == "string" and value == shown_text(expected[1:])
    return kind == "string" and value == shown_text(expected)


def fields_of(line):
    fields = []
    for part in line.rstrip("\n").split("\t")[1:]:
        name, rest = part.split("=", 1)
        fields.append((name, rest[0], rest[2:]))
    return fields


def judge(called, ended, number, event, inlined):
    """Of what a call had: how much is the same, how much is said to be lost, and what is wrong."""
    args = {a["name"]: a for a in event.get("args", [])}
    more = sum(a["value"] for a in event.get("args", []) if a["name"] == "more")
    there = lost = 0
    wrong = []
    for field, letter, expected in called[number] + ended.get(number, []):
        arg = args.get(field)
        if arg is None and more:
            more -= 1
        elif arg is None and inlined:
            lost += 1
        elif arg is None:
            wrong.append(f"{field} is missing in {list(args)}")
        elif arg["value"] == LOST:
            lost += 1
        elif same(expected, letter, arg):
            there += 1
        else:
            wrong.append(f"{field} was {expected}, the archive has {arg}")
    return there, lost, wrong


def compare(log, dump, least, inlined):
    called, ended, order = {}, {}, collections.defaultdict(list)
    for line in open(log, errors="replace"):
        kind, number = line.split("\t")[0].split()[:2]
        if kind == "C":
            name = line.split("\t")[0].split()[2]
            called[int(number)] = fields_of(line)
            order[name].append(int(number))
        elif kind == "R":
            ended[int(number)] = fields_of(line)
    recorded = collections.defaultdict(list)
    for line in open(dump):
        r = json.loads(line)
        if r["kind"] == "event" and r.get("category") == "function" and r["type"] == "complete":
            recorded[re.split(r"[(\[]", r["name"])[0]].append(r)
    wrong = lost = there = 0
    for name, numbers in order.items():
        events = sorted(recorded[name], key=lambda r: r["ts"])
        if len(events) != len(numbers) and not (inlined and len(events) < len(numbers)):
            print(f"{name}: {len(numbers)} calls, {len(events)} recorded")
            wrong += 1
            continue
        at = 0
        for left, event in zip(range(len(events), 0, -1), events):
            said = judge(called, ended, numbers[at], event, inlined)
            # Calls that were inlined are not there; each that is, is one of those that were made.
            while said[2] and len(numbers) - at > left:
                at += 1
                said = judge(called, ended, numbers[at], event, inlined)
            there += said[0]
            lost += said[1]
            wrong += len(said[2])
            for what in said[2]:
                print(f"{name} (call {numbers[at]}): {what}")
            at += 1
    share = 100 * there // (there + lost) if there + lost else 0
    print(f"{there} equal, {lost} optimised out ({share} % there), {wrong} wrong")
    return 1 if wrong or share < least else 0


if sys.argv[1] == "generate":
    print(generate(int(sys.argv[2]), sys.argv[3]), end="")
else:
    sys.exit(compare(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 0, "inlined" in sys.argv))
