#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs, plain and under tracers: `make bench-programs'.

Programs from Debian's sources that are built with -finstrument-functions and with the GCC plugin here, and programs as they
are installed. Each is run in every way once per round, in turn, so that what disturbs the machine disturbs all ways alike;
a figure is the median of the rounds, with the quickest and the slowest behind it. Tools that are not installed are named.

    FX_BENCH_ROUNDS    rounds (5)
    FX_BENCH_ONLY      programs to run, by name, separated by commas ("redis, make -j2"); all others are left out
"""
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["FX_BUILDDIR"]
SOURCE = os.environ["FX_SRCDIR"]
CC = os.environ.get("FX_CC", "gcc").split()
ROUNDS = int(os.environ.get("FX_BENCH_ROUNDS", "5"))
ONLY = [name.strip() for name in os.environ.get("FX_BENCH_ONLY", "").split(",") if name.strip()]
FXTRACE = BUILD + "/fxtrace"
FLOOR = BUILD + "/.libs/libbenchfloor.so"
PLUGIN = BUILD + "/compiler-plugin/.libs/fxtrace.so"


def room():
    """Where the work is done: in memory, if that has room. How fast a disk writes is not what is measured here."""
    st = os.statvfs("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    return "/dev/shm" if st and st.f_bavail * st.f_frsize > 4 << 30 else None


work = tempfile.mkdtemp(dir=room())
missing = set()


def have(tool):
    if shutil.which(tool):
        return True
    missing.add(tool)
    return False


# --- One run ---------------------------------------------------------------------------------------


class Run:
    """Wall seconds, processor seconds and minor faults of a command and all that it waited for; bytes that it left."""

    def __init__(self, command, environ, folder):
        started = time.monotonic()
        child = subprocess.Popen(command, env=environ, cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=open(folder + "/stderr", "w"))
        _, status, usage = os.wait4(child.pid, 0)
        self.wall = time.monotonic() - started
        self.cpu = usage.ru_utime + usage.ru_stime
        self.faults = usage.ru_minflt
        self.status = os.waitstatus_to_exitcode(status)
        child.returncode = self.status
        self.said = open(folder + "/stderr", errors="replace").read()


def size_of(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files)
    return os.path.getsize(path) if os.path.exists(path) else 0


def lost_of(archive):
    """Records that are not in it, as the archive itself says."""
    said = subprocess.run([FXTRACE, "report", "--json", "--summary", archive], capture_output=True, text=True)
    found = re.search(r'"lost": *(\d+)', said.stdout)
    return int(found.group(1)) if found else None


class Way:
    """A way to run a program: what stands before it, what is in its environment, and what it leaves."""

    def __init__(self, name, before=(), environ=None, leaves=None, build="hooks", begin=None, end=None):
        self.name, self.before, self.environ, self.leaves = name, list(before), environ or {}, leaves
        self.build, self.begin, self.end = build, begin, end
        self.runs, self.bytes, self.lost = [], 0, None

    def run(self, command, folder):
        output = os.path.join(work, self.leaves) if self.leaves else None
        if output and os.path.exists(output):
            (shutil.rmtree if os.path.isdir(output) else os.remove)(output)
        if self.begin and not self.begin():
            return False
        run = Run(self.before + command, {**os.environ, **self.environ}, folder)
        if self.end:
            self.end()
        if run.status != 0:
            print(f"# {self.name}: status {run.status}: {run.said.strip()[-200:]}")
            return False
        self.runs.append(run)
        if output:
            self.bytes = size_of(output)
        return True


def archive(name):
    return os.path.join(work, name)


def fxtrace(name, *options, ending="fxt", **how):
    leaves = re.sub(r"\W+", "-", name) + "." + ending
    return Way(name, [FXTRACE, "run", "-q", "-o", archive(leaves), *options, "--"], leaves=leaves, **how)


def lttng(*arguments):
    return subprocess.run(["lttng", "--no-sessiond", *arguments], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


daemon = None


def lttng_daemon():
    """One of our own, in a home of our own; root has one on the whole machine: if another runs, it is left alone."""
    global daemon
    if daemon:
        return True
    if subprocess.run(["pgrep", "-x", "lttng-sessiond"], stdout=subprocess.DEVNULL).returncode == 0:
        return False
    os.environ["LTTNG_HOME"] = archive("lttng-home")
    os.makedirs(os.environ["LTTNG_HOME"])
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        if lttng("create", "probe", "-o", archive("probe")):
            return lttng("destroy", "probe")
        time.sleep(0.1)
    return False


def lttng_begin(events):
    def begin():
        return (lttng_daemon() and lttng("create", "bench", "-o", archive("lttng")) and
                lttng("enable-channel", "-u", "--subbuf-size=4M", "--num-subbuf=8", "channel") and
                lttng("enable-event", "-u", events, "-c", "channel") and lttng("start"))
    return begin


def lttng_end():
    lttng("destroy", "bench")


# --- Tables ----------------------------------------------------------------------------------------


def seconds(values):
    middle = statistics.median(values)
    return f"{middle:.3f} ({min(values):.3f}..{max(values):.3f})"


def table(program, ways, against):
    """One line a way; `against' names the way that ratios are of."""
    print(f"\n{program}")
    base = next((w for w in ways if w.name == against and w.runs), None)
    print(f"{'':34} {'wall s':>24} {'of ' + against:>10} {'cpu s':>7} {'faults':>8} {'MB':>8} {'lost':>9}")
    for way in ways:
        if not way.runs:
            continue
        wall = [r.wall for r in way.runs]
        ratio = f"{statistics.median(wall) / statistics.median([r.wall for r in base.runs]):.2f}" if base else ""
        lost = "" if way.lost is None else str(way.lost)
        print(f"{way.name:34} {seconds(wall):>24} {ratio:>10} {statistics.median([r.cpu for r in way.runs]):7.2f}"
              f" {statistics.median([r.faults for r in way.runs]):8.0f} {way.bytes / 1e6:8.1f} {lost:>9}")
    sys.stdout.flush()


def is_wanted(program):
    return not ONLY or program in ONLY


def measure(program, commands, ways, against, folder):
    """`commands': of each build, the command."""
    if not is_wanted(program):
        return
    gone = set()
    for _ in range(ROUNDS):
        for way in ways:
            if way.name not in gone and (way.build not in commands or not way.run(commands[way.build], folder)):
                gone.add(way.name)
    for way in ways:
        if way.leaves and way.runs and ".fxt" in way.leaves:
            way.lost = lost_of(archive(way.leaves))
    table(program, ways, against)


# --- Instrumented programs -------------------------------------------------------------------------


def source(package):
    said = subprocess.run(["bash", "-c", '. "$FX_SRCDIR/tests/e2e/source.sh" && debian_source "$1"', "bash", package],
                          capture_output=True, text=True)
    if said.returncode != 0:
        missing.add("the source of " + package)
        return None
    return said.stdout.strip()


HOOKS = ["-finstrument-functions"]
WITH_PLUGIN = ["-fplugin=" + PLUGIN]


def build(name, package, sources, options, libraries=()):
    """The program with hooks and with the plugin, -O2, in the folder for the work: of each build its path."""
    folder = source(package) if is_wanted(name) else None
    built = {}
    if not folder:
        return built
    for kind, flags in (("hooks", HOOKS), ("plugin", WITH_PLUGIN), ("bare", [])):
        if kind == "plugin" and not os.path.exists(PLUGIN):
            missing.add("the plugin")
            continue
        program = archive(f"{name}-{kind}")
        files = [os.path.join(d, f) for d, pattern in sources for f in sorted(os.listdir(os.path.join(folder, d)))
                 if re.fullmatch(pattern, f)]
        said = subprocess.run([*CC, "-O2", "-w", *flags, *[o.replace("@", folder) for o in options], "-o", program, *files,
                               *libraries], cwd=folder, capture_output=True, text=True)
        if said.returncode != 0:
            print(f"# {name} {kind}: {said.stderr[-300:]}")
            continue
        built[kind] = program
    return built


def instrumented_ways():
    ways = [
        Way("hooks, no tracer", build="hooks"),
        Way("the floor hook", environ={"LD_PRELOAD": FLOOR}),
        fxtrace("fxtrace"),
        fxtrace("fxtrace, circular", "-m", "circular"),
        fxtrace("fxtrace, lossless", "--on-full", "block"),
        fxtrace("fxtrace, lossless, .zst", "--on-full", "block", ending="fxt.zst"),
        Way("without hooks", build="bare"),
        Way("plugin, no tracer", build="plugin"),
        fxtrace("fxtrace, plugin", build="plugin"),
        fxtrace("fxtrace, plugin, lossless", "--on-full", "block", build="plugin"),
    ]
    if have("uftrace"):
        ways.append(Way("uftrace record", ["uftrace", "record", "--no-libcall", "-d", archive("uftrace")], leaves="uftrace"))
    if have("perf"):
        ways.append(Way("perf record -g", ["perf", "record", "-q", "-g", "-o", archive("perf.data")], leaves="perf.data",
                        build="bare"))
    if have("lttng"):
        ways.append(Way("LTTng, cyg-profile-fast", environ={"LD_PRELOAD": "liblttng-ust-cyg-profile-fast.so.1"},
                        leaves="lttng", begin=lttng_begin("lttng_ust_cyg_profile_fast:*"), end=lttng_end))
    return ways


LUA = """local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 60000 do t[#t + 1] = tostring(i):rep(3) end
table.sort(t)
print(fib(22), #table.concat(t))
"""
SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
insert into t select i, 'text of ' || (i * 7919 % 10007), i / 3.0 from n;
create index i on t(b);
select count(*), sum(c) from t where b like '%99%';
select b, count(*) from t group by b order by 2 desc limit 5;
"""


def write(name, text):
    with open(archive(name), "w") as f:
        f.write(text)
    return archive(name)


def instrumented():
    os.makedirs(archive("here"))
    here = archive("here")
    write("lua5.4-deb-multiarch.h", '#define DEB_HOST_MULTIARCH "none"\n')
    programs = [
        ("lua", build("lua", "lua5.4", [("src", r"l(?!uac\.c).*\.c")],
                      ["-I" + work, "-Dluai_makeseed(L)=1", "-DLUA_USE_POSIX", "-DLUA_USE_DLOPEN"], ["-lm", "-ldl"]),
         [write("work.lua", LUA)]),
        ("sqlite3", sqlite(), [":memory:", ".read " + write("work.sql", SQL)]),
        ("bzip2", build("bzip2", "bzip2", [(".", r"(bzip2|blocksort|huffman|crctable|randtable|compress|decompress|bzlib)\.c")],
                        ["-D_FILE_OFFSET_BITS=64"]), ["-ckf", write("text", "".join(
                            f"{i * 7919 % 100003} lines of some text, {i % 17}\n" for i in range(60000)))]),
        ("xmlwf", build("xmlwf", "expat", [("expat/lib", r"xml(parse|role|tok)\.c"),
                                           ("expat/xmlwf", r"(xmlwf|xmlfile|codepage|readfilemap)\.c")],
                        ["-I@/expat/lib", "-DXML_GE=1", "-DXML_DTD", "-DXML_NS", "-DXML_CONTEXT_BYTES=1024", "-DHAVE_GETRANDOM",
                         "-DVERSION=\"1\"", "-DXML_DEV_URANDOM", "-DHAVE_UNISTD_H"]),
         [write("doc.xml", "<d>" + "".join(f'<e a="{i}" b="c{i % 7}">text &amp; {i}<f/></e>\n' for i in range(60000)) + "</d>")]),
    ]
    for name, built, arguments in programs:
        measure(name, {kind: [path, *arguments] for kind, path in built.items()}, instrumented_ways(), "the floor hook", here)


def sqlite():
    """Its sources make the amalgamation first."""
    folder = source("sqlite3") if is_wanted("sqlite3") else None
    if not folder or not have("tclsh"):
        return {}
    made = archive("sqlite")
    os.makedirs(made, exist_ok=True)
    if subprocess.run([folder + "/configure", "--disable-tcl"], cwd=made, capture_output=True).returncode != 0 or \
            subprocess.run(["make", "sqlite3.c", "shell.c"], cwd=made, capture_output=True).returncode != 0:
        missing.add("sqlite3's amalgamation")
        return {}
    built = {}
    for kind, flags in (("hooks", HOOKS), ("plugin", WITH_PLUGIN), ("bare", [])):
        path = archive("sqlite3-" + kind)
        if subprocess.run([*CC, "-O2", "-w", *flags, "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-I.", "-o", path,
                           "sqlite3.c", "shell.c", "-lm"], cwd=made, capture_output=True).returncode == 0:
            built[kind] = path
    return built


# --- Programs as they are --------------------------------------------------------------------------

REDIS = """redis-server --port 0 --unixsocket $PWD/s --save '' --daemonize no >/dev/null & server=$!
until redis-cli -s $PWD/s ping >/dev/null 2>&1; do sleep 0.02; done
redis-benchmark -s $PWD/s -q -n 10000 -c 20 -t set,get >/dev/null
redis-cli -s $PWD/s shutdown nosave; wait $server"""
NGINX = """mkdir -p html logs; echo hello >html/index.html
printf 'daemon off; master_process off; pid %s/pid; error_log %s/err; events {} http { access_log off; server { listen unix:%s/n; root %s/html; } }' \
"$PWD" "$PWD" "$PWD" "$PWD" >conf
/usr/sbin/nginx -p "$PWD" -c "$PWD/conf" & server=$!
until [ -S n ]; do sleep 0.02; done
python3 -c '
import socket
for _ in range(60):
    s = socket.socket(socket.AF_UNIX); s.connect("n")
    for _ in range(100):
        s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"); s.recv(4096)
    s.close()'
kill $server; wait $server; rm -f n"""
MAKE = """for i in $(seq 30); do printf 'int f%d(int a) { return a * %d; }\\n' $i $i >u$i.c; done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard u*.c))\\n' >Makefile
make -s -B -j2 all"""
RSYNC = """rm -rf to; [ -d from ] || { mkdir -p from; for i in $(seq 5000); do echo $i >from/$i; done; }
rsync -a from/ to/"""
SHELL = """for i in $(seq 30); do ls / >/dev/null; done"""
PYTHON = """import json, re, os
d = [{'k%d' % (i % 97): [i, str(i), {'x': i / 3}]} for i in range(20000)]
s = json.dumps(d); json.loads(s); len(re.findall(r'k\\\\d+', s))
for i in range(2000):
    with open('f', 'w') as f: f.write(str(i))
    os.stat('f')
"""


def as_they_are():
    programs = [
        ("python3", "python3", ["python3", "-c", PYTHON]),
        ("30 x ls", "sh", ["sh", "-c", SHELL]),
        ("make -j2", "make", ["bash", "-c", MAKE]),
        ("rsync of 5000 files", "rsync", ["bash", "-c", RSYNC]),
        ("redis", "redis-server", ["bash", "-c", REDIS]),
        ("nginx", "nginx", ["bash", "-c", NGINX]),
    ]
    for name, tool, command in programs:
        if not have(tool):
            continue
        folder = archive("here-" + tool)
        os.makedirs(folder, exist_ok=True)
        ways = [Way("plain", build="it"), fxtrace("fxtrace", build="it"), fxtrace("fxtrace -c '*'", "-c", "*", build="it"),
                fxtrace("fxtrace, .zst", ending="fxt.zst", build="it")]
        if have("strace"):
            ways.append(Way("strace -f", ["strace", "-f", "-o", archive("strace")], leaves="strace", build="it"))
        if have("lttng"):
            ways.append(Way("LTTng, libc and pthread", environ={
                "LD_PRELOAD": "liblttng-ust-libc-wrapper.so.1:liblttng-ust-pthread-wrapper.so.1"}, leaves="lttng", build="it",
                begin=lttng_begin("lttng_ust_libc:*,lttng_ust_pthread:*"), end=lttng_end))
        measure(name, {"it": command}, ways, "plain", folder)


def main():
    print(f"{ROUNDS} rounds in turn; medians, and the quickest and the slowest. Processor time and faults are the program's and "
          f"the manager's, as far as their parent waited for them.")
    with open("/sys/devices/system/clocksource/clocksource0/current_clocksource") as f:
        print("clock source: " + f.read().strip())
    try:
        instrumented()
        as_they_are()
    finally:
        if daemon:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
        shutil.rmtree(work, ignore_errors=True)
    if missing:
        print("\nnot there: " + ", ".join(sorted(missing)))


main()
