#!/bin/bash
# SPDX-License-Identifier: MIT
# Sessions of every mode, each with two starts, over threads that record as fast as they can; and a
# stream of more than 10 MiB that is whole and in order.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

cat >count.c <<'EOF'
__attribute__((noinline)) static int leaf(int i)
{
	return i * 3;
}

int main(void)
{
	volatile int sum = 0;

	for (int i = 0; i < 450000; i++)
		sum += leaf(i);
	return 0;
}
EOF
target workers workers.c -pthread
compile count count.c -O1 -finstrument-functions
manager_start -b 1M

provider_start ./workers
wait_for 10 providers_are 1 || fail "the process does not register"
for mode in streaming circular oneshot circular streaming oneshot; do
	expect_ok "$FXTRACE" start -m "$mode" -o "$mode.fxt"
	sleep 0.1
	expect_ok "$FXTRACE" stop
	expect_ok "$FXTRACE" start --disposition clear-nondurable
	sleep 0.1
	expect_ok "$FXTRACE" terminate
	expect_no_line 'malformed|corrupt' err
	expect_no_line 'malformed|corrupt' manager.err
	expect_line '4 threads|3 threads' err
	expect_clean "$mode.fxt"
done
kill "$PROVIDER"
wait "$PROVIDER"

# What a flush has written is in the file, compressed or not, while tracing goes on.
flushed_calls() {
	expect_ok "$FXTRACE" flush
	cp "$1" "copy.$1"
	"$FXTRACE" dump "copy.$1" | grep -q 'name="leaf"'
}
for archive in flushed.fxt flushed.fxt.zst; do
	provider_start ./workers
	wait_for 10 providers_are 1 || fail "the process does not register"
	expect_ok "$FXTRACE" start -o "$archive"
	wait_for 20 flushed_calls "$archive" || fail "$archive holds no calls"
	expect_prefix "copy.$archive" # it is being written
	state_is started || fail "a flush ends the session"
	kill "$PROVIDER"
	wait "$PROVIDER"
	expect_ok "$FXTRACE" stop --json
	expect_line "\"pid\": $PROVIDER, \"name\": \"workers\".* \"durable_percent\": [0-9.]*, .*\"gone\": true" out
	expect_ok "$FXTRACE" terminate
	expect_clean "$archive"
done
expect_one_error 1 "$FXTRACE" flush
expect_line 'no session is initialized' err

# 24 bytes a call; the manager's own buffer is far smaller than that.
ten_mebibytes_in_order() {
	expect_ok "$FXTRACE" record --on-full block -o stream.fxt -- ./count
	expect_no_line 'lost' err
	expect_clean stream.fxt
	[ "$(stat -c %s stream.fxt)" -gt $((10 << 20)) ] || fail "the archive is too small"
	"$FXTRACE" dump stream.fxt | sed -n 's/.* ts=\([0-9]*\) .*name="leaf".*/\1/p' >moments
	expect_equal 450000 "$(wc -l <moments)" "calls"
	sort -cn moments 2>/dev/null || fail "the calls are not in order"
	expect_equal 450000 "$(uniq moments | wc -l)" "calls at times of their own"
}
ten_mebibytes_in_order
manager_stop
