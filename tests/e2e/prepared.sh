#!/bin/bash
# SPDX-License-Identifier: MIT
# The manager has the next process's memory ready, and that process has it; where descriptors are few, it does without, and
# traces as many processes as it had descriptors for.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer needs more of everything"

# ready MANAGER: the number of the control page that it has ready.
ready() {
	local fd

	for fd in /proc/"$1"/fd/*; do
		case $(readlink "$fd") in
		/memfd:fxtrace-control*) stat -L -c %i "$fd" ;;
		esac
	done
}

# --- It is ready, and taken ------------------------------------------------------------------------

mkfifo go end
"$FXTRACE" run -q -o trace.fxt -- sh -c 'read x <go; exec sh -c "read x <end; exit 3"' 2>err &
run=$!
is_ready() { [ -n "$(ready $run)" ]; }
wait_for 60 is_ready || fail "no memory is ready for the next process: $(ls -l /proc/$run/fd)"
first=$(ready $run)
echo >go
program=$(cat /proc/$run/task/$run/children)
is_taken() { grep -q " $first  */memfd:fxtrace-control" "/proc/${program% }/maps"; }
wait_for 60 is_taken || fail "what was ready was not taken: $(grep memfd "/proc/${program% }/maps")"
wait_for 60 is_ready || fail "no memory is ready for the one after that"
[ "$(ready $run)" != "$first" ] || fail "it is the same one's"
echo >end
wait $run
expect_equal 3 $? "status: $(cat err)"
expect_clean trace.fxt

# --- Few descriptors -------------------------------------------------------------------------------

cat >crew.c <<'SOURCE'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* crew N: N children that live together, from when `go` is opened until `end` is. */
int main(int argc, char **argv)
{
	(void)argc;
	close(open("go", O_RDONLY));
	for (int n = atoi(argv[1]); n > 0; n--) {
		if (fork() == 0) {
			close(open("end", O_RDONLY));
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 3;
}
SOURCE
compile crew crew.c -O1

# count_open WHAT: the manager's descriptors whose names match, but for those that it got before it was limited.
count_open() {
	local fd count=0

	for fd in /proc/$run/fd/*; do
		[ "${fd##*/}" -ge $limit ] || [[ ! $(readlink "$fd") =~ $1 ]] || count=$((count + 1))
	done
	echo $count
}
count_processes() {
	count_open ':\[pidfd\]'
}

# Of each process it keeps one. Who comes needs three: its connection, the memory that it brings, and itself.
for limit in 24 26 28 40; do
	(
		ulimit -n $limit
		exec "$FXTRACE" run -o trace.fxt -- ./crew 40 2>said
	) &
	run=$!
	knows_both() { [ "$(count_processes)" -ge 2 ]; } # its child, and that as a provider
	wait_for 60 knows_both || fail "the program is not known: $(ls -l /proc/$run/fd)"
	most=$((limit - 2 - $(count_open .) + $(count_open '^/memfd:fxtrace-(control|buffer)') + $(count_processes)))
	: >go
	is_full() { [ "$(count_processes)" -ge $most ] && grep -q 'too many' said; }
	wait_for 60 is_full || fail "$(count_processes) of $most processes are known at ulimit -n $limit: $(cat said)"
	exec 9>end
	wait $run
	expect_equal 3 $? "status at ulimit -n $limit: $(cat said)"
	exec 9>&-
	expect_clean trace.fxt
	expect_line '^fxtrace: crew .*: cannot be traced: too many open files' said
	expect_no_line 'answered later|too many others' said
done
