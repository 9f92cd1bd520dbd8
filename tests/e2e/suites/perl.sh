# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Perl's core tests of its language and its input and output, by the installed perl with the installed modules.

perl_make() {
	ln -sf /usr/bin/perl t/perl && ln -sf /usr/bin/perl perl &&
		cp -r /usr/share/perl/5.[0-9]*[0-9]/. /usr/lib/*/perl/5.[0-9]*[0-9]/. lib/
}

perl_list() {
	source_tree perl || return
	# alarm, time and sleep go by the clock, magic looks at the names of processes.
	(cd "$tree" && ls t/base/*.t t/cmd/*.t t/io/*.t t/op/*.t lib/*.t) |
		grep -vE 't/op/(alarm|time|sleep|magic)\.t|lib/(perl5db|Benchmark|builtin|charnames|unicore)'
}

perl_run() {
	local test=$1 status=0

	shift
	case $test in
	t/*) test=${test#t/} ;;
	*) test=../$test ;;
	esac
	(cd "$tree/t" && PERL_CORE=1 within 300 "$@" ./perl -I../lib "$test") >log 2>&1 || status=$?
	tap
	echo "status $status"
}
