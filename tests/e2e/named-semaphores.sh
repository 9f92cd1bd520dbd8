#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows of named semaphores between programs that know nothing of each other but the name: they say who posted for whom. No arrow is wrong;
# where all that had it are traced, each wait has one or is counted, and where somebody else may have had it, none has. Half of the cases
# are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target named-semaphores named-semaphores.c -pthread
RANDOM=${FX_SEED:-$(date +%N | sed 's/^0*//')}
name=/fxtrace-test-$$
trap 'rm -f /dev/shm/sem."${name#/}"*' EXIT

# Whether the kernel tells who opens what, which is asked for where it can be.
cat >watch.c <<'END'
#include <fcntl.h>
#include <sys/fanotify.h>
int main(void)
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY);
	return fd < 0 || fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN | FAN_EVENT_ON_CHILD, AT_FDCWD, "/dev/shm") < 0;
}
END
compile watch -O1 -w watch.c
watches=1
./watch || watches=0

# go SCRIPT: runs it traced by a shell, which starts all programs. Sets waits, found, wrong, of which there may be none, and sum, of those left out.
go() {
	local status=0

	rm -f .*.last
	NAME=$name timeout 240 "$FXTRACE" run -c pthread,process --on-full block -o trace.fxt -- bash -c "$1" >log 2>said || status=$?
	[ "$status" -eq 0 ] || fail "$1: status $status: $(cat said)"
	expect_clean trace.fxt
	"$FXTRACE" dump trace.fxt >dump || fail "no dump"
	read -r waits found wrong < <(python3 "$FX_SRCDIR/tests/e2e/named_semaphores_agree.py" dump log 2>differs)
	[ "${wrong:-1}" -eq 0 ] || fail "$1: $wrong arrows are wrong: $(head -n 5 differs)"
	sum=$(sed -n 's/^fxtrace: \([0-9]*\) waits* for locks that processes share ha.*/\1/p' said)
	sum=${sum:-0}
	echo "$waits waits, $found arrows, $sum left out: $1"
}

forget() {
	rm -f /dev/shm/sem."${name#/}"*
}

# are_all_known: whether each wait has an arrow, or is counted. (A unit that comes between two looks at the semaphore is not waited for, but the
# call is shown.)
are_all_known() {
	[ $((found + sum)) -ge $((waits - 2 - waits / 20)) ]
}

# Where all are traced: a ring, of which all is known.
turns=$(scaled 100)
for parties in 3 16 $((RANDOM % 14 + 2)); do
	forget
	go "for i in \$(seq 0 $((parties - 1))); do ./named-semaphores \$NAME ring \$i $turns $parties & done; wait"
	are_all_known || fail "a ring of $parties: $found of $waits waits have an arrow, $sum are left out"
	# (Who begins last may find that others have been at it: then that semaphore's first waits are not known.)
	[ $watches -eq 0 ] || [ "$found" -ge $((waits * 9 / 10)) ] || fail "a ring of $parties: $found of $waits waits have an arrow: $(cat said)"
	[ $watches -eq 1 ] || [ "$found" -eq 0 ] || fail "arrows, and nobody watches"
done

# A lock, and posters and takers; by turns, a second set of programs uses what the first has left.
total=0
for parties in "2 2" "16 16" "1 $((RANDOM % 15 + 1))" "$((RANDOM % 15 + 1)) $((RANDOM % 15 + 1))"; do
	posters=${parties% *} takers=${parties#* } seed=$RANDOM
	forget
	go "./named-semaphores \$NAME make 1; for i in \$(seq $((posters > 1 ? posters : 2))); do ./named-semaphores \$NAME lock $seed\$i $((turns / 2)) & done; wait"
	are_all_known || fail "a lock of $parties: $found of $waits waits have an arrow, $sum are left out"
	total=$((total + found))
	forget
	go "run() {
		for i in \$(seq $takers); do ./named-semaphores \$NAME take $seed\$i $((posters * turns / 4)) & done
		for i in \$(seq $posters); do ./named-semaphores \$NAME post $seed\$i $((takers * turns / 4)) & done; wait
	}
	./named-semaphores \$NAME make 3; run; run"
	are_all_known || fail "posters and takers $parties: $found of $waits waits have an arrow, $sum are left out"
	total=$((total + found))
done
[ "$total" -gt 0 ] || [ $watches -eq 0 ] || fail "no wait has an arrow"

# nobody_knows WHAT: no wait has an arrow, and all are counted.
nobody_knows() {
	[ "$found" -eq 0 ] && [ "$sum" -gt 0 ] && grep -q 'not seen has part' said || fail "$1: $found arrows, $sum left out: $(cat said)"
}

# Names that an earlier run has left, and one with units.
forget
for again in 0 1; do
	go "for i in 0 1 2; do ./named-semaphores \$NAME ring \$i $turns 3 & done; wait"
	[ $again -eq 0 ] || nobody_knows "names that were left"
done
forget
./named-semaphores "$name" make 2 >/dev/null
for _ in 1 2; do
	go "./named-semaphores \$NAME take 2 3 & sleep 1; ./named-semaphores \$NAME post 1 3; wait"
	nobody_knows "units that were left"
done

# Somebody opens it who is not traced: before the others, among them, and when they are gone.
for when in 0 0.3; do
	forget
	(
		sleep $when
		until ./named-semaphores "$name" post 5 1 >/dev/null; do sleep 0.01; done
	) &
	stranger=$!
	go "./named-semaphores \$NAME take 2 3 & sleep 1; ./named-semaphores \$NAME post 1 2; wait"
	wait $stranger
	nobody_knows "somebody who is not traced after $when s"
done
forget
go "./named-semaphores \$NAME take 2 1 & sleep 1; ./named-semaphores \$NAME post 1 1; wait"
[ $watches -eq 0 ] || [ "$found" -eq 1 ] || fail "the same, and nobody else: $found arrows: $(cat said)"

# Programs are killed in the middle; then there are others. What was before is known.
total=0
for _ in 1 2 3; do
	forget
	go "./named-semaphores \$NAME make 1
	for i in \$(seq 6); do ./named-semaphores \$NAME lock $RANDOM\$i 100000000 & all=\"\$all\${all:+ }\$!\"; done
	sleep 0.$((RANDOM % 8 + 1)); kill -9 \${all%% *} \${all##* } 2>/dev/null
	./named-semaphores \$NAME post 1 1; sleep 0.3; kill -9 \$all 2>/dev/null; wait; true"
	are_all_known || fail "programs are killed: $found of $waits waits have an arrow, $sum are left out"
	total=$((total + found))
	grep -q 'since calls are missing' said || fail "nobody was killed in the middle: $(cat said)"
	[ $watches -eq 1 ] || [ "$found" -eq 0 ] || fail "arrows, and nobody watches"
done
[ "$total" -gt 0 ] || [ $watches -eq 0 ] || fail "with programs that are killed, no wait has an arrow"
