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

static void *keeper(void *unused)
{
	pthread_setname_np(pthread_self(), "keeper");
	pthread_mutex_lock(&calm);
	pthread_rwlock_wrlock(&shared);
	pthread_barrier_wait(&barrier);
	until_it_sleeps(&tids[0]);
	usleep(20000);
	pthread_mutex_unlock(&calm);
	usleep(20000);
	pthread_rwlock_unlock(&shared);
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
	begin = now();
	pthread_rwlock_rdlock(&shared);
	printf("shared %p %lld\n", (void *)&shared, now() - begin);
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
locks = {said.get(row["lock"].split()[1], (None,))[0]: row for row in report["locks"]["rows"]}
assert set(locks) == {"busy", "calm", "shared"}, report["locks"]
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
assert busy["lock"].startswith("mutex 0x") and shared["lock"].startswith("rwlock 0x"), locks
others = report["waits"]["rows"]
def the(kind, **more):
    found = [r for r in others if r["kind"] == kind and all(r[k] == v for k, v in more.items())]
    assert len(found) == 1, (kind, more, others)
    return found[0]
for kind, name in ("a semaphore", "sem"), ("a condition", "cond"):
    row = the(kind)
    assert said[row["object"].split()[1]][0] == name and 15_000_000 <= row["total_ns"] <= times[name], (row, times)
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

# The same from the records: each lock's waits, holders and greatest number at one time.
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
        locks[address].append((record["ts"], record["end"], values.get("holder")))
        threads[record["tid"]][0] += 1
        threads[record["tid"]][1] += record["end"] - record["ts"]
report = json.load(open(sys.argv[2]))
assert len(locks) == 3
for row in report["locks"]["rows"]:
    waits = locks.pop(row["lock"].split()[1])
    most = max(sum(b <= begin < e for b, e, _ in waits) for begin, _, _ in waits)
    assert (row["waits"], row["total_ns"]) == (len(waits), sum(e - b for b, e, _ in waits)), (row, waits)
    assert (row["longest_ns"], row["convoy"]) == (max(e - b for b, e, _ in waits), most), (row, waits)
    assert {f"(tid {h})" for _, _, h in waits if h} == {f"(tid {p.split(')')[0]})" for p in row["holders"].split("(tid ")[1:]}
assert not locks
for row in report["thread_waits"]["rows"]:
    if row["kind"] == "a lock":
        assert threads.pop(row["tid"]) == [row["waits"], row["total_ns"]], row
assert not threads, threads
END

# Of what is recorded though nobody waits, neither an attempt nor a release is a wait.
expect_ok "$FXTRACE" run -q -o all.fxt --on-full block -c '#default,pthread:all' -- ./waiter
expect_ok "$FXTRACE" report --waits --top 0 --json all.fxt
python3 - out <<'END' || fail "what is no wait"
import json, sys
report = json.load(open(sys.argv[1]))
calls = {r["call"] for r in report["waits"]["rows"]}
assert not {c for c in calls if "unlock" in c or "try" in c or "readlink" in c or "getcwd" in c}, calls
# Each of the five locks and releases it once, the first one before them.
(busy,) = (r for r in report["locks"]["rows"] if r["longest_thread"] == "waiter")
assert busy["waits"] == 6 and busy["convoy"] == 5, busy
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
expect_line '1 waits, for locks or others, had not ended' out
# Which lock it was is known of a call that has not ended, too.
expect_line ' mutex 0x[0-9a-f]+' out
