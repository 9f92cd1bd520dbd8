#!/bin/bash
# SPDX-License-Identifier: MIT
# What is of no use in part is not left behind where its command is ended by a signal in the middle of writing it: by
# its first write and by a later one. Of a new file nothing is there, and a file that was there is as it was.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a library is preloaded that is not its own"

# In the command, the write number FX_AT to a file raises the signal FX_SIGNAL.
cat >raises.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
ssize_t write(int fd, const void *data, size_t size)
{
	static ssize_t (*real)(int, const void *, size_t);
	static int count;
	struct stat st;
	ssize_t n;

	if (!real)
		real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	n = real(fd, data, size);
	if (fd > 2 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ++count == atoi(getenv("FX_AT")))
		raise(atoi(getenv("FX_SIGNAL")));
	return n;
}
EOF
compile raises.so raises.c -shared -fPIC -ldl
target producer producer.c
expect_ok "$FXTRACE" run -q -o in.fxt -- ./producer 4 20000
expect_ok "$FXTRACE" run -q -o other.fxt -- ./producer 1 10

# interrupt OUT COMMAND...: ends by each signal, at each of $writes; then the folder is as it was.
writes='1 2'
interrupt() {
	local out=$1 signal at there status what

	shift
	for signal in HUP INT TERM; do
		for at in $writes; do
			for there in '' before; do
				rm -f "$out" said
				[ -z "$there" ] || echo before >"$out"
				ls -A >folder
				status=0
				FX_AT=$at FX_SIGNAL=$(kill -l $signal) LD_PRELOAD=$PWD/raises.so "$@" >said 2>&1 || status=$?
				what="$*: SIG$signal at write $at"
				expect_equal $((128 + $(kill -l $signal))) "$status" "$what: $(cat said)"
				rm said
				expect_equal "$(cat folder)" "$(ls -A)" "$what: the folder"
				[ -z "$there" ] || expect_equal before "$(cat "$out")" "$what: $out"
			done
		done
	done
}

for format in pftrace json sqlite stock.fxt json.gz json.zst; do
	interrupt "out.$format" "$FXTRACE" convert in.fxt "out.$format"
done
# A few paths of calls are one write.
writes=1
for format in speedscope.json callgrind collapsed svg; do
	interrupt "out.$format" "$FXTRACE" convert in.fxt "out.$format"
done
writes='1 2'
interrupt merged.fxt "$FXTRACE" merge -o merged.fxt in.fxt other.fxt
interrupt filtered.fxt "$FXTRACE" filter -o filtered.fxt in.fxt
interrupt symbols.fxt "$FXTRACE" symbolize -o symbols.fxt in.fxt

# A signal that is ignored ends nothing.
(
	trap '' INT
	FX_AT=1 FX_SIGNAL=2 LD_PRELOAD=$PWD/raises.so expect_ok "$FXTRACE" convert in.fxt ignored.json
) || fail "a signal that is ignored"
[ -s ignored.json ] || fail "nothing is written where the signal is ignored"

# Of a trace, all that was recorded stays.
# shellcheck disable=SC2016 # the inner shell's
"$FXTRACE" run -q -o kept.fxt -- sh -c 'kill -TERM $PPID; sleep 0.1; ls /' >said 2>&1 || :
expect_ok "$FXTRACE" check kept.fxt
