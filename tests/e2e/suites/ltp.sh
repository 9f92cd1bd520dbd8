# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The Linux Test Project's tests of the system calls. What needs root's rights says so and is left; it comes last.

# shellcheck disable=SC2034 # for suites.sh
ltp_apart=yes

ltp_fetch() {
	fetch_ltp
}

ltp_make() {
	local part

	{ [ -e configure ] || make -s autotools; } && ./configure --quiet --prefix="$PWD/installed" CFLAGS='-O1 -w' ||
		return
	for part in lib libs testcases/lib testcases/kernel/syscalls; do
		make -sk -C "$part"
	done
	make -sk -C testcases/lib install
	make -sk -C testcases/kernel/syscalls install
	[ -x installed/testcases/bin/fork01 ]
}

ltp_list() {
	source_tree "the Linux Test Project" || return
	awk 'NF > 1 && !/^#/ { print $1 }' "$tree/runtest/syscalls" "$tree/runtest/syscalls-ipc" | sort -u |
		while read -r test; do
			[ ! -x "$tree/installed/testcases/bin/$(ltp_command "$test" | cut -d ' ' -f 1)" ] || echo "$test"
		done >tests
	grep -rlE 'needs_root|require_root' "$tree/testcases/kernel/syscalls" --include='*.c' |
		sed 's,.*/,,; s/\.c$//' >rootly
	grep -vxFf rootly tests
	grep -xFf rootly tests
}

ltp_command() {
	awk -v test="$1" '$1 == test { sub(/^[^ \t]+[ \t]+/, ""); print; exit }' "$tree/runtest/syscalls" \
		"$tree/runtest/syscalls-ipc"
}

ltp_run() {
	local test=$1 status=0

	shift
	PATH=$tree/installed/testcases/bin:$PATH LTPROOT=$tree/installed LTP_COLORIZE_OUTPUT=0 LTP_TIMEOUT_MUL=4 \
		LTP_RUNTIME_MUL=0.1 alone "${FX_SUITES_SECONDS:-150}" "$@" sh -c "$(ltp_command "$test")" >log 2>&1 || status=$?
	sed -nE 's/^([a-z0-9_.-]+\.[ch]:[0-9]+): (TPASS|TFAIL|TBROK|TCONF|TWARN).*/\2 \1/p
		s/^([a-z0-9_]+ +[0-9]+) +(TPASS|TFAIL|TBROK|TCONF|TWARN) .*/\2 \1/p' log | sort -u
	echo "status $status"
}
