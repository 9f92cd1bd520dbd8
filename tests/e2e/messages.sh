#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows from who wrote to who read: a program numbers every byte that goes through pipes and sockets of all kinds, and says which
# call wrote it and which read it. No arrow is wrong, whoever writes and reads; where one writes and one reads at a time, none
# is missing. Half of the cases are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target messages messages.c

seed_of_all=${FX_SEED:-$(date +%N | sed 's/^0*//')}
RANDOM=$seed_of_all
kinds="pipe fifo stream seqpacket datagram unix seqpath unixdg unixdgc tcp4 tcp6 udp4 udp4c udp6 udp6c mq msg event eventsem"
calls=$(scaled 250)

# talk KIND HOW SEED WRITERS READERS CALLS [WHAT]: sets `reads', those that have an arrow (`found'), and `wrong' ones.
talk() {
	local status=0

	case "$1" in
	tcp6 | udp6*) ./messages "$1" turns 1 1 1 1 >/dev/null || return 0 ;;
	esac
	timeout 120 "$FXTRACE" run -c syscall,process,message --on-full block -o trace.fxt -- ./messages "$@" >log 2>said || status=$?
	[ "$status" -eq 0 ] || fail "messages $*: status $status: $(cat said)"
	expect_clean trace.fxt
	"$FXTRACE" dump trace.fxt >dump || fail "messages $*: dump"
	read -r reads found wrong _ < <(python3 "$FX_SRCDIR/tests/e2e/messages_agree.py" dump log "${all:-some}" 2>differs)
	[ -n "${reads-}" ] || fail "messages $*: $(cat differs)"
	[ "$wrong" -eq 0 ] || fail "messages $*: $wrong arrows are wrong: $(head -n 5 differs)"
}

all=all
for kind in $kinds; do
	for parties in "1 1" "16 16" "$((RANDOM % 32 + 1)) $((RANDOM % 32 + 1))"; do
		seed=$((RANDOM))
		# shellcheck disable=SC2086 # two words
		talk "$kind" turns $seed $parties "$calls"
		[ "$found" -eq "$reads" ] ||
			fail "messages $kind turns $seed $parties $calls: $found of $reads reads have an arrow: $(head -n 5 differs); $(cat said)"
		[ "$reads" -gt 0 ] || fail "$kind: nothing was read"
	done
done
all=some
total=0
for kind in $kinds; do
	case $kind in
	event*) ;; # who wrote what is not in the number
	*)
		talk "$kind" free $((RANDOM)) $((RANDOM % 16 + 1)) $((RANDOM % 16 + 1)) "$calls"
		total=$((total + found))
		;;
	esac
	talk "$kind" turns $((RANDOM)) $((RANDOM % 4 + 1)) $((RANDOM % 4 + 1)) $((4 * calls)) kill
	case $kind in
	mq | msg) continue ;;
	esac
	who=writer
	[ $((RANDOM % 2)) -eq 0 ] || who=reader
	talk "$kind" turns $((RANDOM)) $((RANDOM % 3 + 1)) $((RANDOM % 3 + 1)) "$calls" "unseen-$who"
done
# Datagrams that the kernel drops.
for try in 1 2 3; do
	talk udp4 free $((RANDOM)) 4 1 $((8 * calls)) flood
	[ "$reads" -ge $((8 * calls)) ] || break
done
[ "$reads" -ge $((8 * calls)) ] || grep -q 'since datagrams may have been dropped' said || fail "dropped datagrams: $(cat said)"

[ "$total" -gt 0 ] || fail "all at once, no read has an arrow"

# Bytes on other ways, a full pipe, the end of a stream, descriptors that are passed or copied, ports that are used again.
target passing passing.c
for scene in splice tee sendfile passed numbers many ports full larger shut event accepts confined; do
	"$FXTRACE" run -c syscall,process,message -o passing.fxt -- ./passing $scene >log 2>said || fail "passing $scene: $(cat said)"
	"$FXTRACE" dump passing.fxt >dump
	read -r reads found wrong _ < <(python3 "$FX_SRCDIR/tests/e2e/messages_agree.py" dump log all 2>differs)
	[ "${reads:-0}" -gt 0 ] || fail "passing $scene: $(cat differs)"
	[ "$wrong" -eq 0 ] && [ "$found" -eq "$reads" ] ||
		fail "passing $scene: $found of $reads reads have an arrow, $wrong are wrong: $(cat differs)"
done

# Records that are lost: the manager stands still while buffers fill.
lost=0
for try in 1 2 3 4 5; do
	"$FXTRACE" run -c syscall,message --buffer-size 64K --on-full drop -o lost.fxt -- ./messages pipe turns "$try" 1 1 $((20 * calls)) >log 2>err &
	manager=$!
	for _ in 1 2 3 4 5 6; do
		sleep 0.02
		kill -STOP $manager 2>/dev/null
		sleep 0.05
		kill -CONT $manager 2>/dev/null
	done
	wait $manager || fail "with losses: $(cat err)"
	"$FXTRACE" dump lost.fxt >dump
	python3 "$FX_SRCDIR/tests/e2e/messages_lost.py" dump >drawn || fail "with losses: $(cat err)"
	grep -q 'lost because a buffer was full' err && lost=$(cat drawn)
	[ "$lost" -eq 0 ] || break
done
[ "$lost" -gt 0 ] || fail "nothing was lost, or drawn: $(cat err)"

# Why: from a wait for bytes to who wrote them, and on. A reader that comes late does not wait.
share=0
for pause in 0.3 1 4; do
	"$FXTRACE" run -q -o why.fxt -- sh -c '{ sleep "$1"; exec dd if=/dev/zero bs=100 count=1 2>/dev/null; } | cat >/dev/null' sh $pause ||
		fail "a pipeline"
	"$FXTRACE" why --slice read:longest why.fxt >why || fail "why"
	share=$(awk '/nanosleep/ { sub("%", "", $1); print int($1); exit }' why)
	[ "${share:-0}" -lt 90 ] || break
done
[ "${share:-0}" -ge 90 ] || fail "the wait for dd is not the sleep before it: $(cat why)"

# From a wait at an eventfd, or for who connects, to the thread that was slow.
target slow slow.c -pthread
for way in event accept; do
	share=0
	for pause in 300 1000 4000; do
		"$FXTRACE" run -q -o why.fxt -- ./slow $way $pause || fail "slow $way"
		wait_in=eventfd_read
		[ $way = event ] || wait_in=accept
		"$FXTRACE" why --slice $wait_in:longest why.fxt >why || fail "why"
		share=$(awk '/nanosleep|usleep/ { sub("%", "", $1); print int($1); exit }' why)
		[ "${share:-0}" -lt 90 ] || break
	done
	[ "${share:-0}" -ge 90 ] || fail "the wait in $wait_in is not the sleep before it: $(cat why)"
done

# Who is not traced has no arrow, and that is said; and so it is without the category.
printf 'a word' | "$FXTRACE" run -o cat.fxt -- cat >/dev/null 2>err
grep -q '^fxtrace: 1 read from pipes, sockets and queues has no arrow from who wrote: 1 since one who was not seen' err ||
	fail "a writer who is not traced: $(cat err)"
"$FXTRACE" run --json -o cat.fxt -- sh -c 'printf word | cat >/dev/null' 2>/dev/null | grep -q '"messages": {"arrows": 1, "left_out": {}}' || fail "arrows in JSON"
printf word | "$FXTRACE" run --json -o cat.fxt -- cat 2>/dev/null | grep -q '"messages": {"arrows": 0, "left_out": {"untraced": 1}}' || fail "arrows left out, in JSON"

# A client of UDP gets a port by sending: both ways have arrows.
cat >echo.py <<'EOF'
import os, socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
address = server.getsockname()
if os.fork() == 0:
    for _ in range(10):
        server.sendto(*server.recvfrom(100))
    os._exit(0)
server.close()
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(10):
    client.sendto(b"x", address)
    client.recvfrom(100)
os.wait()
EOF
# (python3 may be a script of a shell's, whose pipes have arrows, too.)
"$FXTRACE" run -q -o echo.fxt -- "$(python3 -c 'import sys; print(sys.executable)')" echo.py || fail "an echo by UDP"
"$FXTRACE" dump echo.fxt >dump
drawn=$(grep -c 'flow-end.*category="message"' dump)
[ "$drawn" -eq 20 ] || fail "an echo by UDP: $drawn arrows, not 20"

"$FXTRACE" run -q -c '#default,-message' -o none.fxt -- sh -c 'echo a | cat' >/dev/null
"$FXTRACE" dump none.fxt >dump
! grep -q 'category="message"' dump || fail "arrows that were not wanted"
