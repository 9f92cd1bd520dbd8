#!/bin/bash
# SPDX-License-Identifier: MIT
# libfxtrace-mpi: for each MPI that is here, a program whose ranks log each message that they send or get, in all ways that there are:
# arrows are as the log says, none is wrong or missing; in one archive, and in one of each rank that are merged. What is shown
# of calls; which library a program is given, and that the wrong one does no harm.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# What starts ranks refuses to be root's, and to have more of them than processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_mpi_yield_when_idle=1
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID PMIX_NAMESPACE LD_PRELOAD

# agrees COUNT... ARCHIVE...: the arrows in all of them together.
agrees() {
	local archive files=()

	for archive in "$@"; do
		expect_clean "$archive"
		"$FXTRACE" dump --json "$archive" >"$archive.json" || fail "dump of $archive"
		files+=("$archive.json")
	done
	python3 "$FX_SRCDIR/tests/e2e/mpi_arrows.py" . "${files[@]}" || fail "other arrows: $*"
	rm -f log.* "${files[@]}"
}

# --- What is shown -------------------------------------------------------------------------------------------

# shown ARCHIVE RANKS: what calls are about; collectives have ids that all their ranks have in common, and nobody else.
shown() {
	"$FXTRACE" dump --json "$1" >shown.json
	python3 - "$2" <<'END' || fail "$1: what is shown"
import collections, json, sys
ranks = int(sys.argv[1])
events = [r for r in map(json.loads, open("shown.json")) if r["kind"] == "event" and r["category"] == "mpi"]
slices = [(r, {a["name"]: a.get("value") for a in r.get("args", [])}) for r in events if r["type"] == "complete"]
names = collections.Counter(r["name"] for r, _ in slices)
for name in ("Init_thread Finalize Send Bsend Recv Isend Issend Irecv Wait Waitall Waitany Waitsome Test Testany Testall Testsome "
             "Sendrecv Sendrecv_replace Send_init Recv_init Startall Start Request_free Probe Iprobe Mprobe Improbe Mrecv Imrecv "
             "Cancel Barrier Bcast Allreduce Gather Iallreduce Comm_split Comm_dup Comm_free Cart_create").split():
    assert names["MPI_" + name] >= ranks, (name, names["MPI_" + name])
assert {a["rank"] for r, a in slices if r["name"] == "MPI_Init_thread"} == set(range(ranks))
for r, a in slices:
    if r["name"] in ("MPI_Send", "MPI_Isend", "MPI_Recv"):
        assert "comm" in a and "tag" in a and "bytes" in a and ("to" in a or "from" in a), (r, a)
    if r["name"] == "MPI_Allreduce":
        assert a["bytes"] == 4, a
    if r["name"] == "MPI_Bcast":
        assert a["root"] == a["ranks"] - 1, a
assert {4104, 8} <= {a["bytes"] for r, a in slices if r["name"] == "MPI_Recv"}
assert "twin" in {a.get("comm") for _, a in slices}
together = collections.defaultdict(list)
for r, a in slices:
    if a.get("collective"):
        together[r["name"], a["collective"]].append((r["ts"], a["rank"], a["ranks"], a["comm"]))
assert all(sorted(e[1] for e in c) == list(range(c[0][2])) for c in together.values()), "not all ranks"
END
}

# FX_MPI_RANKS: more of them, which takes minutes (make check-mpi).
ranks=${FX_MPI_RANKS:-4}
tried=0
for mpi in openmpi mpich; do
	[ -e "$FX_BUILDDIR/.libs/libfxtrace-mpi-$mpi.so" ] || continue
	if [ -z "$(type -P mpicc.$mpi)" ] || [ -z "$(type -P mpirun.$mpi)" ]; then
		continue
	fi
	tried=$((tried + 1))
	mpicc.$mpi -w -O1 -pthread -o "talk-$mpi" "$FX_SRCDIR/tests/e2e/mpi_talk.c" || fail "mpicc.$mpi"
	# One archive: fxtrace-run finds by itself what is to be preloaded.
	expect_ok timeout 900 "$FXTRACE" run -q -o "$mpi.fxt" -- mpirun.$mpi -n "$ranks" "./talk-$mpi"
	agrees "$mpi.fxt"
	shown "$mpi.fxt" "$ranks"
	# Several threads.
	expect_ok timeout 120 "$FXTRACE" run -q -c mpi -o "$mpi.fxt" -- mpirun.$mpi -n 4 "./talk-$mpi" 1 threads
	agrees "$mpi.fxt"
	# An archive of each rank.
	expect_ok timeout 120 mpirun.$mpi -n 6 "$FXTRACE" run -q -c mpi -o "$mpi-%r.fxt" -- "./talk-$mpi"
	expect_equal 6 "$(find . -name "$mpi-[0-9].fxt" | wc -l)" "archives"
	expect_ok "$FXTRACE" merge -o "$mpi.fxt" "$mpi"-[0-9].fxt
	agrees "$mpi.fxt"
	# Not all ranks are traced: the others do not wait for them.
	expect_ok timeout 120 mpirun.$mpi -n 4 "$FXTRACE" run -q --ranks 1,3 -o "some-%r.fxt" -- "./talk-$mpi"
	expect_clean some-1.fxt some-3.fxt
	# While its category is off it does what MPI does.
	expect_ok timeout 120 "$FXTRACE" run -q -c none -o off.fxt -- mpirun.$mpi -n 4 "./talk-$mpi"
	expect_equal "" "$("$FXTRACE" dump --json off.fxt | grep '"category":"mpi"')" "events of a category that is off"
	# Without a tracer, and with the library for another MPI.
	for other in openmpi mpich; do
		library=$FX_BUILDDIR/.libs/libfxtrace-mpi-$other.so
		[ -e "$library" ] || continue
		expect_ok env LD_PRELOAD="$library" timeout 120 mpirun.$mpi -n 3 "./talk-$mpi"
		expect_ok env LD_PRELOAD="$library" LD_BIND_NOW=1 true
		expect_ok env LD_PRELOAD="$library" timeout 120 "$FXTRACE" run -q -o by-hand.fxt -- mpirun.$mpi -n 3 "./talk-$mpi"
		expect_clean by-hand.fxt
		"$FXTRACE" dump --json by-hand.fxt | grep '"category":"mpi"' >by-hand || true
		if [ $other = $mpi ]; then
			[ -s by-hand ] || fail "nothing of MPI with $library"
		else
			expect_equal "" "$(head -n 1 by-hand)" "events of another MPI"
		fi
	done
done
[ "$tried" -gt 0 ] || skip "no MPI is here, or fxtrace was built without"
