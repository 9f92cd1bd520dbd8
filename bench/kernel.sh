#!/bin/bash
# SPDX-License-Identifier: MIT
# What samples and switches cost a program: its processor time, and the time of the whole run, by those of a run without them;
# medians of interleaved rounds. Beside it, perf record with stacks of the same size. And what a busy machine leaves as it is: the processor time of the
# kernel provider, and of the manager beyond what that takes anyway, by that of the program; how often the provider was woken a second; how long a
# program of BPF runs, which the kernel counts for root (for all threads of the machine). The provider begins with some hundredths of a second, so
# that programs are to run for some seconds.
set -u
command -v python3 >/dev/null || { echo "kernel: no python3" && exit 77; }
folder=$(mktemp -d) || exit 99
# The kernel counts what programs of BPF take if it is told to: for as long as this runs, whatever ends it.
stats=/proc/sys/kernel/bpf_stats_enabled
stats_before=$(cat $stats 2>/dev/null)
restore() {
	[ -z "$stats_before" ] || [ ! -w $stats ] || echo "$stats_before" >$stats
	rm -rf "$folder"
}
trap restore EXIT
trap 'exit 1' INT TERM HUP
cat >"$folder/work.c" <<'END'
#include <stdlib.h>
#include <string.h>
/* Some of what programs do: calls, memory, sorting. */
static int compare(const void *a, const void *b)
{
	return (*(const unsigned *)a > *(const unsigned *)b) - (*(const unsigned *)a < *(const unsigned *)b);
}
__attribute__((noinline)) static unsigned round_of(unsigned *numbers, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = seed = seed * 1664525u + 1013904223u;
	qsort(numbers, count, sizeof(*numbers), compare);
	return numbers[count / 2];
}
int main(void)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < 60; i++) {
		unsigned *numbers = malloc(200000 * sizeof(*numbers));
		sum += round_of(numbers, 200000, i);
		free(numbers);
	}
	return sum == 1;
}
END
${FX_CC:-cc} -O2 -o "$folder/work" "$folder/work.c" || exit 99
cat >"$folder/calls.c" <<'END'
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
enum { CALLS = 50000 };
/* Of time, and of the processor's. */
int main(void)
{
	double time = ns(CLOCK_MONOTONIC), own = ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	time = ns(CLOCK_MONOTONIC) - time;
	own = ns(CLOCK_PROCESS_CPUTIME_ID) - own;
	printf("%.1f %.1f\n", time / CALLS, own / CALLS);
	return 0;
}
END
${FX_CC:-cc} -O2 -static -o "$folder/calls" "$folder/calls.c" 2>/dev/null
# Many short processes, and a server under load: `make -j2' of 240 small files, redis with its own benchmark.
mkdir "$folder/build" && for i in $(seq 240); do
	echo "int f$i(int a) { return a + $i; }" >"$folder/build/f$i.c"
done
{
	echo "OBJECTS := $(seq -f 'f%g.o' -s ' ' 240)"
	echo 'all: $(OBJECTS)'
	printf '%%.o: %%.c\n\t%s -O1 -c -o $@ $<\n' "${FX_CC:-cc}"
} >"$folder/build/Makefile"
cat >"$folder/make.sh" <<END
rm -f "$folder"/build/*.o
TIMEFORMAT='%U %S %R'
time make -s -j2 -C "$folder/build" all
END
cat >"$folder/redis.sh" <<END
redis-server --port 0 --unixsocket "$folder/redis.sock" --save '' --daemonize no >/dev/null &
server=\$!
until [ -S "$folder/redis.sock" ]; do sleep 0.01; done
TIMEFORMAT='%U %S %R'
time redis-benchmark -s "$folder/redis.sock" -q -n 300000 -c 20 -t set,get >/dev/null
kill \$server
wait \$server
rm -f "$folder/redis.sock"
END
python3 - "${FX_BUILDDIR:?}/fxtrace" "$folder" <<'END'
import os, shutil, statistics, subprocess, sys, threading, time

fxtrace, folder = sys.argv[1:]
archive, work = folder + "/t.fxt", folder + "/work"
# The program's own time, whoever else there is: bash's `time'.
timed = ["bash", "-c", 'TIMEFORMAT="%U %S"; time "$0"', work]
run = [fxtrace, "run", "-q", "-o", archive]
ways = {
    "plain": timed,
    "run": run + ["--"] + timed,
    "--sample 999": run + ["--sample", "999", "--"] + timed,
    "--kernel": run + ["--kernel", "--"] + timed,
}
if shutil.which("perf"):
    ways["perf record"] = ["perf", "record", "-q", "-F", "999", "-e", "task-clock", "--call-graph", "dwarf,16384",
                           "-o", folder + "/perf.data", "--"] + timed
def read(path):
    with open(path) as file:
        return file.read()

# Of a process: seconds of processors, and how often its threads have waited and been woken.
def taken(pid):
    seconds = wakes = 0
    for thread in os.listdir("/proc/%s/task" % pid):
        folder = "/proc/%s/task/%s/" % (pid, thread)
        seconds += int(read(folder + "schedstat").split()[0]) / 1e9
        wakes += int(read(folder + "status").split("voluntary_ctxt_switches:")[1].split()[0])
    return seconds, wakes

# Of its programs of BPF: seconds and runs. They run for all threads of the machine.
def programs_ran(pid):
    seconds = runs = 0
    for fd in os.listdir("/proc/%s/fdinfo" % pid):
        words = read("/proc/%s/fdinfo/%s" % (pid, fd)).split()
        if "run_time_ns:" in words:
            seconds += int(words[words.index("run_time_ns:") + 1]) / 1e9
            runs += int(words[words.index("run_cnt:") + 1])
    return seconds, runs

class Taken:
    provider = manager = wakes = bpf = bpf_runs = 0
    elapsed = 0

# Runs it; what it said, and what the tracer had taken when it was there to be asked last.
def run_watched(command):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ret = Taken()
    def is_provider(pid):
        stat = read("/proc/%s/stat" % pid)
        return "(fxtrace-kernel)" in stat and int(stat.rsplit(")", 1)[1].split()[1]) == process.pid
    def look():
        ret.manager = taken(process.pid)[0]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if is_provider(pid):
                    ret.provider, ret.wakes = taken(pid)
                    ret.elapsed = time.monotonic() - begin
                    ret.bpf, ret.bpf_runs = programs_ran(pid)
            except (OSError, ValueError, IndexError):
                pass
    def watch():
        while process.poll() is None:
            try:
                look()
            except (OSError, ValueError, IndexError):
                pass
            time.sleep(0.05)
    watcher = threading.Thread(target=watch)
    watcher.start()
    said = process.stderr.read()
    watcher.join()
    return process.wait(), said, ret

try:
    with open("/proc/sys/kernel/bpf_stats_enabled", "w") as file:
        file.write("1")
except OSError:
    pass

own = {way: [] for way in ways}
whole = {way: [] for way in ways}
for _ in range(7):
    for way, command in ways.items():
        begin = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        whole[way].append(time.monotonic() - begin)
        last = [line for line in done.stderr.splitlines() if len(line.split()) == 2 and line[0].isdigit()]
        if done.returncode or not last:
            print("kernel: %s: not measured: %s" % (way, done.stderr.strip()[-200:]))
            own[way].append(float("nan"))
            continue
        own[way].append(sum(map(float, last[-1].split())))

wrong = False
bars = {"--sample 999": 1.02, "--kernel": 1.03}
for way in ways:
    mine, all_ = (statistics.median(t[way]) / statistics.median(t["run"]) for t in (own, whole))
    bar = bars.get(way)
    verdict = "" if not bar else " (at most %.2f)%s" % (bar, "" if mine <= bar else " TOO MUCH")
    wrong |= bool(bar) and not mine <= bar
    print("kernel: %-12s the program %.3f, the whole run %.3f of those without%s" % (way, mine, all_, verdict))

# Whole programs: the time that they take themselves, from their begin to their end, which an end of the tracer's is not part of.
def whole_programs(what, script, rounds):
    ways = {"run": [], "--sample 999": ["--sample", "999"], "--kernel": ["--kernel"]}
    elapsed, spent, provider, cost = ({way: [] for way in ways} for _ in range(4))
    for _ in range(rounds):
        for way, options in ways.items():
            status, said, took = run_watched(run + options + ["--", "bash", script])
            last = [line.split() for line in said.splitlines() if len(line.split()) == 3 and line[0].isdigit()]
            if status or not last:
                print("kernel: %s %s: not measured: %s" % (what, way, said.strip()[-200:]))
                return True
            provider[way].append(took)
            cost[way].append(took.provider + took.manager)
            elapsed[way].append(float(last[-1][2]))
            spent[way].append(float(last[-1][0]) + float(last[-1][1]))
    wrong = False
    for way in ways:
        time_, cpu = (statistics.median(t[way]) / statistics.median(t["run"]) for t in (elapsed, spent))
        bar = bars.get(way)
        verdict = "" if not bar else " (at most %.2f)%s" % (bar, "" if time_ <= bar else " TOO MUCH")
        wrong |= bool(bar) and not time_ <= bar
        print("kernel: %-9s %-12s takes %.3f, of processors %.3f of that without%s" % (what, way, time_, cpu, verdict))
        if not bar:
            continue
        more = (statistics.median(cost[way]) - statistics.median(cost["run"])) / statistics.median(spent["run"])
        wrong |= not more <= bar - 1
        mid = lambda of: statistics.median(of(t) for t in provider[way])
        print("kernel: %-9s %-12s the tracer beside it takes %.4f of its processor time (at most %.2f)%s: the provider %.3f s, woken %.0f times a "
              "second, the manager %.3f s (%.3f without), BPF %.3f s, %.0f runs of %.0f ns" % (
                  what, way, more, bar - 1, "" if more <= bar - 1 else " TOO MUCH", mid(lambda t: t.provider),
                  mid(lambda t: t.wakes / (t.elapsed or 1)), mid(lambda t: t.manager),
                  statistics.median(t.manager for t in provider["run"]), mid(lambda t: t.bpf), mid(lambda t: t.bpf_runs),
                  mid(lambda t: 1e9 * t.bpf / (t.bpf_runs or 1))))
    return wrong

if shutil.which("make"):
    wrong |= whole_programs("make -j2", folder + "/make.sh", 3)
if shutil.which("redis-benchmark") and shutil.which("redis-server"):
    wrong |= whole_programs("redis", folder + "/redis.sh", 3)

# A system call that does nothing, of a program in which nothing is preloaded.
if os.path.exists(folder + "/calls"):
    ways = {"plain": [], "--kernel": run + ["--kernel", "--"]}
    if shutil.which("strace"):
        ways["strace"] = ["strace", "-f", "-o", "/dev/null"]
        ways["strace --seccomp-bpf"] = ["strace", "-f", "--seccomp-bpf", "-e", "trace=getppid", "-o", "/dev/null"]
    if shutil.which("perf"):
        ways["perf trace"] = ["perf", "trace", "-o", "/dev/null"]
    took = {way: [] for way in ways}
    for _ in range(3):
        for way, command in ways.items():
            done = subprocess.run(command + [folder + "/calls"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            fine = done.returncode == 0 and len(done.stdout.split()) == 2
            took[way].append([float(t) for t in done.stdout.split()] if fine else [float("nan")] * 2)
    # A busy machine leaves the processor's time as it is; who stops a program to look at it takes time that is none of its own.
    time_of, own_of = ({way: statistics.median(t[i] for t in took[way]) for way in ways} for i in (0, 1))
    for way in ways:
        more = own_of[way] - own_of["plain"]
        bar = way == "--kernel"
        wrong |= bar and not more <= 1500
        print("kernel: %-20s a system call %.0f ns more of a processor than %.0f%s, %.0f more than %.0f of time" % (
            way, more, own_of["plain"], "" if not bar else " (at most 1500)" + ("" if more <= 1500 else " TOO MUCH"),
            time_of[way] - time_of["plain"], time_of["plain"]))
sys.exit(wrong)
END
