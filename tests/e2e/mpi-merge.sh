#!/bin/bash
# SPDX-License-Identifier: MIT
# Archives of a job's ranks on several hosts, whose clocks are seconds apart and drift by 50 ppm, come into one timeline by
# MPI's messages alone: each arrow is as the ranks have logged it, none runs backwards, and no clock is farther from the
# truth than is said. The hosts are simulated: by edited archives, and by time namespaces.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID PMIX_NAMESPACE LD_PRELOAD

mpi=
for name in openmpi mpich; do
	if [ -e "$FX_BUILDDIR/.libs/libfxtrace-mpi-$name.so" ] && [ -n "$(type -P mpicc.$name)" ] && [ -n "$(type -P mpirun.$name)" ]; then
		mpi=$name
		break
	fi
done
[ -n "$mpi" ] || skip "no MPI is here, or fxtrace was built without"
mpicc.$mpi -w -O1 -pthread -o talk "$FX_SRCDIR/tests/e2e/mpi_talk.c" || fail "mpicc.$mpi"

# host RANKS OPTION...: archives rank-N.fxt as host-N.fxt, as a host of these ranks would have recorded them.
host() {
	local rank ranks=$1

	shift
	for rank in $ranks; do
		python3 "$FX_SRCDIR/tests/e2e/fxt_edit.py" "rank-$rank.fxt" "host-$rank.fxt" --base "$base" "$@" || fail "cannot edit rank $rank"
	done
}

# merged MICROSECONDS HOW: all is in order, and each clock said to be right to so many us, and is.
merged() {
	expect_ok "$FXTRACE" merge -o all.fxt host-[0-5].fxt
	cp err said
	expect_clean all.fxt
	"$FXTRACE" dump --json all.fxt >all.json
	python3 "$FX_SRCDIR/tests/e2e/mpi_arrows.py" . all.json || fail "arrows: $(cat said)"
	expect_no_line 'backwards' said
	for rank in 0 1 2 3 4 5; do
		"$FXTRACE" dump --json "rank-$rank.fxt" >"rank-$rank.json"
	done
	python3 - "$1" "$2" <<'END' || fail "clocks: $(cat said)"
import json, re, sys
def calls(name):
    found = {}
    for r in map(json.loads, open(name)):
        if r["kind"] == "event" and r["category"] == "mpi" and r["type"] == "complete":
            found.setdefault(r["pid"] % 10**7, []).append((r["ts"], r["end"]))
    return {pid: sorted(c) for pid, c in found.items()}
both, told = calls("all.json"), {}
for line in open("said"):
    if (m := re.search(r"host-(\d).fxt: clock .* \((.*)\)(?:, wrong by ([0-9.]+) us at most)?", line)):
        told[int(m[1])] = (m[2], float(m[3] or "inf"))
assert sorted(told) == [1, 2, 3, 4, 5], told
ranks = [calls("rank-%d.json" % i) for i in range(6)]
(pid, first), = ranks[0].items()
stretch = (both[pid][-1][1] - both[pid][0][0]) / (first[-1][1] - first[0][0])
assert 1 <= stretch < 1.0003, stretch
for i in range(1, 6):
    (own, want), = ranks[i].items()
    got = both[own]
    assert len(got) == len(want) > 100
    worst = max(abs(g[0] - both[pid][0][0] - (w[0] - first[0][0]) * stretch) for g, w in zip(got, want)) / 1000
    how, error = told[i]
    print("rank", i, how, "wrong by", worst, "us, said to be", error)
    if how.startswith("it is another's"):
        continue
    assert re.search(sys.argv[2], how), how
    assert worst <= error + 1 and error < float(sys.argv[1]), (i, worst, error)
arguments = [{a["name"]: a.get("value") for a in r.get("args", [])} for r in map(json.loads, open("all.json"))
             if r["kind"] == "kernel-object"]
assert any("clock_error_ns" in a and "clock" in a for a in arguments), "the archive does not say it"
END
}

expect_ok timeout 120 mpirun.$mpi -n 6 "$FXTRACE" run -q -c mpi -o rank-%r.fxt -- ./talk

# When all of them ran, by their own clock; so that archives of one host are edited alike.
base=$("$FXTRACE" dump --json rank-0.fxt | sed -n 's/.*"ts":\([0-9]*\).*/\1/p' | sort -n | head -n 1)

# Only messages tell. How long they take here depends on the machine's load.
host "0 1"
host "2 3" --drift 50 --later 3 --no-clocks
host "4 5" --drift -50 --later -0.5 --no-clocks
merged 1000000 '^by messages$'

# Archives of one host have one clock: what one of them hears tells of the other one's, too.
host "0 1" --machine 5 --session 5
host "2 3" --drift 50 --later 3 --machine 6 --session 6
host "4 5" --drift -50 --later 100 --machine 7 --session 7
# The dates in the records are wrong by up to 0.3 s.
python3 - <<'END' || fail "no dates"
import struct
for i, wrong in (2, 0.3), (3, 0.3), (4, -0.2), (5, -0.2):
    data = bytearray(open("host-%d.fxt" % i, "rb").read())
    at = 0
    while (at := data.find(b"fxtrace:clock\0\0\0", at)) >= 0:
        date = struct.unpack_from("<Q", data, at + 32)[0]
        struct.pack_into("<Q", data, at + 32, date + int(wrong * 1e9))
        at += 80
    open("host-%d.fxt" % i, "wb").write(data)
END
merged 2000000 'moved by messages|by its clock records'

# Who came last to each collective is said of all its calls, and how long the others had been there.
python3 - <<'END' || fail "who came last"
import collections, json
meetings = collections.defaultdict(list)
for r in map(json.loads, open("all.json")):
    if r["kind"] == "event" and r["category"] == "mpi" and r["type"] == "complete":
        a = {a["name"]: a.get("value") for a in r.get("args", [])}
        if a.get("collective"):
            meetings[a["collective"]].append((r["ts"], a, r["name"]))
waited = 0
for calls in meetings.values():
    assert len(calls) == calls[0][1]["ranks"], calls
    last = max(ts for ts, _, _ in calls)
    for ts, a, name in calls:
        assert a["before_it_ns"] == last - ts, (a, last - ts)
        assert a["rank"] != a["last_rank"] or a["before_it_ns"] == 0, a
        waited += name == "MPI_Barrier" and a["before_it_ns"] > 0
assert len(meetings) > 50 and waited > 50, (len(meetings), waited)
END

# Hosts whose clocks differ really: time namespaces.
if unshare --time --boottime 3 --fork true 2>/dev/null; then
	rm -f log.*
	record=("$FXTRACE" run -q -c mpi -o host-%r.fxt -- ./talk)
	expect_ok timeout 120 mpirun.$mpi -n 2 "${record[@]}" : -n 2 unshare --time --boottime 3 --fork "${record[@]}" : \
		-n 2 unshare --time --boottime 50 --fork "${record[@]}"
	expect_ok "$FXTRACE" merge -o all.fxt host-[0-5].fxt
	expect_line 'host-4.fxt: clock -50.000000000 s' err
	expect_clean all.fxt
	"$FXTRACE" dump --json all.fxt >all.json
	python3 "$FX_SRCDIR/tests/e2e/mpi_arrows.py" . all.json || fail "arrows: $(cat err)"
	# As if nothing but messages told so.
	for rank in 1 2 3 4 5; do
		python3 "$FX_SRCDIR/tests/e2e/fxt_edit.py" "host-$rank.fxt" "other-$rank.fxt" --no-clocks
	done
	expect_ok "$FXTRACE" merge -o all.fxt host-0.fxt other-[1-5].fxt
	expect_line 'other-4.fxt: clock -(49|50)[.][0-9]* s.* \(by messages\), wrong by' err
	"$FXTRACE" dump --json all.fxt >all.json
	python3 "$FX_SRCDIR/tests/e2e/mpi_arrows.py" . all.json || fail "arrows: $(cat err)"
else
	echo "left out: time namespaces are not allowed here"
fi

# A clock that was put back by 0.4 s in the middle: no even drift has all messages in order. What would run backwards is not drawn.
host "1 2 3 4 5"
python3 - <<'END' || fail "no jump"
import struct
data = open("rank-0.fxt", "rb").read()
words = list(struct.unpack("<%dQ" % (len(data) // 8), data))
def records():
    at = 0
    while at < len(words):
        size = words[at] >> 4 & 0xfff
        yield at, size
        at += size
events = [(at, size) for at, size in records() if words[at] & 15 == 4]
middle = sorted(words[at + 1] for at, _ in events)[len(events) // 2]
for at, size in events:
    if words[at + 1] > middle:
        words[at + 1] -= 400000000
        if words[at] >> 16 & 15 == 4:
            words[at + size - 1] -= 400000000
kept = []
for at, size in records():
    if data[at * 8 + 8:at * 8 + 24] != b"fxtrace:clock\0\0\0":
        kept += words[at:at + size]
open("jump.fxt", "wb").write(struct.pack("<%dQ" % len(kept), *kept))
END
expect_ok "$FXTRACE" merge -o all.fxt host-[1-5].fxt jump.fxt
expect_line 'jump.fxt: .*no even drift has all of its messages in order' err
expect_line '; [0-9]+ arrows that would run backwards are left out' err
"$FXTRACE" dump --json all.fxt >all.json
python3 - <<'END' || fail "an arrow runs backwards"
import json
begins, ends = {}, {}
for r in map(json.loads, open("all.json")):
    if r["kind"] == "event" and r["category"] == "mpi" and r["type"].startswith("flow"):
        (begins if r["type"] == "flow-begin" else ends)[r["id"]] = r["ts"]
assert ends and begins.keys() == ends.keys()
assert all(begins[i] <= ends[i] for i in ends)
END
