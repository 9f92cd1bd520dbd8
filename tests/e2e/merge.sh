#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace merge': archives of two machines whose clocks are 3 s apart and drift by 50 ppm come into one timeline, in
# which nothing is received before it was sent; ids stay apart; parts of a recording become what it was; bad input.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

edit() {
	python3 "$FX_SRCDIR/tests/e2e/fxt_edit.py" "$@" || fail "cannot edit: $*"
}

# Asks and answers 40 times, a while apart, so that a drift shows.
cat >talk.c <<'END'
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int leaf(int x) { return x + 1; }

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);
	int s = socket(AF_INET, SOCK_STREAM, 0), x = 0;
	char bytes[100];
	ssize_t n;

	if (argc == 1) {
		int c;

		if (bind(s, (void *)&at, sizeof(at)) < 0 || listen(s, 1) < 0)
			return 1;
		getsockname(s, (void *)&at, &length);
		printf("%d\n", ntohs(at.sin_port));
		fflush(stdout);
		c = accept(s, NULL, NULL);
		while ((n = recv(c, bytes, sizeof(bytes), 0)) > 0) {
			x = leaf(x);
			if (send(c, bytes, (size_t)n / 2, 0) < 0)
				return 1;
		}
		return 0;
	}
	at.sin_port = htons((unsigned short)atoi(argv[1]));
	if (connect(s, (void *)&at, sizeof(at)) < 0)
		return 1;
	for (int i = 0; i < 40; i++) {
		x = leaf(x);
		if (send(s, bytes, 10, 0) != 10 || recv(s, bytes, 5, MSG_WAITALL) != 5)
			return 1;
		usleep(25000);
	}
	return 0;
}
END
compile talk -O0 -finstrument-functions talk.c

# talk_as COMMAND...: one.fxt is the server's, two.fxt the client's, which runs below the command.
talk_as() {
	rm -f port
	"$FXTRACE" run -q -o one.fxt -- ./talk >port 2>one.err &
	wait_for 60 test -s port || fail "no server: $(cat one.err)"
	"$@" "$FXTRACE" run -q -o two.fxt -- ./talk "$(cat port)" || fail "no client"
	wait "$!" || fail "the server fails"
}

# merged MESSAGES OPTION...: merges one.fxt and other.fxt.
merged() {
	local messages=$1

	shift
	expect_ok "$FXTRACE" merge -o both.fxt "$@" one.fxt other.fxt
	cp err said
	expect_clean both.fxt
	"$FXTRACE" dump --json both.fxt >both.json
	python3 "$FX_SRCDIR/tests/e2e/merge_order.py" both.json "$messages" ||
		fail "merge $*: $(cat said)"
}

# expect_truth NS: beside the calls of one.fxt those of two.fxt lie where they did, but for NS. All may be stretched, by
# the drift of the clock that is faster.
expect_truth() {
	"$FXTRACE" dump --json one.fxt >one.json
	"$FXTRACE" dump --json two.fxt >two.json
	python3 - "$1" <<'END' || fail "other times: $(cat said)"
import json, sys
def calls(name, pid=None):
    events = [r for r in map(json.loads, open(name)) if r["kind"] == "event" and r["name"] == "send"]
    return sorted(e["ts"] for e in events if pid in (None, e["pid"])), {e["pid"] for e in events}
(one, (pid,)), (two, (other,)) = calls("one.json"), calls("two.json")
both_one, both_two = calls("both.json", pid)[0], calls("both.json", other)[0]
assert len(one) == len(two) == len(both_one) == len(both_two) == 40
stretch = (both_one[-1] - both_one[0]) / (one[-1] - one[0])
# What messages alone tell of the drift is as exact as they are fast.
assert 1 <= stretch < 1.0003, stretch
worst = max(abs(got - both_one[0] - (want - one[0]) * stretch) for got, want in zip(both_two, two))
print("at most", worst, "ns from the truth, stretched by", stretch)
assert worst <= int(sys.argv[1]), worst
END
}

# --- Clocks ----------------------------------------------------------------------------------------

# One machine: its clock is known.
talk_as env
cp two.fxt other.fxt
merged 80
expect_line 'other.fxt: clock [+]0.000000000 s \(it is another' said
expect_truth 1

# Another clock, 3 s ahead and 50 ppm fast, and one that is slow; with clock records of a machine of its own.
for drift in 50 -50; do
	edit two.fxt other.fxt --drift "$drift" --later 3 --machine 7 --session 7
	merged 80
	expect_line 'other.fxt: clock -[23][.].* \(by its clock records' said
	expect_truth 20000
done

# Only messages tell: in order, and right but for what messages take.
for drift in 0 50 -50; do
	edit two.fxt other.fxt --drift "$drift" --later 3 --no-clocks
	merged 80
	expect_line 'other.fxt: clock -[23][.].* \(by messages\)' said
	expect_truth 20000000
done

# What clock records say is moved where messages could not have been so.
edit two.fxt other.fxt --later 3 --machine 7 --session 7
python3 - <<'END'
import struct
data = bytearray(open("other.fxt", "rb").read())
at = 0
while (at := data.find(b"fxtrace:clock\0\0\0", at)) >= 0:
    date = struct.unpack_from("<Q", data, at + 32)[0]
    struct.pack_into("<Q", data, at + 32, date + 500000000)
    at += 80
open("other.fxt", "wb").write(data)
END
merged 80
expect_line '\(by its clock records, and moved by messages\)' said

# A date that was set meanwhile, by a hundred seconds: the time since then counts.
edit two.fxt other.fxt --later 3 --machine 7 --session 7
python3 - <<'END' || fail 'no two clock records'
import struct
data = bytearray(open("other.fxt", "rb").read())
clocks, at = [], 0
while (at := data.find(b"fxtrace:clock\0\0\0", at)) >= 0:
    clocks.append(at)
    at += 80
date = struct.unpack_from("<Q", data, clocks[0] + 32)[0]
struct.pack_into("<Q", data, clocks[0] + 32, date - 100000000000)
open("other.fxt", "wb").write(data)
assert len(clocks) > 1
END
merged 80
expect_line 'other.fxt: clock -[23][.].* \(by its clock records' said
expect_no_line 'stretched by [0-9]{3}' said

# The user knows better.
edit two.fxt other.fxt --later 3 --no-clocks
merged 80 --offset other.fxt=-3s
expect_line 'clock -3.000000000 s \(by --offset\)' said
expect_truth 1

# A time namespace: its clock is 3 s ahead, and drifts with the machine's.
if unshare --time --boottime 3 --fork true 2>/dev/null; then
	talk_as unshare --time --boottime 3 --fork
	cp two.fxt other.fxt
	merged 80
	expect_line 'other.fxt: clock -3.000000000 s \(it is another' said
	edit two.fxt other.fxt --drift 50 --machine 7 --session 7
	merged 80
	expect_line 'by its clock records' said
else
	echo "left out: time namespaces are not allowed here"
fi

# --- Ids -------------------------------------------------------------------------------------------

# The same processes of another machine are others, with arrows and providers of their own.
edit one.fxt other.fxt --machine 7 --session 7
expect_ok "$FXTRACE" merge -o both.fxt one.fxt other.fxt
expect_line 'its processes and threads are numbered from 10000000' err
expect_clean both.fxt
"$FXTRACE" dump --json one.fxt >one.json
"$FXTRACE" dump --json both.fxt >both.json
python3 - <<'END' || fail "ids are not apart"
import json
def load(name):
    events = [r for r in map(json.loads, open(name)) if r["kind"] == "event"]
    return ({(e["pid"], e["tid"]) for e in events}, {e["id"] for e in events if e["type"].startswith("flow")},
            {e["provider"] for e in events}, len(events))
one, both = load("one.json"), load("both.json")
assert both[0] == one[0] | {(p + 10**7, t + 10**7) for p, t in one[0]}, both[0]
for i in 1, 2:
    assert len(both[i]) == 2 * len(one[i]), (one[i], both[i])
assert both[3] == 2 * one[3]
END

# Two recordings of one machine: a process is the same in both.
"$FXTRACE" run -q -o first.fxt -- true
"$FXTRACE" run -q -o second.fxt -- false
expect_ok "$FXTRACE" merge -o both.fxt first.fxt second.fxt
expect_clean both.fxt
expect_no_line 'numbered from' err

# --- Parts of one recording ------------------------------------------------------------------------

cat >work.sh <<'END'
for i in 1 2 3 4; do cat /dev/null & done
ls / >/dev/null
wait
END
"$FXTRACE" run -q -o work.fxt -- sh work.sh

# same_events WANT GOT: but arrows and order.
same_events() {
	for name in "$@"; do
		"$FXTRACE" dump --json "$name" >"$name.json"
	done
	python3 - "$1.json" "$2.json" <<'END' || fail "$2: other events"
import json, sys
def load(name):
    events = []
    for r in map(json.loads, open(name)):
        del r["offset"]
        if r["kind"] == "event" and not r["type"].startswith("flow"):
            events.append(json.dumps(r, sort_keys=True))
    return sorted(events)
want, got = load(sys.argv[1]), load(sys.argv[2])
assert want == got and want, (len(want), len(got), set(want) ^ set(got))
END
}
others=(--category '[!s]*' --category 's[!y]*')
expect_ok "$FXTRACE" filter --category 'sy*' -o calls.fxt work.fxt
expect_ok "$FXTRACE" filter "${others[@]}" -o rest.fxt.gz work.fxt
expect_ok "$FXTRACE" merge -o whole.fxt.zst calls.fxt rest.fxt.gz
expect_clean whole.fxt.zst
same_events work.fxt whole.fxt.zst
expect_ok "$FXTRACE" merge -o alone.fxt work.fxt
same_events work.fxt alone.fxt

# --- Bad input -------------------------------------------------------------------------------------

expect_one_error 2 "$FXTRACE" merge work.fxt
expect_one_error 2 "$FXTRACE" merge -o out.fxt
expect_one_error 2 "$FXTRACE" merge -o out.fxt work.fxt work.fxt
ln -s work.fxt link.fxt
expect_one_error 2 "$FXTRACE" merge -o out.fxt work.fxt link.fxt
expect_one_error 2 "$FXTRACE" merge -o work.fxt one.fxt work.fxt
expect_one_error 2 "$FXTRACE" merge -o out.fxt one.fxt -
for offset in x one.fxt=3 one.fxt=s =1s no.fxt=1s one.fxt; do
	expect_one_error 2 "$FXTRACE" merge -o out.fxt --offset "$offset" one.fxt work.fxt
done
# What remains alone is written, whichever it is.
: >empty.fxt
echo "not an archive" >text.fxt
edit work.fxt unknown.fxt --no-clocks
# alone FILE...: these, of which one.fxt alone can be merged.
alone() {
	rm -f out.fxt
	expect_status 1 "$FXTRACE" merge -o out.fxt "$@"
	expect_equal $# "$(wc -l <err)" "lines of $*: $(cat err)"
	expect_line "^fxtrace merge: out.fxt: [0-9]+ events of 1 archive, 0 arrows between them; $(($# - 1)) archives? left out\$" err
	same_events one.fxt out.fxt
}
for bad in no-such-file empty text; do
	alone one.fxt "$bad.fxt"
	expect_line "^fxtrace merge: $bad.fxt: " err
	alone "$bad.fxt" one.fxt
	expect_line "^fxtrace merge: $bad.fxt: " err
done
alone one.fxt unknown.fxt
expect_line 'unknown.fxt: nothing tells how its clock lies to that of one.fxt' err
alone empty.fxt one.fxt unknown.fxt text.fxt
rm out.fxt
expect_status 1 "$FXTRACE" merge -o out.fxt empty.fxt text.fxt no-such-file.fxt
expect_equal 3 "$(wc -l <err)" "lines of archives that are none: $(cat err)"
[ ! -e out.fxt ] || fail "an output without an input"
head -c $(($(stat -c %s work.fxt) / 2 + 3)) work.fxt >cut.fxt
expect_one_error 1 "$FXTRACE" merge -o rest.fxt one.fxt cut.fxt
expect_line 'cut.fxt: offset 0x[0-9a-f]*: truncated' err
expect_clean rest.fxt
# Of many, those that cannot be merged are a line each, and the rest goes on: what is no archive, of a release that is not known, of a rank
# that died before it had anything, or whose clock is of a version that nobody knows.
python3 - <<'END' || fail "no other versions"
import struct
data = bytearray(open("work.fxt", "rb").read())
at = 0
while (at := data.find(b"fxtrace:clock\0\0\0", at)) >= 0:
    struct.pack_into("<Q", data, at + 16, 99)
    at += 80
open("later.fxt", "wb").write(data)
data[0:8] = struct.pack("<Q", struct.unpack_from("<Q", data)[0] ^ 1 << 40)
open("release.fxt", "wb").write(data)
END
expect_ok "$FXTRACE" run -q -o other.fxt -- ls /
head -c $(($(stat -c %s other.fxt) / 2 + 3)) other.fxt >died.fxt
expect_status 1 "$FXTRACE" merge -o most.fxt empty.fxt one.fxt later.fxt release.fxt no-such-file.fxt work.fxt died.fxt unknown.fxt
cp err said
for bad in empty release no-such-file; do
	expect_equal 1 "$(grep -c "^fxtrace merge: $bad.fxt: " said)" "lines of $bad.fxt ($(cat said))"
done
for bad in later unknown; do
	expect_equal 1 "$(grep -c "^fxtrace merge: $bad.fxt: nothing tells how its clock lies to that of one.fxt" said)" "lines of $bad.fxt ($(cat said))"
done
expect_line '^fxtrace merge: died.fxt: offset 0x[0-9a-f]*: truncated' said
expect_equal 6 "$(wc -l <said)" "lines ($(cat said))"
expect_clean most.fxt
expect_ok "$FXTRACE" merge -o two.fxt one.fxt work.fxt
for archive in most two; do
	"$FXTRACE" query --csv $archive.fxt 'SELECT count(DISTINCT upid) FROM process' | tail -n 1 >$archive.count
done
[ "$(tr -d '\r' <most.count)" -ge "$(tr -d '\r' <two.count)" ] || fail 'the rest is not there'
rm later.fxt release.fxt
expect_status 1 "$FXTRACE" merge -o most.fxt one.fxt no-such-file.fxt work.fxt
expect_line '^fxtrace merge: most.fxt: .* of 2 archives, .*; 1 archive left out$' err
if [ -w /dev/full ]; then
	expect_one_error 1 "$FXTRACE" merge -o /dev/full one.fxt work.fxt
	expect_line 'No space left' err
fi

# --- Memory ----------------------------------------------------------------------------------------

not_sanitized "sanitizers have memory of their own"
"$FX_BUILDDIR/bench/timeline" --make 96 large.fxt || fail "no archive"
resident=$(python3 - "$FXTRACE" <<'END'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "merge", "-o", "/dev/null", "large.fxt"], stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
END
)
echo "$resident MB resident"
[ -n "$resident" ] && [ "$resident" -lt 48 ] || fail "$resident MB resident for 96 MB"

# Many: memory does not grow with their size, and with their number by what is known of each.
. "$FX_SRCDIR/tests/e2e/many-archives.sh"
few=$(merged_memory 1000 20)
many=$(merged_memory 1000 220)
large=$(merged_memory 400000 20)
echo "20 archives: $few KiB resident; 220: $many KiB; 20 of a hundred times the size: $large KiB"
# 1,000 have 1 GB.
[ $(((many - few) / 200)) -lt 1000 ] || fail "$(((many - few) / 200)) KiB resident for each archive"
[ $(((large - few) / 20)) -lt 1000 ] || fail "$(((large - few) / 20)) KiB more for each archive that is large"
