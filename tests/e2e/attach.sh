#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace attach and detach: threads in all states go on as if nothing had been; what they do meanwhile is recorded, without a gap;
# afterwards each word through which a module calls others is what it was. Whoever is killed, the program goes on.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
! is_emulated || skip "the emulator's processes cannot be held"
[ "$(uname -m)" = x86_64 ] || skip "it is there for x86-64"
glibc_since 34 || skip "it needs glibc 2.34"
not_sanitized "libfxtrace.so cannot come late beside a sanitizer"

targets=$FX_SRCDIR/tests/e2e/targets
compile attached -O2 "$targets/attached.c" -Wl,-z,now -ldl
compile steps -O2 "$targets/attached_steps.c" -Wl,-z,lazy -ldl
compile libsteps.so -O2 -fPIC -shared -DLIBRARY "$targets/attached_steps.c" -Wl,-z,now
words() {
	python3 "$FX_SRCDIR/tests/e2e/attach_words.py" "$@" || fail "the words of ${*: -1} cannot be read"
}

# start PROGRAM...: its process is $pid, its output goes to the file said.
start() {
	"$@" >said &
	pid=$!
	wait_for 30 grep -q runs said || fail "$1 does not run"
}
# end WANT: it ends, by SIGTERM, and its last line is that.
end() {
	kill "$pid"
	wait "$pid" || fail "it has ended with status $?: $(cat said)"
	expect_line "$1" said
}
# Words of a module that comes and goes are not compared; one that nobody had called through may lead to its function now.
expect_words_as_before() {
	words "$pid" | grep -v libm.so >after
	expect_equal '' "$(words --left "$pid")" "words that lead to libfxtrace.so"
	awk 'NR == FNR { now[$1 " " $2] = $3; next }
		$3 != "stub" && now[$1 " " $2] != $3 { print $0 ", now " now[$1 " " $2] }' after before >differences
	[ ! -s differences ] || fail "words differ: $(head -n 5 differences)"
}

# --- Threads in all states
start ./attached
words "$pid" | grep -v libm.so >before
for i in 1 2 3 4 5 6; do
	expect_ok timeout 60 "$FXTRACE" attach -q -b 4M -c '#default,-pthread' --duration 100ms -o "all-$i.fxt" "$pid"
	expect_clean "all-$i.fxt"
	expect_words_as_before
done
cmp -s before after || fail "words of modules that are bound at once differ"
end '^ok [0-9]+$'
list_archive all-6.fxt
for call in epoll_wait nanosleep poll; do
	expect_events 1+ 'name == "'$call'" && has("ret=0")'
done
expect_events 1+ 'name == "send" && has("ret=8")'

# --- No gap, a library that comes meanwhile included, and ^C
start ./steps ./libsteps.so
words "$pid" | grep -v libm.so >before
"$FXTRACE" attach -v -o steps.fxt "$pid" 2>err &
attacher=$!
wait_for 30 grep -q 'lead to libfxtrace' err || fail "not attached: $(cat err)"
sleep 0.3
kill -USR1 "$pid"
wait_for 30 grep -q loaded said || fail "nothing is loaded"
sleep 0.3
words --left "$pid" | grep -q libsteps.so || fail "the words of a library that came later are as they were"
kill -INT "$attacher"
wait "$attacher" || fail "attach has ended with status $?: $(cat err)"
expect_line 'are put back, 0 could not be' err
expect_clean steps.fxt
expect_words_as_before
end '^[0-9]+$'
list_archive steps.fxt
awk -F'\t' '$7 == "lseek" { for (i = 10; i <= NF; i++) if (sub(/^offset=/, "", $i)) print $i }' events >numbers
[ "$(wc -l <numbers)" -ge 100 ] || fail "only $(wc -l <numbers) calls are there"
awk 'NR > 1 && $1 != last + 1 { print last, $1; exit 1 } { last = $1 }' numbers >gap || fail "calls are missing: $(cat gap)"

# --- The attacher is killed; attaching goes on from there, and detach puts back
start ./steps ./libsteps.so
words "$pid" | grep -v libm.so >before
"$FXTRACE" attach -v -o killed.fxt "$pid" 2>err &
attacher=$!
wait_for 30 grep -q 'lead to libfxtrace' err || fail "not attached: $(cat err)"
kill -9 "$attacher"
wait "$attacher" 2>/dev/null
expect_ok timeout 60 "$FXTRACE" detach -v "$pid"
expect_line ' words are put back, 0 could not be' err
expect_no_line ' 0 words are put back' err
expect_words_as_before
expect_ok timeout 60 "$FXTRACE" detach -v "$pid"
expect_line ' 0 words are put back' err
expect_ok timeout 60 "$FXTRACE" attach -q --duration 200ms -o again.fxt "$pid"
expect_clean again.fxt
list_archive again.fxt
expect_events 10+ 'name == "lseek"'

# --- Two at once, and the program's end
"$FXTRACE" attach -v -o ends.fxt "$pid" 2>err.first &
attacher=$!
wait_for 30 grep -q 'lead to libfxtrace' err.first || fail "not attached: $(cat err.first)"
expect_one_error 1 timeout 60 "$FXTRACE" attach -q -o second.fxt "$pid"
expect_line 'is being traced already' err
end '^[0-9]+$'
wait "$attacher" || fail "attach has ended with status $?: $(cat err.first)"
expect_clean ends.fxt
list_archive ends.fxt
expect_events 10+ 'name == "lseek"'
