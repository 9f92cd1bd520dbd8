# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Answers of `fxtrace why' beside what the programs measured themselves; to be read after lib.sh.

# agree NAME [nohooks]: the answer of NAME.fxt and the log.
agree() {
	expect_ok "$FXTRACE" why --json --min-share 0 "$1.fxt"
	cp out "$1.json"
	python3 "$FX_SRCDIR/tests/e2e/why_agree.py" "$1.json" log "${@:2}" >said 2>&1
}

# Options of the runs that follow.
options=()

# agrees PROGRAM NAME [nohooks]: of a run. On a busy machine the program may lose the processor between its reading of the
# clock and the call that it measures; not three times.
agrees() {
	for _ in 1 2 3; do
		expect_ok "$FXTRACE" run -q "${options[@]}" -o "$2.fxt" -- "./$1" "$2"
		cp out log
		agree "${@:2}" && return
	done
	fail "$1 $2: $(tail -n 3 said)"
}

# Whether the kernel tells of switches.
has_kernel() {
	is_emulated && return 1
	expect_ok "$FXTRACE" run --kernel -o kernel.fxt -- true
	! grep -q 'are not recorded' err
}
