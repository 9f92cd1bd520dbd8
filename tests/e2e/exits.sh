#!/bin/bash
# SPDX-License-Identifier: MIT
# The run ends as the program ends, passes on what it reads and writes, and leaves signals to it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# With the signals that a shell lets its background jobs ignore.
run() {
	env --default-signal=HUP,INT,QUIT "$FXTRACE" run -q -o trace.fxt "$@"
}

for status in 0 1 2 3 63 64 77 99 125 126 127 128 129 200 254 255; do
	expect_status "$status" run -- sh -c "exit $status"
	expect_equal 0 "$(wc -c <err)" "bytes on stderr: $(cat err)"
done
ulimit -c 0
for signal in HUP:1 INT:2 QUIT:3 ABRT:6 KILL:9 USR1:10 SEGV:11 PIPE:13 ALRM:14 TERM:15; do
	expect_status $((128 + ${signal#*:})) run -- sh -c "kill -${signal%:*} \$\$"
	expect_clean trace.fxt
done

# The alias does the same.
expect_status 7 "$FX_BUILDDIR/fxtrace-run" -q -o trace.fxt -- sh -c 'exit 7'
expect_clean trace.fxt
# Without --, up to the first word that is no option; the program's options are its own.
expect_status 3 run sh -c 'exit 3'

# stdin, stdout and stderr are the program's.
printf 'one\ntwo\n' | run -- sh -c 'cat; echo three >&2' >out 2>err
expect_equal 'one two' "$(tr '\n' ' ' <out | sed 's/ $//')" "stdout"
expect_equal three "$(cat err)" "stderr"
head -c 3000000 /dev/zero | run -- cat | wc -c >out
expect_equal 3000000 "$(tr -d ' ' <out)" "bytes through a pipe"
# A reader that goes away ends the program as ever.
run -- sh -c 'yes; kill -l $? >ended' | head -n 1 >out
expect_equal y "$(cat out)" "first line of yes"
wait_for 10 test -s ended || fail "yes did not end"
expect_equal PIPE "$(cat ended)" "what ended yes"

# The archive on stdout.
"$FXTRACE" run -o - -- sh -c 'exit 4' >stdout.fxt 2>err
expect_equal 4 $? "status with -o -"
expect_clean stdout.fxt
list_archive stdout.fxt
expect_equal sh "$(cut -f2 processes)" "process in the archive"
"$FXTRACE" run -q -o - -- true | "$FXTRACE" check - >out 2>&1 || fail "check of a pipe: $(cat out)"

# By the name: compressed.
for extension in gz zst; do
	expect_ok "$FXTRACE" run -q -o "trace.fxt.$extension" -- true
	expect_clean "trace.fxt.$extension"
done
expect_equal 1f8b "$(od -An -t x1 -N 2 trace.fxt.gz | tr -d ' ')" "magic of gzip"
expect_equal 28b52ffd "$(od -An -t x1 -N 4 trace.fxt.zst | tr -d ' ')" "magic of zstd"

# The summary: on stderr, unless -q; it names the archive.
expect_ok "$FXTRACE" run -o named.fxt -- true
expect_equal 0 "$(wc -c <out)" "bytes on stdout"
expect_line '^fxtrace: .*named\.fxt' err

# --- Signals ---------------------------------------------------------------------------------------

need setsid

# What the terminal sends to the whole group, the program decides upon: here it ends with a status.
expect_signal() {
	local signal=$1 want=$2 script=$3 pid

	rm -f ready
	# Jobs of a script ignore what a terminal would send.
	setsid -w env --default-signal=HUP,INT,QUIT "$FXTRACE" run -q -o trace.fxt -- sh -c "$script" >out 2>err &
	pid=$!
	wait_for 10 test -s ready || fail "the program does not start: $(cat err)"
	kill "-$signal" -- "-$(ps -o pgid= -p "$(cat ready)" | tr -d ' ')"
	wait "$pid"
	expect_equal "$want" $? "status after SIG$signal to the group, of: $script"
	expect_clean trace.fxt
}
if command -v ps >/dev/null && env --default-signal=INT true; then
	expect_signal INT 9 'trap "exit 9" INT; echo $$ >ready; while :; do sleep 0.05; done'
	expect_signal INT 130 'echo $$ >ready; exec sleep 20'
	expect_signal TERM 143 'echo $$ >ready; exec sleep 20'
	expect_signal QUIT 131 'ulimit -c 0; echo $$ >ready; exec sleep 20'
	expect_signal INT 0 'trap "" INT; echo $$ >ready; sleep 0.5; exit 0'
	expect_signal HUP 129 'echo $$ >ready; exec sleep 20'
fi

# The run ends with the program; of children that outlive it there is a word.
expect_ok "$FXTRACE" run -o trace.fxt -- sh -c 'sleep 5 >/dev/null 2>&1 & echo $! >child; sleep 0.2'
kill "$(cat child)" || fail "the child did not outlive the run"
expect_line '^fxtrace: 1 process still ran' err
expect_clean trace.fxt
list_archive trace.fxt
expect_equal 2 "$(grep -c '	sleep$' processes)" "processes named sleep: $(cat processes)"
