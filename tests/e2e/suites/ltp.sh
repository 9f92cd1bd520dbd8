# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The Linux Test Project's tests of the system calls and of threads. What needs root's rights says so and is left; it
# comes last.

# shellcheck disable=SC2034 # for suites.sh
ltp_apart=yes

ltp_parts='testcases/kernel/syscalls testcases/kernel/ipc/pipeio testcases/kernel/sched/nptl
	testcases/kernel/sched/pthreads'

ltp_fetch() {
	fetch_ltp
}

ltp_make() {
	local part

	{ [ -e configure ] || make -s autotools; } && ./configure --quiet --prefix="$PWD/installed" CFLAGS='-O1 -w' ||
		return
	for part in lib libs testcases/lib $ltp_parts; do
		make -sk -C "$part"
	done
	for part in testcases/lib $ltp_parts; do
		make -sk -C "$part" install
	done
	[ -x installed/testcases/bin/fork01 ]
}

ltp_list() {
	source_tree "the Linux Test Project" || return
	ltp_known | LC_ALL=C sort -u -t $'\t' -k 1,1 | while IFS=$'\t' read -r test command; do
		[ ! -x "$tree/installed/testcases/bin/${command%% *}" ] || echo "$test"
	done >tests
	grep -rlE 'needs_root|require_root' "$tree/testcases/kernel/syscalls" --include='*.c' |
		sed 's,.*/,,; s/\.c$//' >rootly
	grep -vxFf rootly tests
	grep -xFf rootly tests
}

# ltp_known: each test and its command.
ltp_known() {
	sed -nE 's/^([a-zA-Z0-9_.-]+)[ \t]+/\1\t/p' "$tree"/runtest/{syscalls,syscalls-ipc,nptl}
	sed -nE 's/^(pth_[a-z0-9]+)[ \t]+/\1\t/p' "$tree/runtest/sched"
}

ltp_command() {
	ltp_known | awk -F '\t' -v test="$1" '$1 == test { print $2; exit }'
}

ltp_run() {
	local test=$1 status=0

	shift
	PATH=$tree/installed/testcases/bin:$PATH LTPROOT=$tree/installed LTP_COLORIZE_OUTPUT=0 LTP_TIMEOUT_MUL=4 \
		LTP_RUNTIME_MUL=0.1 alone 150 "$@" sh -c "$(ltp_command "$test")" >log 2>&1 || status=$?
	sed -nE 's/^([a-z0-9_.-]+\.[ch]:[0-9]+): (TPASS|TFAIL|TBROK|TCONF|TWARN).*/\2 \1/p
		s/^([a-z0-9_]+ +[0-9]+) +(TPASS|TFAIL|TBROK|TCONF|TWARN) .*/\2 \1/p' log | sort -u
	echo "status $status"
}
