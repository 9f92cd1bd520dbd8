# shellcheck shell=bash disable=SC2034 # what is set is the caller's
# SPDX-License-Identifier: MIT
# What tests of arrows between processes over what they share have in common; to be read after lib.sh.

# share_run PROGRAM KIND SEED PROCESSES THREADS TURNS [WHAT]: runs it traced, and compares by PROGRAM_agree.py. Sets `waits', those that have
# an arrow (`found'), `wrong' ones, of which there may be none, and those left out (`sum').
share_run() {
	local program=$1 status=0
	shift

	rm -f locked
	timeout 120 "$FXTRACE" run -c pthread,process --on-full block -o trace.fxt -- "./$program" "$@" >log 2>said || status=$?
	[ "$status" -eq 0 ] || fail "$program $*: status $status: $(cat said)"
	expect_clean trace.fxt
	"$FXTRACE" dump trace.fxt >dump || fail "$program $*: no dump"
	read -r waits found wrong < <(python3 "$FX_SRCDIR/tests/e2e/${program}_agree.py" dump log 2>differs)
	[ -n "${waits-}" ] || fail "$program $*: $(cat differs)"
	[ "$wrong" -eq 0 ] || fail "$program $*: $wrong arrows are wrong: $(head -n 5 differs)"
	sum=$(sed -n 's/^fxtrace: \([0-9]*\) waits* for locks that processes share ha.*/\1/p' said)
	sum=${sum:-0}
}
