# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Bash's tests, by the installed bash. What they print beside what is expected is compared too.

bash_make() {
	local helper

	for helper in recho zecho printenv xcase; do
		cc -w -I. -Iinclude -o tests/$helper support/$helper.c || return
	done
}

bash_list() {
	source_tree bash || return
	# Tests of what the build's own directory holds; of jobs and (nameref) of coprocesses, which print whether they
	# were seen to end by then.
	(cd "$tree/tests" && ls run-*) | grep -vE 'run-(all|minimal|gprof|jobs|nameref|coproc|read|intl|iquote)$'
}

bash_run() {
	local test=$1 status=0

	shift
	(
		cd "$tree/tests" || exit
		PATH=.:$PATH TMPDIR=/tmp THIS_SH=$(command -v bash) BUILD_DIR=.. BASH_TSTOUT=/tmp/bashtst.$$ \
			within 300 "$@" sh "./$test"
	) >log 2>&1 || status=$?
	rm -f /tmp/bashtst.$$
	sed '/^fxtrace: /d; s/bashtst[-.][0-9]*//; s/line [0-9]*: *[0-9][0-9]* //; s/[0-9]\{4,\}/N/g' log
	echo "status $status"
}
