#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified programs that change who they are, confine themselves, make many processes, or come with tests of
# their own: shells, su and setpriv, man in its sandbox, a program made by Go, ImageMagick, perl and python3.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# A shell that does little but make processes.
shells() {
	cat >forks.sh <<'END'
i=0
while [ $i -lt 100 ]; do
	x=$(echo $i)
	(exit $((x % 3))) || n=$((n + 1))
	i=$((i + 1))
done
echo "$n failed"
seq 5 | while read -r line; do env true && echo "line $line"; done
exit 6
END
	for shell in dash bash; do
		command -v $shell >/dev/null || continue
		expect_unharmed 6 $shell forks.sh
		expect_same_file plain.err traced.err
		list_archive trace.fxt
		[ "$(wc -l <processes)" -ge 207 ] || fail "$shell: $(wc -l <processes) processes in the archive"
		expect_events 200+ 'name == "exit" || type == "flow-begin"'
	done
}

# A command run as somebody else by root, who traces it: the children are traced, and no strangers.
other_users() {
	local how

	[ "$(id -u)" -eq 0 ] || return 0
	chmod 755 .
	for how in setpriv sudo su gosu; do
		case $how in
		sudo) set -- sudo -n -u nobody sh -c 'id -u; exit 7' ;;
		su) set -- su nobody -s /bin/sh -c 'id -u; exit 7' ;;
		gosu*) set -- gosu nobody sh -c 'id -u; exit 7' ;;
		*) set -- setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'id -u; exit 7' ;;
		esac
		command -v "$1" >/dev/null && { [ "$("$@" 2>/dev/null)" = 65534 ] || [ $? -eq 7 ]; } || continue
		expect_unharmed 7 sh -c '"$@"' sh "$@"
		expect_equal 65534 "$(cat traced.out)" "user of: $*"
		expect_same_file plain.err traced.err
		list_archive trace.fxt
		grep -q '	id$' processes || fail "nobody's processes under $1: $(cat processes)"
	done
	"$FXTRACE" run -q -o trace.fxt -- sh -c \
		'echo "$FXTRACE_SOCKET" >door.new; mv door.new door; until [ -e seen ]; do sleep 0.02; done' &
	wait_for 30 test -e door || fail "no socket"
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		env LD_PRELOAD="$LIBFXTRACE" FXTRACE_SOCKET="$(cat door)" id -u >out 2>&1
	expect_equal 65534 "$(cat out)" "a stranger's output"
	touch seen
	wait $!
	list_archive trace.fxt
	! grep -q '	id$' processes || fail "a stranger was let in: $(cat processes)"
}

# Linked statically by another language's tools: untouched, and said so.
made_by_go() {
	local go

	go=$(command -v gosu) || return 0
	expect_status 0 "$FXTRACE" run -o trace.fxt -- "$go" --version
	cp out traced.out
	expect_line 'nothing was traced: .*statically' err
	"$go" --version >plain.out
	expect_same_file plain.out traced.out
}

# What man runs forbids itself nearly every system call before it looks at a page.
sandboxed() {
	command -v man >/dev/null && man -P cat -l "$FX_SRCDIR/man/fxtrace.1" >/dev/null 2>&1 || return 0
	expect_unharmed 0 env MANWIDTH=80 man -P cat -l "$FX_SRCDIR/man/fxtrace.1"
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	expect_events 1+ 'process == "man" && name ~ /^open/ && /fxtrace.1/'
	command -v file >/dev/null || return 0
	expect_unharmed 0 file "$FXTRACE" /bin/sh /etc/passwd /dev/null "$FX_SRCDIR"
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	expect_events 1+ 'process == "file" && name ~ /^open/ && /etc.passwd/'
}

pictures() {
	local convert

	convert=$(command -v convert-im6.q16 || command -v magick) || return 0
	expect_unharmed 0 "$convert" -size 200x200 gradient:red-blue -rotate 30 -blur 0x3 -depth 8 ppm:-
	list_archive trace.fxt
	expect_events 1+ 'name == "write" || name == "fwrite"'
	expect_events 1+ 'category == "pthread" || type == "flow-begin" || type == "counter"'
	expect_unharmed 1 "$convert" no-such-picture.png ppm:-
	expect_same_file plain.err traced.err
}

# The tests that come with python3 and perl find what they find without us.
own_tests() {
	local tests=(test_json test_pipes test_popen test_wait3)

	if python3 -c 'import test.test_json' 2>/dev/null; then
		"$FXTRACE" run -q -o trace.fxt -- python3 -m test -q "${tests[@]}" >out 2>err ||
			! python3 -m test -q "${tests[@]}" >plain.out 2>&1 ||
			fail "tests of python3: $(tail -n 20 out err)"
		expect_clean trace.fxt
		list_archive trace.fxt
		[ "$(wc -l <processes)" -gt 3 ] || fail "processes of python's tests: $(cat processes)"
	fi
	cat >work.t <<'END'
use strict; use Test::More; use threads; use POSIX (); use IPC::Open3; use File::Temp "tempfile"; use Socket;
is(threads->create(sub { 6 * 7 })->join, 42, "thread");
my ($handle, $name) = tempfile(UNLINK => 1); print $handle "text"; close $handle; is(-s $name, 4, "file");
socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC); syswrite($a, "ping"); sysread($b, my $got, 4);
is($got, "ping", "socket");
my $pid = open3(my $in, my $out, undef, "sh", "-c", "cat; exit 5"); print $in "x\n"; close $in;
is(<$out>, "x\n", "pipe"); waitpid $pid, 0; is($? >> 8, 5, "status");
{ my $rang = 0; local $SIG{ALRM} = sub { $rang++ }; alarm 1; select undef, undef, undef, 5;
is($rang, 1, "alarm"); }
eval { die { code => 3 } }; is($@->{code}, 3, "die");
opendir my $d, "/no/such"; ok($!{ENOENT}, "errno");
done_testing;
END
	if command -v perl >/dev/null && perl -Mthreads -MTest::More -e 1 2>/dev/null; then
		expect_unharmed 0 perl work.t
		list_archive trace.fxt
		expect_events 1+ 'process == "perl" && name == "socketpair"'
		expect_events 1+ 'process == "sh" && name ~ /^exit/ || type == "flow-end"'
	fi
}

shells
other_users
made_by_go
sandboxed
pictures
own_tests
