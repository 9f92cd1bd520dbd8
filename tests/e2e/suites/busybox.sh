# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Busybox's tests of its applets, by the installed busybox, and those of its shell by it and by dash.

busybox_make() {
	ln -sf "$(command -v busybox)" busybox && cp debian/config/pkg/deb .config &&
		cc -w -o shell/ash_test/recho shell/ash_test/recho.c &&
		cc -w -o shell/ash_test/zecho shell/ash_test/zecho.c &&
		cc -w -o shell/ash_test/printenv shell/ash_test/printenv.c
}

busybox_list() {
	command -v busybox >/dev/null || { echo "busybox is not installed" >&2; return; }
	source_tree busybox || return
	# Those that take minutes, need a network, go by the clock, or look at the sources.
	(cd "$tree/testsuite" && ls -d -- *.tests */ | sed 's/\.tests$//; s,/$,,' | sort -u | grep -vE '^bc$|sourcecode|wget|time')
	(cd "$tree/shell/ash_test" && for shell in busybox dash; do
		ls -d ash-*/ | sed "s,\(.*\)/,$shell:\1," | grep -v z_slow
	done)
}

busybox_run() {
	local test=$1 status=0

	shift
	case $test in
	*:*)
		busybox_shell "${test%%:*}" "${test#*:}" "$@"
		return
		;;
	esac
	(cd "$tree/testsuite" && within 300 "$@" ./runtest "$test") >log 2>&1 || status=$?
	grep -E '^(PASS|FAIL|SKIPPED|UNTESTED)' log
	echo "status $status"
}

# busybox_shell SHELL DIRECTORY COMMAND... Two tests send a signal from beside and go by when it comes.
busybox_shell() {
	local shell=$1 directory=$tree/shell/ash_test/$2

	shift 2
	cat >shell.sh <<-'END'
		cd "$1" || exit 1
		for test in *.tests; do
			case $test in exitcode_trap[26].*) continue ;; esac
			out=$(timeout 30 "$THIS_SH" "./$test" 2>&1)
			[ "$out" = "$(cat "${test%.tests}.right")" ] && echo "$test ok" || echo "$test differs"
		done
	END
	ln -sf "$(command -v "$shell")" ash
	PATH=$directory/..:$PATH THIS_SH=$PWD/ash within 600 "$@" sh shell.sh "$directory" 2>log
	echo "status $?"
}
