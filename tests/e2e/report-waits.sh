#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --waits': of a program that says what it waited for, with a convoy and holders that are known; and the
# numbers that a script computes from the archive's records.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >waiter.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER, calm = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static int tids[5];
static long long measured[5];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Until a thread that is about to wait does so. */
static void until_it_sleeps(volatile int *tid)
{
	char path[64], text[256], *state;
	int fd;

	for (;; sched_yield()) {
		if (!*tid)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", *tid);
		fd = open(path, O_RDONLY);
		memset(text, 0, sizeof(text));
		read(fd, text, sizeof(text) - 1);
		close(fd);
		state = strrchr(text, ')');
		if (state && state[2] == 'S')
			return;
	}
}

static void *in_convoy(void *number)
{
	int i = (int)(long)number;
	long long begin;

	pthread_setname_np(pthread_self(), "waiter");
	__atomic_store_n(&tids[i], (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	begin = now();
	pthread_mutex_lock(&busy);
	measured[i] = now() - begin;
	pthread_mutex_unlock(&busy);
	return NULL;
}

/* The first thread is about to wait for the next thing, and then does. */
static int stage;
static void until_it_waits(int next)
{
	while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != next)
		usleep(1000);
	until_it_sleeps(&tids[0]);
}

static void *keeper(void *unused)
{
	pthread_setname_np(pthread_self(), "keeper");
	pthread_mutex_lock(&calm);
	pthread_rwlock_wrlock(&shared);
	pthread_barrier_wait(&barrier);
	until_it_sleeps(&tids[0]);
	usleep(20000);
	pthread_mutex_unlock(&calm);
	until_it_waits(1);
	usleep(20000);
	pthread_rwlock_unlock(&shared);
	until_it_waits(2);
	usleep(20000);
	sem_post(&sem);
	return unused;
}

int main(void)
{
	pthread_t threads[5], other;
	struct pollfd fd = {.events = POLLIN};
	struct timespec t;
	long long begin, total = 0;
	int fds[2];
	char c;

	pthread_setname_np(pthread_self(), "first");
	pthread_mutex_lock(&busy);
	for (long i = 0; i < 5; i++)
		pthread_create(&threads[i], NULL, in_convoy, (void *)i);
	for (int i = 0; i < 5; i++)
		until_it_sleeps(&tids[i]);
	usleep(100000);
	pthread_mutex_unlock(&busy);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 5; i++)
		total += measured[i];
	printf("busy %p %lld\n", (void *)&busy, total);

	tids[0] = 0;
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, keeper, NULL);
	pthread_barrier_wait(&barrier);
	__atomic_store_n(&tids[0], getpid(), __ATOMIC_SEQ_CST);
	begin = now();
	pthread_mutex_lock(&calm);
	printf("calm %p %lld\n", (void *)&calm, now() - begin);
	pthread_mutex_trylock(&calm);
	__atomic_store_n(&stage, 1, __ATOMIC_SEQ_CST);
	begin = now();
	pthread_rwlock_rdlock(&shared);
	printf("shared %p %lld\n", (void *)&shared, now() - begin);
	__atomic_store_n(&stage, 2, __ATOMIC_SEQ_CST);
	begin = now();
	sem_wait(&sem);
	printf("sem %p %lld\n", (void *)&sem, now() - begin);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 30000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	begin = now();
	pthread_cond_timedwait(&cond, &calm, &t);
	printf("cond %p %lld\n", (void *)&cond, now() - begin);
	pthread_join(other, NULL);
	pipe(fds);
	fflush(stdout);
	if (fork() == 0) {
		usleep(30000);
		write(fds[1], "x", 1);
		usleep(30000);
		write(fds[1], "x", 1);
		usleep(30000);
		_exit(0);
	}
	fd.fd = fds[0];
	poll(&fd, 1, -1);
	read(fds[0], &c, 1);
	read(fds[0], &c, 1);
	wait(NULL);
	readlink("/proc/self/exe", (char[99]){0}, 99);
	getcwd((char[999]){0}, 999);
	return 0;
}
END
compile waiter -O0 -w -pthread waiter.c
expect_ok "$FXTRACE" run -q -o waiter.fxt --on-full block --stacks pthread -- ./waiter
mv out said
expect_ok "$FXTRACE" report --waits --top 0 --json waiter.fxt
mv out waiter.json
"$FXTRACE" dump --json waiter.fxt >dump.json || fail "dump"

python3 - said waiter.json <<'END' || fail "other waits than the program says"
import json, sys
said = {fields[1]: (fields[0], int(fields[2])) for fields in map(str.split, open(sys.argv[1]))}
report = json.load(open(sys.argv[2]))
def address(text):
    return text.split()[-1].strip("()")
locks = {said.get(address(row["lock"]), (None,))[0]: row for row in report["locks"]["rows"]}
assert set(locks) == {"busy", "calm", "shared"}, report["locks"]
assert all(row["lock"].split()[1] == name for name, row in locks.items()), "locks' own names"
times = {name: time for name, time in said.values()}
busy, calm, shared = locks["busy"], locks["calm"], locks["shared"]
assert busy["waits"] == 5 and busy["convoy"] == 5, busy
assert busy["longest_thread"] == "waiter" and busy["longest_ns"] >= 100_000_000, busy
assert 500_000_000 <= busy["total_ns"] <= times["busy"], (busy, times)
# The last one of a convoy waits for another one of it, as the case may be; who begins to wait sees the first holder.
assert busy["holders"].startswith("first (tid ") and busy["holders"].endswith(" 100 %"), busy
assert busy["place"].startswith("in_convoy"), busy
for row, name in (calm, "calm"), (shared, "shared"):
    assert row["waits"] == 1 and row["convoy"] == 1 and row["holders"].startswith("keeper (tid "), row
    assert 20_000_000 <= row["total_ns"] <= times[name] and row["longest_thread"] == "first", (row, times)
assert busy["lock"].startswith("mutex busy (0x") and shared["lock"].startswith("rwlock shared (0x"), locks
# Where the one had taken it who was waited for.
assert (busy["taken_at"], calm["taken_at"], shared["taken_at"]) == ("main", "keeper", "keeper"), locks
assert "held_ns" not in busy, busy
others = report["waits"]["rows"]
def the(kind, **more):
    found = [r for r in others if r["kind"] == kind and all(r[k] == v for k, v in more.items())]
    assert len(found) == 1, (kind, more, others)
    return found[0]
for kind, name in ("a semaphore", "sem"), ("a condition", "cond"):
    row = the(kind)
    assert said[address(row["object"])][0] == name and row["object"].split()[1] == name, row
    assert 15_000_000 <= row["total_ns"] <= times[name], (row, times)
assert the("a barrier")["waits"] == 2, others
assert the("a child")["object"].startswith("waiter (pid ") or the("a child")["object"].startswith("first (pid "), others
# A handle that was used again stands as it is.
ends = [r["object"] for r in others if r["kind"] == "a thread's end"]
assert any(e.startswith("waiter (tid ") for e in ends) and not any(e.startswith("first") for e in ends), ends
assert sum(r["waits"] for r in others if r["kind"] == "a thread's end") == 6, others
assert the("one of several descriptors")["object"].startswith("pipe:["), others
peers = [r for r in others if r["kind"] == "a peer"]
assert all(r["object"].startswith("pipe:[") for r in peers), peers
assert sum(r["waits"] for r in peers if r["call"] == "read") >= 2, peers
threads = {(r["thread"], r["kind"]) for r in report["thread_waits"]["rows"]}
assert {("waiter", "a lock"), ("first", "a lock"), ("keeper", "time to pass")} <= threads, threads
assert ("keeper", "a lock") not in threads, threads
END

# The same from the records: each lock's waits, holders, where these had taken it, and greatest number at one time.
python3 - dump.json waiter.json <<'END' || fail "other numbers than the records'"
import collections, json, sys
locks = collections.defaultdict(list)
threads = collections.defaultdict(lambda: [0, 0])
for record in map(json.loads, open(sys.argv[1])):
    if record["kind"] == "initialization":
        assert record["ticks_per_second"] == 1_000_000_000
    if record["kind"] != "event" or record["type"] != "complete" or record["category"] != "pthread":
        continue
    values = {a["name"]: a.get("value") for a in record["args"]}
    address = values.get("mutex") or values.get("rwlock")
    if record["name"].endswith("lock") and address:
        locks[address].append((record["ts"], record["end"], values.get("holder"), values.get("taken_name")))
        threads[record["tid"]][0] += 1
        threads[record["tid"]][1] += record["end"] - record["ts"]
report = json.load(open(sys.argv[2]))
assert len(locks) == 3
for row in report["locks"]["rows"]:
    waits = locks.pop(row["lock"].split()[-1].strip("()"))
    most = max(sum(b <= begin < e for b, e, *_ in waits) for begin, *_ in waits)
    taken = collections.Counter()
    for begin, end, _, place in waits:
        taken[place] += end - begin
    assert row["taken_at"] == taken.most_common(1)[0][0], (row, taken)
    assert (row["waits"], row["total_ns"]) == (len(waits), sum(e - b for b, e, *_ in waits)), (row, waits)
    assert (row["longest_ns"], row["convoy"]) == (max(e - b for b, e, *_ in waits), most), (row, waits)
    assert {f"(tid {h})" for _, _, h, _ in waits if h} == {f"(tid {p.split(')')[0]})" for p in row["holders"].split("(tid ")[1:]}
assert not locks
for row in report["thread_waits"]["rows"]:
    if row["kind"] == "a lock":
        assert threads.pop(row["tid"]) == [row["waits"], row["total_ns"]], row
assert not threads, threads
END

# Of what is recorded though nobody waits, neither an attempt nor a release is a wait.
expect_ok "$FXTRACE" run -q -o all.fxt --on-full block -c '#default,pthread:all' -- ./waiter
expect_ok "$FXTRACE" report --waits --top 0 --json all.fxt
"$FXTRACE" dump --json all.fxt >dump.json || fail "dump"
python3 - out dump.json <<'END' || fail "what is no wait"
import collections, json, sys
report = json.load(open(sys.argv[1]))
calls = {r["call"] for r in report["waits"]["rows"]}
assert not {c for c in calls if "unlock" in c or "try" in c or "readlink" in c or "getcwd" in c}, calls
# Each of the five locks and releases it once, the first one before them.
(busy,) = (r for r in report["locks"]["rows"] if r["longest_thread"] == "waiter")
assert busy["waits"] == 6 and busy["convoy"] == 5, busy
# The first thread had it longest, as a rule, by a call whose place is not known: then the waits tell it.
held, since = collections.Counter(), {}
for tid, ts, end, name in sorted((r["tid"], r["ts"], r["end"], r["name"]) for r in map(json.loads, open(sys.argv[2]))
                                 if r["kind"] == "event" and r["type"] == "complete"
                                 and any(a.get("value") == "busy" for a in r["args"])):
    if name.endswith("unlock"):
        held[tid == busy["pid"]] += ts - since[tid]
    since[tid] = end
assert held[True] >= 100_000_000 and sum(held.values()) == busy["held_ns"], (busy, held)
assert busy["taken_at"] == ("main" if held[True] >= held[False] else "in_convoy"), (busy, held)
END

# Which lock, and who held it, is a finding of the summary.
expect_ok "$FXTRACE" report --summary waiter.fxt
expect_line 'waited 5 times for mutex busy \(0x[0-9a-f]+\), held by first \(tid [0-9]+\) 100 % of that time, at most' out
# Without stacks, the place is the function alone.
expect_ok "$FXTRACE" run -q -o plain.fxt -- ./waiter
expect_ok "$FXTRACE" report --waits --csv plain.fxt
expect_line '"mutex busy \(0x[0-9a-f]+\)","first \(tid [0-9]+\) 100 %","in_convoy","main"' out
expect_ok "$FXTRACE" report --waits plain.fxt
expect_line ' mutex busy \(0x[0-9a-f]+\) +first \(tid [0-9]+\) 100 % +in_convoy +main' out
expect_line '^taken at: where those had taken it who were waited for longest$' out

# How long locks were held, by whom it may be, and where they had been taken: of a program that holds them for known times.
cat >holder.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t twice = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, pausing = PTHREAD_MUTEX_INITIALIZER,
		       tried = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t of_c11;
#define WHERE __attribute__((noinline, noclone)) static void
WHERE briefly(void) { pthread_mutex_lock(&twice); usleep(1000); pthread_mutex_unlock(&twice); }
WHERE for_long(void)
{
	pthread_mutex_lock(&twice);
	pthread_mutex_lock(&twice);
	usleep(20000);
	pthread_mutex_unlock(&twice);
	usleep(20000);
	pthread_mutex_unlock(&twice);
}
WHERE waiting(void)
{
	struct timespec t;

	pthread_mutex_lock(&pausing);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 100000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&cond, &pausing, &t);
	usleep(1000);
	pthread_mutex_unlock(&pausing);
}
static void *contender(void *arg)
{
	if (pthread_mutex_trylock(&tried) == 0)
		pthread_mutex_unlock(&tried);
	if (mtx_trylock(&of_c11) == thrd_success)
		mtx_unlock(&of_c11);
	pthread_rwlock_rdlock(&both);
	usleep(20000);
	pthread_rwlock_unlock(&both);
	return arg;
}
WHERE trying(void)
{
	pthread_t thread;

	pthread_mutex_trylock(&tried);
	mtx_lock(&of_c11);
	pthread_rwlock_rdlock(&both);
	pthread_create(&thread, 0, contender, 0);
	pthread_join(thread, 0);
	pthread_rwlock_unlock(&both);
	mtx_unlock(&of_c11);
	pthread_mutex_lock(&kept);
	pthread_mutex_unlock(&tried);
}
int main(void)
{
	mtx_init(&of_c11, mtx_plain);
	for (int i = 0; i < 3; i++)
		briefly();
	for_long();
	waiting();
	trying();
	usleep(20000);
	return 0;
}
END
compile holder -O1 -w -pthread holder.c
expect_ok "$FXTRACE" run -q -o holder.fxt --on-full block -c '#default,pthread:all' --stacks pthread -- ./holder
expect_ok "$FXTRACE" report --waits --top 0 --json holder.fxt
mv out holder.json
expect_ok "$FXTRACE" dump --json holder.fxt
python3 - out holder.json <<'END' || fail "how long locks were held"
import collections, json, sys
# From the records: takes and releases of each thread in order of time.
calls = collections.defaultdict(list)
end = 0
for record in map(json.loads, open(sys.argv[1])):
    if record["kind"] != "event":
        continue
    end = max(end, record.get("end", record["ts"]))
    if record["type"] == "complete" and record["category"] == "pthread":
        values = {a["name"]: a.get("value") for a in record["args"]}
        name = values.get("mutex_name") or values.get("rwlock_name")
        if name and not record["name"].endswith(("init", "destroy")):
            failed = "errno" in values or values.get("ret", 0) != 0
            calls[record["tid"], name].append((record["ts"], record["end"], record["name"], failed))
held = collections.Counter()
for (tid, name), of in calls.items():
    depth = 0
    for ts, done, call, failed in sorted(of):
        if "cond" in call:
            held[name] += ts - since
            since = done
        elif call.endswith("unlock"):
            depth -= 1
            if depth == 0:
                held[name] += ts - since
        elif not failed:
            since = since if depth else done
            depth += 1
    if depth:
        held[name] += end - since
rows = {r["lock"].split()[1]: r for r in json.load(open(sys.argv[2]))["locks"]["rows"]}
assert {n: r["held_ns"] for n, r in rows.items()} == {n: t for n, t in held.items() if n in rows}, (rows, held)
assert set(rows) == {"twice", "pausing", "of_c11", "both", "kept"}, set(rows)
for name, least, place in (("twice", 43e6, "for_long"), ("pausing", 1e6, "waiting"), ("both", 40e6, ("trying", "contender")),
                           ("kept", 20e6, "trying"), ("of_c11", 20e6, "trying")):
    assert rows[name]["held_ns"] >= least and rows[name]["taken_at"].startswith(place), rows[name]
END

# A wait without an end counts until the archive's end, and is told of.
cat >stuck.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int ready;
static void *stuck(void *unused)
{
	ready = 1;
	pthread_mutex_lock(&lock);
	return unused;
}
int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	pthread_create(&thread, 0, stuck, 0);
	while (!ready)
		usleep(1000);
	usleep(200000);
	kill(getpid(), SIGKILL);
}
END
compile stuck -O0 -w -pthread stuck.c
expect_status 137 "$FXTRACE" run -q -o stuck.fxt -- ./stuck
expect_ok "$FXTRACE" report --waits --top 0 stuck.fxt
expect_line '1 wait, for locks or others, had not ended' out
# Which lock it was, and where it had been taken, is known of a call that has not ended, too.
expect_line ' mutex lock \(0x[0-9a-f]+\)  *stuck \(tid [0-9]+\) 100 % +main$' out
