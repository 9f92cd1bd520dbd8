#!/bin/bash
# SPDX-License-Identifier: MIT
# A session chooses the size of buffers that were reserved before it: less for all or for one name, and no
# more than there is, which is said.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

# Fills a buffer of any size in a moment, for ever.
cat >filler.c <<'E2'
#include <unistd.h>

__attribute__((noinline)) static int leaf(int i)
{
	__asm__ volatile("");
	return i * 3;
}

int main(void)
{
	for (;;) {
		for (int i = 0; i < 20000; i++)
			leaf(i);
		usleep(1000);
	}
}
E2
compile filler filler.c -O1 -finstrument-functions

manager_start -b 4M
provider_start ./filler
cp filler other
provider_start ./other
wait_for 10 providers_are 2 || fail "the processes do not register"

# kept NAME: bytes of calls of a process of this name in the archive sized.fxt.
kept() {
	list_archive sized.fxt
	echo $(($(count_events "process == \"$1\" && name == \"leaf\"") * 24))
}

# full: the buffers of the session are full. (One that has not started yet counts what it lost in the session before.)
full() {
	"$FXTRACE" list-providers --json >list && ! grep -qE '"dropped": 0|"started": false' list
}

# oneshot OPTION...: a session of full oneshot buffers.
oneshot() {
	expect_ok "$FXTRACE" start -o sized.fxt -m oneshot "$@"
	cp err start.err
	wait_for 20 full || fail "the buffers do not fill: $(cat list)"
	expect_ok "$FXTRACE" terminate
	expect_clean sized.fxt
}

# expect_kept NAME FROM TO: so many KiB.
expect_kept() {
	local kib=$(($(kept "$1") / 1024))

	[ "$kib" -ge "$2" ] && [ "$kib" -le "$3" ] || fail "$kib KiB of $1 instead of $2 to $3"
}

oneshot
expect_kept filler 3300 4096
oneshot -b 256K
expect_no_line smaller start.err
expect_kept filler 160 256
expect_kept other 160 256
oneshot -b 512K --provider-buffer other=1M
expect_kept filler 380 512
expect_kept other 800 1024
expect_line '"buffer_size": ' list
# A whole buffer again after a part of it; no more than there is.
oneshot -b 16M --provider-buffer other=64K
expect_line '1 process registered with a smaller buffer and keeps it; .*--buffer-size' start.err
expect_kept filler 3300 4096
expect_kept other 20 64

# The newest of a circular buffer, and all that is streamed through a small one.
expect_ok "$FXTRACE" start -o sized.fxt -m circular -b 128K
sleep 0.3
expect_ok "$FXTRACE" terminate
expect_clean sized.fxt
expect_kept filler 40 128
expect_ok "$FXTRACE" start -o sized.fxt --on-full block -b 64K
sleep 0.3
expect_ok "$FXTRACE" terminate --json
# Each may lose the one that it waits with when tracing stops.
[ "$(json_number dropped out)" -le 2 ] || fail "writers that wait lose records: $(cat out)"
expect_clean sized.fxt
[ "$(kept filler)" -gt 262144 ] || fail "only $(kept filler) bytes went through a small buffer"
# Chunks that were left out are used again.
oneshot
expect_kept filler 3300 4096
manager_stop
