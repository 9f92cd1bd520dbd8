#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace where: of programs that are stuck in known ways it says who waits for whom, and names the circle or none; stacks are those
# of gdb; nobody is left stopped, or harmed, whoever is killed.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator has no other process's registers"
target=$FX_SRCDIR/tests/e2e/targets/stuck.c
compile stuck -O2 "$target" -pthread
compile framed -O0 "$target" -pthread

# stick PROGRAM WAY [COUNT]: starts it; its process is $stuck, its child's $child.
stick() {
	rm -f children
	"./$1" "${@:2}" >children 2>/dev/null &
	stuck=$!
	at_end="kill -9 $stuck 2>/dev/null"
	case $2 in
	helped | shared | robin) wait_for 30 eval '[ "$(wc -l <children)" = 2 ]' && child=$(tr '\n' ' ' <children) ;;
	processes | child | pipes | tied | talk | readers | writers2 | tcp* | polls | timed | selects) wait_for 30 test -s children && child=$(cat children) ;;
	*) child= ;;
	esac
}
unstick() {
	kill -9 "$stuck" 2>/dev/null
	wait "$stuck" 2>/dev/null
}

cat >look.py <<'END'
import json, sys
said = json.load(open("out"))
threads = {t["tid"]: t for t in said["threads"]}
circle = [t for t in said["threads"] if "circle" in t]
main = threads[int(sys.argv[1])]
sys.exit(0 if eval(sys.argv[2]) else 1)
END
# looks CONDITION: whether that is said of it now.
looks() {
	# shellcheck disable=SC2086 # none or one
	"$FXTRACE" where --json "$stuck" $child >out 2>err && python3 look.py "$stuck" "$1"
}
expect_looks() {
	wait_for 30 looks "$1" || fail "not said: $1"$'\n'"$(cat out err)"
}

for program in stuck framed; do
	for count in 2 5 40; do
		stick $program circle $count
		expect_looks "said['circles'] == 1 and len(circle) == $count and main['waits_for'] == 'the end of a thread'"
		expect_looks "all(threads[t['holder']] in circle and t['waits_for'] == 'a mutex' for t in circle)"
		expect_looks "all('want_next' in t['stack'] and 'circle_main' in t['stack'] and t['is_whole'] for t in circle)"
		unstick
	done
	stick $program self
	expect_looks "circle == [main] and main['holder'] == main['tid'] and 'run_self' in main['stack']"
	unstick
	stick $program processes
	expect_looks "said['circles'] == 1 and len(circle) == 2 and all('take_both' in t['stack'] for t in circle)"
	"$FXTRACE" where "$stuck" "$child" >out
	expect_line '^DEADLOCK: ' out
	expect_line "^   $child .* of process $child waits for a mutex at 0x[0-9a-f]+, which has $stuck \($program\)$" out
	unstick
	stick $program child
	expect_looks "len(circle) == 2 and main['waits_for'] == 'the end of a child' and main['holder'] == $child"
	unstick
	stick $program held
	expect_looks "not circle and threads[main['holder']]['name'] == 'holder' and 'pause' in threads[main['holder']]['stack'][0]"
	unstick
	stick $program condition
	expect_looks "not circle and main['waits_for'] == 'a condition' and 'holder' not in main and 'run_condition' in main['stack']"
	unstick
	stick $program semaphore
	expect_looks "not circle and main['waits_for'] == 'a semaphore' and 'run_semaphore' in main['stack']"
	unstick
	stick $program rwlock
	expect_looks "not circle and main['waits_for'] == 'a read-write lock' and main['readers'] == 1 and 'run_rwlock' in main['stack']"
	unstick
	stick $program writers
	expect_looks "len(circle) == 2 and all(t['waits_for'] == 'a read-write lock' for t in circle)"
	expect_looks "len({t['address'] for t in circle}) == 2"
	unstick
	stick $program pipe
	expect_looks "circle == [main] and main['waits_for'] == 'bytes in a pipe' and 'run_pipe' in main['stack']"
	unstick
	stick $program full
	expect_looks "circle == [main] and main['waits_for'] == 'room in a pipe' and main['other_end'] == main['pid'] and 'run_full' in main['stack']"
	unstick
	stick $program pipes
	expect_looks "said['circles'] == 1 and len(circle) == 2 and {t['waits_for'] for t in circle} == {'room in a pipe'} and main['holder'] == $child"
	"$FXTRACE" where "$stuck" "$child" >out
	expect_line "^   $stuck .* of process $stuck waits for room in a pipe, to be read by $child \($program\)$" out
	# One alone: the other might help.
	"$FXTRACE" where "$stuck" >out
	expect_no_line DEADLOCK out
	expect_line "waits for room in a pipe, whose other end process $child has, in write$" out
	unstick
	stick $program tied
	expect_looks "said['circles'] == 1 and [t['waits_for'] for t in circle] == ['room in a pipe', 'a mutex']"
	unstick
	stick $program helped
	expect_looks "main['waits_for'] == 'room in a pipe' and len(threads) == 3 and any(t.get('waits_for') == 'a mutex' for t in threads.values())"
	expect_looks "not circle and 'other_end' not in main"
	unstick
	stick $program joins
	expect_looks "said['circles'] == 1 and len(circle) == 2 and {t['waits_for'] for t in circle} == {'the end of a thread'}"
	unstick
	# They run: there is no circle, whenever it is looked at.
	stick $program livelock
	expect_looks "len(threads) == 2 and all('try_both' in t['stack'] for t in threads.values())"
	for _ in $(seq 20); do
		looks "not circle" || fail "not said: no circle: $(cat out err)"
	done
	unstick
	stick $program robin
	expect_looks "said['circles'] == 1 and len(circle) == 3 and {t['waits_for'] for t in circle} == {'bytes in a pipe'}"
	unstick
	stick $program selfpair
	expect_looks "circle == [main] and main['waits_for'] == 'bytes from a socket' and main['other_end'] == main['pid'] and 'run_selfpair' in main['stack']"
	unstick
	for way in readers tcp tcp6; do
		stick $program $way
		expect_looks "said['circles'] == 1 and len(circle) == 2 and {t['waits_for'] for t in circle} == {'bytes from a socket'} and main['holder'] == $child"
		"$FXTRACE" where "$stuck" >out
		expect_no_line DEADLOCK out
		expect_line "waits for bytes from a socket, whose other end process $child has, in (read|recv)" out
		unstick
	done
	stick $program writers2
	expect_looks "said['circles'] == 1 and len(circle) == 2 and {t['waits_for'] for t in circle} == {'room in a socket'}"
	unstick
	for way in polls selects; do
		stick $program $way
		expect_looks "said['circles'] == 1 and len(circle) == 2 and {t['waits_for'] for t in circle} == {'any of some descriptors'} and main['other_end'] == $child"
		unstick
	done
	stick $program timed
	expect_looks "len(threads) == 2 and not circle and main['waits_for'] == 'any of some descriptors' and main['other_end'] == $child and 'holder' not in main"
	unstick
	stick $program shared
	expect_looks "len(threads) == 3 and not circle and main['waits_for'] == 'bytes from a socket' and 'other_end' not in main"
	unstick
	stick $program listens
	expect_looks "not circle and main['waits_for'] == 'somebody who connects' and 'other_end' not in main"
	unstick
	stick $program backlog
	expect_looks "circle == [main] and main['waits_for'] == 'a connection to be accepted' and 'run_backlog' in main['stack']"
	unstick
	stick $program busy
	expect_looks "not circle and 'waits_for' not in main and main['stack'][0] == 'run_busy' and 'main' in main['stack']"
	unstick
done

# Who goes on is in no circle, whenever it is looked at.
stick stuck talk
for _ in $(seq 100); do
	"$FXTRACE" where "$stuck" "$child" >out 2>err || fail "not looked at: $(cat err)"
	expect_no_line DEADLOCK out
	cat out >>seen
done
expect_line 'waits for bytes in a pipe' seen
unstick

# --- As gdb has it ---------------------------------------------------------------------------------

# same_as_gdb PID: the functions of all threads, in their order; gdb shows those as well that were inlined.
same_as_gdb() {
	expect_ok "$FXTRACE" where --json "$1"
	cp out ours.json
	gdb -q -batch -iex 'set debuginfod enabled off' -iex 'set backtrace past-main on' -iex 'set backtrace past-entry on' -ex 'set print frame-arguments none' -ex 'thread apply all bt' -p "$1" >theirs 2>gdb.err </dev/null
	python3 - <<'END' >checked 2>&1
import json, re
threads = {t["tid"]: t for t in json.load(open("ours.json"))["threads"]}
ours = {tid: t["stack"] for tid, t in threads.items()}
theirs, tid = {}, None
for line in open("theirs"):
    m = re.match(r"Thread \d+ \((?:Thread 0x[0-9a-f]+ \()?LWP (\d+)", line)
    if m:
        tid = int(m.group(1))
        theirs[tid] = []
    m = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?(.*?) \(", line)
    if m and tid and m.group(1) != "??":
        theirs[tid].append(m.group(1))
assert set(ours) == set(theirs), (set(ours), set(theirs))

def plain(name):
    return re.sub(r"@.*|\(.*|^_+(GI_+)?", "", name)

for tid, names in theirs.items():
    names = [plain(n) for n in names]
    # What has no name here may have one there, and of two names at one address each has its own.
    own = [plain(n) for n in ours[tid] if "+0x" not in n]
    missing = [n for n in own if n not in names]
    # A thread in epoll_wait() is not stopped for its registers, without which some code cannot be followed: then it is less.
    least = 4 if threads[tid]["is_whole"] or "epoll" not in threads[tid]["call"] else 1
    assert len(missing) <= max(2, 0.1 * len(own)) and len(own) >= least, (tid, missing, ours[tid], names)
    # In the same order: what gdb has more was inlined.
    places = [names.index(n) for n in dict.fromkeys(own) if n in names]
    assert places == sorted(places), (tid, ours[tid], names)
END
}
if command -v gdb >/dev/null; then
	stick stuck circle 5
	expect_looks "len(circle) == 5"
	same_as_gdb "$stuck" || fail "not as gdb has it: $(cat checked)"
	unstick
	if command -v redis-server >/dev/null; then
		redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --dir "$PWD" >/dev/null 2>&1 &
		stuck=$!
		at_end="kill -9 $stuck"
		wait_for 30 test -S redis.sock
		same_as_gdb "$stuck" || fail "redis-server: not as gdb has it: $(cat checked)"
		unstick
	fi
	if postgres=$(command -v postgres) && initdb=$(command -v "$(dirname "$(realpath "$postgres")")/initdb"); then
		# It does not run as root.
		as=
		[ "$(id -u)" != 0 ] || as='setpriv --reuid 65534 --regid 65534 --clear-groups'
		mkdir data
		[ -z "$as" ] || chown 65534:65534 data
		chmod 755 .
		# shellcheck disable=SC2086 # words
		$as "$initdb" -D "$PWD/data" -U test -A trust >initdb.out 2>&1 || fail "initdb: $(tail -n 3 initdb.out)"
		# shellcheck disable=SC2086
		$as "$postgres" -D "$PWD/data" -k "$PWD/data" -h '' >postgres.out 2>&1 &
		stuck=$!
		at_end="kill -9 $stuck"
		wait_for 60 grep -q 'ready to accept' postgres.out || fail "postgres: $(cat postgres.out)"
		sleep 0.5
		for one in "$stuck" $(pgrep -P "$stuck"); do
			same_as_gdb "$one" || fail "postgres: not as gdb has it: $(cat checked)"
		done
		kill -QUIT "$stuck"
		wait "$stuck"
	fi
	mkfifo never
	/usr/bin/env python3 -c 'import threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print("ready", flush=True)
open("never").read()' >ready 2>/dev/null &
	stuck=$!
	at_end="kill -9 $stuck"
	wait_for 30 test -s ready
	sleep 0.2
	same_as_gdb "$stuck" || fail "not as gdb has it: $(cat checked)"
	unstick
fi

# --- Nobody is harmed ------------------------------------------------------------------------------

state_of() {
	awk '/^State:/ { print $2 }' "/proc/$1/status"
}
is_running() {
	[ "$(state_of "$stuck")" = R ]
}
# looks_at WAY: looks at a thread that computes; how many have stopped it is `held'.
looks_at() {
	held=0
	long=0
	stick stuck "$1"
	for _ in $(seq 20); do
		expect_ok "$FXTRACE" where -v "$stuck"
		grep -q 'run_busy' out || fail "$1: it is not seen where it is: $(cat out)"
		expect_line '^fxtrace where: (0 threads were|1 thread was) stopped to be looked at, [0-9.]+ ms at most$' err
		awk '{ exit !($(NF - 3) > 5) }' err && long=$((long + 1))
		grep -q ' 0 threads' err || held=$((held + 1))
	done
	unstick
}
# A deep stack is more than the kernel's profiler copies: the thread is stopped, 5 ms at most, but that a busy machine may take the
# processor away from whoever looks, unless that is root.
most=18
[ "$(id -u)" != 0 ] || most=5
looks_at deep
expect_equal 20 $held "looks that stopped a thread"
[ $long -le $most ] || fail "$long of 20 looks held a thread for more than 5 ms"
# Another one is not stopped, if samples may be taken; only if it has had no processor for long.
"$FXTRACE" run --sample -o trace.fxt -- true >/dev/null 2>err
if ! grep -q 'no samples are taken' err; then
	looks_at busy
	[ $held -lt 20 ] || fail "each look stopped the thread"
fi
# Killed at any moment: the program goes on.
stick stuck busy
for i in $(seq 30); do
	"$FXTRACE" where "$stuck" >/dev/null 2>&1 &
	looker=$!
	[ $((i % 3)) -eq 0 ] || sleep "0.00$((i % 10))"
	kill -9 $looker 2>/dev/null
	wait $looker 2>/dev/null
done
wait_for 30 is_running || fail "the program is left in state $(state_of "$stuck")"
# One that is stopped stays so.
kill -STOP "$stuck"
expect_looks "main['state'] == 'T' and main['stack'][0] == 'run_busy'"
expect_equal T "$(state_of "$stuck")" "the state of a stopped program"
kill -CONT "$stuck"
wait_for 30 is_running || fail "it does not go on"
unstick

# A call that waits is not interrupted by being looked at.
cat >waits.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
int main(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0);

	if (epoll_ctl(fd, EPOLL_CTL_ADD, 0, &event) < 0)
		return errno;
	puts("ready");
	fflush(stdout);
	return epoll_wait(fd, &event, 1, -1) == 1 ? 0 : errno;
}
END
mkfifo go
for optimised in -O2 -O0; do
	compile waits $optimised waits.c
	./waits <go >ready &
	waits=$!
	at_end="kill -9 $waits"
	exec 9>go
	wait_for 30 test -s ready
	for _ in $(seq 20); do
		"$FXTRACE" where "$waits" >out
	done
	expect_line 'in epoll_(p)?wait' out
	echo >&9
	exec 9>&-
	wait $waits || fail "epoll_wait() was interrupted: $?"
	at_end=
	rm ready
done

# --- Of all that a manager knows -------------------------------------------------------------------

. "$FX_SRCDIR/tests/e2e/control.sh"
manager_start
provider_start ./stuck circle 3
stuck=$PROVIDER
child=
of_manager() {
	"$FXTRACE" where --json >out 2>err && python3 look.py "$stuck" "len(circle) == 3"
}
wait_for 30 of_manager || fail "not all that are registered: $(cat out err)"
kill -9 "$PROVIDER"
wait "$PROVIDER" 2>/dev/null
wait_for 30 providers_are 0 || fail "they do not go"
expect_ok "$FXTRACE" where
manager_stop

# --- How long --------------------------------------------------------------------------------------

# The ages of two looks differ as the times of these do; of a process, and of its child, which has memory of its own.
cat >ages.py <<'END'
import json, subprocess, sys, time
fxtrace, pids = sys.argv[1], [int(p) for p in sys.argv[2:]]
def look():
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    said = json.loads(subprocess.check_output([fxtrace, "where", "--json"] + sys.argv[2:]))
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return before, after, {t["tid"]: t["age_ns"] for t in said["threads"] if "age_ns" in t}
a = look()
time.sleep(0.5)
b = look()
assert set(a[2]) == set(b[2]) == set(pids), (a, b, pids)
for tid in pids:
    grown = b[2][tid] - a[2][tid]
    # Of the processor's counter the rate is measured within a look.
    assert 0.99 * (b[0] - a[1]) - 1e6 <= grown <= 1.01 * (b[1] - a[0]) + 1e6, (tid, a, b)
END
for clock in auto boottime; do
	rm -f children
	"$FXTRACE" run -q --clock $clock -o trace.fxt -- ./stuck child >children 2>/dev/null &
	runner=$!
	wait_for 30 test -s children
	child=$(cat children)
	stuck=$(awk '/^PPid:/ { print $2 }' "/proc/$child/status")
	at_end="kill -9 $runner $stuck"
	expect_looks "len(circle) == 2 and all('age_ns' in t for t in circle)"
	python3 ages.py "$FXTRACE" "$stuck" "$child" >checked 2>&1 || fail "ages by $clock: $(cat checked)"
	unstick
	wait $runner
	at_end=
done

# --- What cannot be --------------------------------------------------------------------------------

expect_one_error 1 "$FXTRACE" where --socket "$PWD/none"
for wrong in 0 -5 abc 1x 99999999999; do
	expect_one_error 2 "$FXTRACE" where -- "$wrong"
done
expect_one_error 1 "$FXTRACE" where 4194304
expect_line 'there is no such process' err
