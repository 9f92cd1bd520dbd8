#!/bin/bash
# SPDX-License-Identifier: MIT
# What tracing costs a process that does nothing, and a child that is forked and ends: page faults and system calls over
# those without it. Counts, which no other load on the machine disturbs.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer maps memory of its own"
target counted counted.c

# at_most WHAT PLAIN TRACED MOST
at_most() {
	echo "$1: $2 plain, $3 traced: $(($3 - $2)) more, of $4"
	[ $(($3 - $2)) -le "$4" ] || fail "$1: $(($3 - $2)) more than plain, at most $4"
	[ $(($3 - $2)) -gt 0 ] || fail "$1: nothing was counted"
}

traced() {
	"$FXTRACE" run -q -o counts.fxt -- "$@"
}

# clang lays out its data otherwise.
case $FX_CC in
*clang*) most=38 ;;
*) most=36 ;;
esac
# Where the kernel puts a program and its libraries makes some faults more or less, for all that one process forks: so it is the median
# of seven.
median() {
	for _ in 1 2 3 4 5 6 7; do
		"$@"
	done | sort -n | sed -n 4p
}
at_most "page faults of a start" "$(median ./counted start ./counted)" "$(median traced ./counted start ./counted)" $most
at_most "page faults of a fork" "$(median ./counted fork 9)" "$(median traced ./counted fork 9)" 18
expect_clean counts.fxt

# What processes leave behind is gathered: the threads that write it wake by the time that passes, not by the number of processes.
cat >woken.sh <<'END'
. "$FX_SRCDIR/tests/e2e/slept.sh"
before=$(slept) begin=$(date +%s%3N)
"$1" start "$1" >/dev/null && "$1" start "$1" >/dev/null && "$1" start "$1" >/dev/null && "$1" start "$1" >/dev/null
echo "$(($(slept) - before)) $(($(date +%s%3N) - begin))"
END
read -r slept passed <<<"$(traced sh woken.sh ./counted)"
most=$((2 * passed / 20 + 25))
echo "the manager's other threads slept $slept times in $passed ms of about 50 processes, at most $most"
[ "$slept" -le "$most" ] || fail "they slept $slept times in $passed ms"

need strace
strace -o calls ./counted 2>/dev/null || skip "nothing can be traced with ptrace() here"

# calls_of FILE: lines of the process that ended first, each a system call, whole.
calls_of() {
	grep -cE '^[0-9]+ +([a-z_0-9]+\(|<\.\.\. .* resumed)' "$1"
}
# of_child FILE: the lines of the process that `counted once' forked, which is the newest.
of_child() {
	local child
	child=$(awk '{ print $1 }' "$1" | sort -un | tail -n 1)
	grep "^$child " "$1"
}

# What is before its second exec.
before_exec() {
	awk '/execve\(/ && ++execs == 2 { exit } { print }' "$1"
}
# fewest PLAIN MOST ARGUMENT...: the fewest calls of seven runs, and of as many more as it takes to see no more than MOST over PLAIN, up to
# forty: a manager that has no processor answers late, which takes two more, and what the program passes to exec is looked at page by page:
# so there is not much of it, and where it lies differs.
fewest() {
	local least=$((1 << 30)) plain=$1 most=$2 calls
	shift 2
	for ((i = 0; i < 40 && (i < 7 || least - plain > most); i++)); do
		env -i PATH="$PATH" "$FXTRACE" run -q -o counts.fxt -- strace -f -o recorded ./counted "$@"
		before_exec recorded >recorded.first
		calls=$(calls_of recorded.first)
		[ "$calls" -ge "$least" ] || least=$calls
	done
	echo "$least"
}
# Descriptors are closed one by one where one call for all might be a filter's to refuse, or is not known to the kernel.
alone=0 few=0
if ! grep -q '^Seccomp:[[:space:]]*0$' /proc/self/status; then
	alone=3 few=1
elif ! printf '5.9\n%s\n' "$(uname -r)" | sort -VC; then
	alone=4 few=2
fi
strace -f -o plain ./counted
calls=$(calls_of plain)
at_most "system calls of a start" "$calls" "$(fewest "$calls" $((24 + alone)))" $((24 + alone))
strace -f -o plain ./counted exec ./counted
before_exec plain >plain.first
calls=$(calls_of plain.first)
most=$((47 + alone))
at_most "system calls of a start and before an exec" "$calls" "$(fewest "$calls" $most exec ./counted)" $most
strace -f -o plain ./counted once
traced strace -f -o recorded ./counted once
of_child plain >plain.child
of_child recorded >recorded.child
# Who is not root asks who he is, and before Linux 6.3 memory is asked for twice.
most=$((15 + few))
[ "$(id -u)" -eq 0 ] || most=$((most + 1))
printf '6.3\n%s\n' "$(uname -r)" | sort -VC || most=$((most + 1))
at_most "system calls of a fork" "$(grep -cv resumed plain.child)" "$(grep -cv resumed recorded.child)" $most
