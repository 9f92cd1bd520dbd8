#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with hundreds of megabytes of code and debug information: that saving goes on while its names are read, when they are there,
# and what memory that takes; the first time, and again with what was kept. FX_BENCH_MB (300) says how large it is to be.
set -eu

F=${FX_BUILDDIR:?}/fxtrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A part: ten thousand functions, copied under other names until there is enough.
awk 'BEGIN {
	print "struct shape { int kind; long values[4]; const char *name; struct shape *next; };\nextern volatile long sink;"
	for (i = 0; i < 10000; i++)
		printf "long function_number_%d(struct shape *shape_%d, long amount_%d, const char *text_%d)\n" \
			"{\n\tlong result_%d = amount_%d + %d;\n\tfor (int turn_%d = 0; turn_%d < 2; turn_%d++)\n" \
			"\t\tresult_%d += turn_%d * (shape_%d ? shape_%d->kind : 0);\n\tsink += result_%d + (text_%d != 0);\n" \
			"\treturn result_%d;\n}\n", i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i
}' >part.c
cat >main.c <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile long sink;
long FIRST(void *, long, const char *);
long SECOND(void *, long, const char *);
__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	long calls = 0;

	for (; time(NULL) < end; usleep(500))
		for (int i = 0; i < 10; i++, calls += 2) {
			FIRST(NULL, i, "");
			SECOND(NULL, i, "");
		}
	fprintf(stderr, "%s %ld\n", argv[0], calls);
	return 0;
}
EOF2
${FX_CC:-cc} -g -O0 -finstrument-functions -c part.c
${FX_CC:-cc} -g -O0 -DFIRST=p0_function_number_7 -DSECOND=p0_function_number_9000 -c main.c
cat >neighbour.c <<'EOF2'
long beside(void *a, long b, const char *c) { return (long)a + b + !c; }
long behind(void *a, long b, const char *c) { return (long)a + b + !c; }
EOF2
${FX_CC:-cc} -g -O0 -finstrument-functions -DFIRST=beside -DSECOND=behind -o neighbour main.c neighbour.c

link() {
	local parts=$1 i

	for ((i = $(find . -name 'part-*.o' | wc -l); i < parts; i++)); do
		objcopy --prefix-symbols="p${i}_" part.o prefixed.o
		objcopy --redefine-sym "p${i}_sink=sink" --redefine-sym "p${i}___cyg_profile_func_enter=__cyg_profile_func_enter" \
			--redefine-sym "p${i}___cyg_profile_func_exit=__cyg_profile_func_exit" prefixed.o "part-$i.o"
		rm prefixed.o
	done
	${FX_CC:-cc} -Wl,--build-id -o large main.o part-*.o
	stat -c %s large
}
first=$(link 1)
each=$(($(link 2) - first))
size=$(link $(((${FX_BENCH_MB:-300} * 1000000 - first) / each + 1)))
rm -f part*.o
echo "large: $((size / 1000000)) MB, $(nm large | grep -c ' T p') functions; readelf: $(
	size -A large | awk '$1 ~ /^\.debug/ { sum += $2 } END { printf "%d MB of debug information", sum / 1e6 }')"

export XDG_CACHE_HOME=$work/cache
mkdir cache
python3 - "$F" <<'EOF2'
import os, re, subprocess, sys, time

fxtrace = os.path.realpath(sys.argv[1])

mark = b"FX_BENCH_MARK=%d" % os.getpid()

# Those of this session: what starts readers is no child of the command's.
def ours():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.samefile("/proc/%s/exe" % pid, fxtrace) and mark in open("/proc/%s/environ" % pid, "rb").read():
                yield int(pid)
        except OSError:
            pass

def named(pid):
    try:
        status = open("/proc/%d/status" % pid).read()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)), re.search(r"Name:\s+(.+)", status).group(1)
    except (OSError, AttributeError):
        return 0, "?"

def measure(what):
    if os.path.exists("trace.fxt"):
        os.unlink("trace.fxt")
    begun = time.time()
    run = subprocess.Popen([fxtrace, "run", "-v", "-o", "trace.fxt", "-c", "function", "--", "sh", "-c",
                            "./neighbour 6 & ./large 6 & wait"], stderr=open("said", "w"),
                           env=dict(os.environ, FX_BENCH_MARK=str(os.getpid())))
    peak, grown, seen, at = {}, [], {}, 0
    while run.poll() is None:
        for pid in ours():
            kb, name = named(pid)
            peak[pid] = max(peak.get(pid, (0, "")), (kb, name))
        try:
            with open("trace.fxt", "rb") as archive:
                archive.seek(max(0, at - 64))
                new = archive.read()
                size = archive.tell()
        except OSError:
            new, size = b"", 0
        if size > at:
            at = size
            grown.append(time.time() - begun)
            for name in (b"beside", b"p0_function_number_7"):
                if name in new:
                    seen.setdefault(name, (grown[-1], at))
        time.sleep(0.005)
    print("%s: the neighbour's first event is in the archive after %.2f s, the large program's after %.2f s, when that had %d KB" % (
        what, seen[b"beside"][0], seen[b"p0_function_number_7"][0], seen[b"p0_function_number_7"][1] / 1000))
    print("  the longest time in which it did not grow: %.2f s" % max(b - a for a, b in zip(grown, grown[1:])))
    print("  the most memory of one of fxtrace's processes: " + ", ".join("%.0f MB %s" % (kb / 1000, name) for kb, name in sorted(
        peak.values(), reverse=True)[:4]))
    said = open("said").read()
    print("  said: " + "; ".join(re.findall(r"^\./.*|.*symbols of .*|.*lost.*", said, re.M)))
    dump = subprocess.run([fxtrace, "dump", "trace.fxt"], stdout=subprocess.PIPE, text=True).stdout
    calls = re.findall(r'event type=complete [^\n]*category="function"[^\n]*? name="([^"]*)"', dump)
    print("  calls: %d, of them without a name: %d" % (len(calls), sum("+0x" in name for name in calls)))

measure("first run")
measure("with what was kept")
EOF2
