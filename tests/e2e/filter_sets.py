# SPDX-License-Identifier: MIT
"""Which calls of a run some options of filters leave, of what calltree says of it and what nm knows; by rules that share no code with fxtrace.

    filter_sets.py sets TREE SYMBOLS PROGRAM COUNT SEED         random sets of options, one a line, for that program
    filter_sets.py sets TREE SYMBOLS PROGRAM COUNT SEED names   those alone that go by names and depths, which an archive has
    filter_sets.py wanted TREE SYMBOLS PROGRAM OPTION...        the lines of TREE that they leave, with their depths among themselves

TREE has lines of a thread, a depth and a name. SYMBOLS is what nm -C -S -l says of the program."""
import collections, fnmatch, random, re, shlex, sys

ALL = 10 ** 9
MODULE = re.compile(r"([^:]+):(?!:)(.*)")


class Unsure(Exception):
    """Several functions have that name, and the option tells them apart."""


def bare(name):
    """Without the parameters, and what is behind them: the last parentheses, with all that is inside."""
    end = name.rfind(")")
    depth = 0
    for i in range(end, 0, -1):
        depth += (name[i] == ")") - (name[i] == "(")
        if depth == 0:
            return name[:i]
    return name


def symbols_of(path):
    """Of each name: sizes, and source files; None is one that is not known."""
    sizes, sources = collections.defaultdict(set), collections.defaultdict(set)
    for line in open(path, errors="replace"):
        m = re.match(r"[0-9a-f]+ (?:([0-9a-f]+) )?[tTwWiI] ([^\t\n]*)(?:\t(.*):\d+)?", line)
        if m:
            sizes[m[2]].add(int(m[1], 16) if m[1] else None)
            sources[m[2]].add(m[3])
    return sizes, sources


def one(answers):
    if len(answers) != 1:
        raise Unsure
    return answers.pop()


class Glob:
    """GLOB, MODULE:GLOB or @FILE; GLOB+depth=N has levels."""

    def __init__(self, text, facts):
        self.facts = facts
        m = re.fullmatch(r"(.*)\+depth=(\d+)", text)
        self.text, self.levels = (m[1], int(m[2])) if m else (text, None)
        self.known = {}

    def source_matches(self, glob, source):
        if source is None:
            raise Unsure
        parts = source.split("/")
        ends = ["/".join(parts[i:]) for i in range(len(parts))]
        return any(fnmatch.fnmatchcase(end, glob) for end in (ends if "/" in glob else ends[-1:]))

    def look(self, name):
        text = self.text
        if text.startswith("@"):
            return one({self.source_matches(text[1:], s) for s in self.facts.sources.get(name) or {None}})
        m = MODULE.fullmatch(text)
        if m:
            if name not in self.facts.sizes:
                raise Unsure
            if not fnmatch.fnmatchcase(self.facts.program, m[1]):
                return False
            text = m[2]
        return fnmatch.fnmatchcase(name, text) or fnmatch.fnmatchcase(bare(name), text)

    def __contains__(self, name):
        if name not in self.known:
            self.known[name] = self.look(name)
        return self.known[name]


class Facts:
    def __init__(self, symbols, program):
        self.sizes, self.sources = symbols_of(symbols)
        self.program = program


class Options:
    def __init__(self, words, facts):
        self.facts = facts
        self.only, self.deep, self.never, self.when = [], [], [], []
        self.most, self.size, self.small = None, 0, {}
        for w in words:
            key, value = re.fullmatch(r"(-F|-N|-D|--when=|--min-size=)(.*)", w).groups()
            if key == "-F":
                g = Glob(value, facts)
                (self.only if g.levels is None else self.deep).append(g)
            elif key == "-N":
                self.never.append(Glob(value, facts))
            elif key == "--when=":
                self.when.append(Glob(value, facts))
            elif key == "-D":
                self.most = int(value)
            else:
                self.size = int(value)

    def is_never(self, name):
        return any(name in g for g in self.never) or self.is_small(name)

    def is_small(self, name):
        if not self.size:
            return False
        if name not in self.small:
            # One whose size is not known stays.
            self.small[name] = one({bool(s) and s < self.size for s in self.facts.sizes.get(name) or {None}})
        return self.small[name]

    def levels(self, globs, name, else_):
        # Of several that mean it the last counts.
        for g in reversed(globs):
            if name in g:
                return g.levels or (self.most if globs is self.when else None) or ALL
        return else_


def left(tree, o):
    """Lines of tree that are left. Of each open call: what those inside of it begin with."""
    thread, stack, result = None, [], []
    for of, depth, name in tree:
        if of != thread:
            thread, stack = of, []
        del stack[depth:]
        inside, kept, shown = stack[-1] if stack else (0 if o.when else ALL, 0, 0)
        never = o.is_never(name)
        chosen = True
        if o.only or o.deep:
            kept = o.levels(o.deep, name, kept)
            chosen = kept > 0 or any(name in g for g in o.only)
        chosen = chosen and not never
        inside = o.levels(o.when, name, inside)
        is_left = chosen and inside > 0 and (bool(o.when) or o.most is None or depth < o.most)
        if is_left:
            result.append((of, shown, name))
        stack.append((inside - 1 if chosen and inside else inside, kept - 1 if kept and not never else kept, shown + is_left))
    # The numbers of threads are by their first call.
    numbers = {}
    return [(numbers.setdefault(of, len(numbers) + 1), depth, name) for of, depth, name in result]


def tree_of(path):
    for line in open(path):
        of, depth, name = line.rstrip("\n").split(" ", 2)
        yield int(of), int(depth), name


class Chooser:
    def __init__(self, tree, facts, by_names):
        self.facts, self.by_names = facts, by_names
        counts = collections.Counter(name for _, _, name in tree)
        # Often the names that most calls have, and as often any.
        self.names, self.often = sorted(counts), [n for n, _ in counts.most_common(12)]
        self.depth = max(depth for _, depth, _ in tree)
        self.sources = sorted({s for n in counts for s in facts.sources.get(n, ()) if s})
        self.sizes = sorted({s for n in counts for s in facts.sizes.get(n, ()) if s})

    def glob(self):
        glob = self.any_glob()
        # What is cut between two colons seems to name a module, which an archive does not tell.
        while self.by_names and MODULE.fullmatch(glob):
            glob = self.any_glob()
        return glob

    def any_glob(self):
        name = random.choice(random.choice([self.names, self.often]))
        name = random.choice([name, bare(name)])
        name = re.sub(r"[][*?\\+@]", "?", name)
        cut = random.randint(1, len(name))
        kind = random.randint(0, 9 if self.by_names else 13)
        if kind < 4:
            return name
        if kind < 6:
            return name[:cut] + "*"
        if kind < 8:
            return "*" + name[-cut:]
        if kind == 8:
            return name[:cut - 1] + "?" + name[cut:]
        if kind == 9:
            return "*[" + "".join(random.sample("abcdeilnorstx_", 4)) + "]"
        if kind < 12 and self.sources:
            source = random.choice(self.sources).split("/")
            return "@" + random.choice([source[-1], source[-1][:2] + "*", "*" + source[-1][-4:], "/".join(source[-2:]), "no-such-file.c"])
        return random.choice([self.facts.program, self.facts.program[0] + "*", "lib*.so*", "none"]) + ":" + name

    def set(self):
        words = []
        for _ in range(random.randint(1, 4)):
            kind = random.choice(["-F", "-F", "-N", "-N", "--when=", "-F+", "-D"] + ([] if self.by_names else ["--min-size="]))
            depth = random.choice(["", "+depth=%d" % random.randint(1, 6)])
            if kind == "-F+":
                words.append("-F%s+depth=%d" % (self.glob(), random.randint(1, 6)))
            elif kind == "--when=":
                words.append(kind + self.glob() + depth)
            elif kind == "--min-size=":
                words.append(kind + str(random.choice(self.sizes) + random.randint(0, 1)))
            elif kind == "-D":
                words.append("-D%d" % random.randint(1, self.depth + 1))
            else:
                words.append(kind + self.glob())
        return [w for i, w in enumerate(words) if not any(w[:3] == "-D" and v[:2] == w[:2] for v in words[:i])]


def main():
    command, path, symbols, program, *rest = sys.argv[1:]
    facts = Facts(symbols, program)
    tree = list(tree_of(path))
    if command == "wanted":
        for line in left(tree, Options(rest, facts)):
            print(*line)
        return
    random.seed(int(rest[1]))
    chooser = Chooser(tree, facts, rest[2:] == ["names"])
    made = 0
    while made < int(rest[0]):
        words = chooser.set()
        try:
            lines = left(tree, Options(words, facts))
        except Unsure:
            continue
        # What leaves nothing says little: one in ten.
        if not lines and random.random() < 0.9:
            continue
        made += 1
        print(" ".join(map(shlex.quote, words)))


main()
