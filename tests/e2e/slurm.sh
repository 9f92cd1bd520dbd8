#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that Slurm starts, on two nodes that are both this machine: srun, sbatch, arrays, requeues, scancel and time limits end with
# whole archives, of which each says its job and rank; only the ranks that were chosen write any; many ranks are one timeline.
#
# FX_SLURM_ALL=1: with time limits, which Slurm looks at each half minute, and 1,000 ranks in turn (make check-slurm).
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

PATH=$PATH:/usr/sbin:/sbin
need munged srun sbatch scancel scontrol squeue python3
is_emulated && skip 'the daemons are of another machine'
[ "$(id -u)" -eq 0 ] || skip 'slurmd wants to be root'
# Debian's names are those with a tail.
daemon() {
	type -P "$1-wlm" || type -P "$1"
}
[ -n "$(daemon slurmctld)" ] && [ -n "$(daemon slurmd)" ] || skip 'Slurm has no daemons here'
unset SLURM_JOB_ID SLURM_PROCID SLURM_CONF PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK PBS_JOBID LSB_JOBID LD_PRELOAD

# --- A cluster of the test's own -------------------------------------------------------------------
read -r -a ports < <(python3 -c '
import socket
sockets = [socket.socket() for i in range(3)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
mkdir -p munge state spool/n1 spool/n2
chmod 755 .
chmod 711 munge
(umask 077 && head -c 128 /dev/urandom >munge/key)
cat >slurm.conf <<EOF
ClusterName=test
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$TEST_DIR/munge/socket
CredType=cred/munge
SlurmctldPidFile=$TEST_DIR/slurmctld.pid
SlurmdPidFile=$TEST_DIR/slurmd-%n.pid
SlurmdSpoolDir=$TEST_DIR/spool/%n
StateSaveLocation=$TEST_DIR/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=4
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
EOF
for node in 1 2; do
	echo "NodeName=n$node NodeHostname=$(uname -n) NodeAddr=127.0.0.1 Port=${ports[$node]} CPUs=256" >>slurm.conf
done
echo "PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP" >>slurm.conf
export SLURM_CONF=$TEST_DIR/slurm.conf
plugin=
if [ -e "$FX_BUILDDIR/.libs/fxtrace-spank.so" ]; then
	plugin=$FX_BUILDDIR/.libs/fxtrace-spank.so
	echo "required $plugin command=$FXTRACE task=$FX_BUILDDIR/spank/fxtrace-task" >plugstack.conf
	echo "PlugStackConfig=$TEST_DIR/plugstack.conf" >>slurm.conf
fi
# shellcheck disable=SC2034 # for lib.sh
at_end='timeout 5 scancel --full -s KILL -u root >/dev/null 2>&1; sleep 1'

munged --foreground --force --key-file="$PWD/munge/key" --socket="$PWD/munge/socket" --pid-file="$PWD/munge/pid" \
	--log-file="$PWD/munge/log" --seed-file="$PWD/munge/seed" >munge/out 2>&1 </dev/null &
wait_for 30 test -S munge/socket || fail "munged does not start: $(cat munge/out)"
"$(daemon slurmctld)" -D >slurmctld.out 2>&1 </dev/null &
for node in n1 n2; do
	"$(daemon slurmd)" -D -N $node >slurmd.$node 2>&1 </dev/null &
done
are_idle() {
	[ "$(sinfo -h -o '%T %D')" = 'idle 2' ]
}
wait_for 60 are_idle || fail "no nodes: $(sinfo 2>&1)"$'\n'"$(tail -n 5 slurmctld.out slurmd.n1)"

# --- Jobs ------------------------------------------------------------------------------------------
cat >says.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts(getenv("LD_PRELOAD") ? "preloaded" : "alone"); return 0; }
EOF
compile says says.c
# Calls without end; SIGTERM is not heard with an argument.
cat >stays.c <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static void leaf(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
	FILE *f;
	if (argc > 2)
		signal(SIGTERM, SIG_IGN);
	for (int i = 0;; i++) {
		for (int j = 0; j < 500; j++)
			leaf();
		if (i == 10 && (f = fopen(argv[argc - 1], "w")))
			fclose(f);
		usleep(20000);
	}
}
EOF
compile stays -O1 -finstrument-functions stays.c

# archives COUNT FOLDER: so many are there, whole; each says the job and the rank that its name has.
archives() {
	local count=0 archive name

	for archive in "$2"/*.fxt*; do
		[ -e "$archive" ] || break
		expect_clean "$archive"
		count=$((count + 1))
	done
	expect_equal "$1" "$count" "archives in $2: $(ls "$2")"
}
# says_job ARCHIVE JOB RANK
says_job() {
	"$FXTRACE" info --json "$1" >info.json
	expect_equal "$2 $3" "$(python3 -c 'import json; a = json.load(open("info.json"))["recorded_by"]; print(a["job"], a["rank"])')" "$1"
}
is_over() {
	[ -z "$(squeue -h -j "$1" 2>/dev/null)" ]
}
# ended JOB: once all that it has started is gone, the managers, too.
ended() {
	wait_for 90 is_over "$1" || fail "job $1 does not end: $(scontrol show job "$1")"
}

expect_ok srun -N2 -n4 "$FXTRACE" run -q -o 'job-%j/%h-%r.fxt.zst' -- ./says
expect_equal 4 "$(grep -c preloaded out)" 'ranks that were traced'
archives 4 job-1
for rank in 0 1 2 3; do
	says_job "job-1/$(uname -n)-$rank.fxt.zst" 1 "$rank"
done
expect_ok srun -N2 -n6 "$FXTRACE" run -q --every 4 --ranks 1,3-3 -o 'job-%j/%h-%r.fxt' -- ./says
expect_equal '2 alone,4 preloaded' "$(sort out | uniq -c | sed 's/^ *//' | paste -sd,)" 'ranks'
archives 4 job-2

# A batch, in which ranks are started, and an array.
echo "#!/bin/sh
srun -n3 $FXTRACE run -q -o 'job-%j/%h-%r.fxt.zst' -- ./says" >batch.sh
expect_ok sbatch -n3 --parsable -o batch.out batch.sh
batch=$(cat out)
echo "#!/bin/sh
exec $FXTRACE run -q -o 'array/%j.fxt' -- ./says" >batch.sh
expect_ok sbatch --array=0-2 --parsable -o array.out batch.sh
array=$(cat out)
# What ends by force: by scancel, by its own time (which Slurm looks at each half minute), or by a requeue, after which it
# begins anew (two minutes later, unless it is told to); programs that hear SIGTERM, and such as do not.
echo "#!/bin/sh
srun -n2 $FXTRACE run -q -o \"\$1/%j-%r.fxt.zst\" -- ./stays \$2 \$1.\$SLURM_RESTART_COUNT" >force
declare -A jobs
hows='cancel requeue'
[ -z "${FX_SLURM_ALL-}" ] || hows="$hows timeout"
for how in $hows; do
	for deaf in '' deaf; do
		options=()
		[ $how != timeout ] || options=(-t0:01)
		# shellcheck disable=SC2086 # no word, if it is empty
		expect_ok sbatch -n2 "${options[@]}" --requeue --parsable -o $how$deaf.out force $how$deaf $deaf
		jobs[$how$deaf]=$(cat out)
	done
done
for name in "${!jobs[@]}"; do
	wait_for 60 test -e "$name." || fail "$name does not run: $(cat $name.out; squeue)"
done
expect_ok scancel "${jobs[cancel]}" "${jobs[canceldeaf]}"
expect_ok scontrol requeue "${jobs[requeue]}"
expect_ok scontrol requeue "${jobs[requeuedeaf]}"
ended "$batch"
archives 3 "job-$batch"
ended "$array"
archives 3 array
# seen FOLDER: each of its archives has the calls up to then.
seen() {
	local archive

	archives "$2" "$1"
	for archive in "$1"/*; do
		list_archive "$archive"
		expect_events 1000+ 'name == "leaf"'
	done
}
# none_left NAME: nothing of it runs.
none_left() {
	! pgrep -f "stays.* $1[.]" >/dev/null
}
for name in cancel canceldeaf; do
	ended "${jobs[$name]}"
	wait_for 30 none_left $name || fail "programs of $name are left"
	seen $name 2
	expect_line 'CANCELLED' $name.out
done
# Once more, now: what was recorded before stays.
is_pending() {
	[ "$(squeue -h -o %T -j "$1")" = PENDING ]
}
for name in requeue requeuedeaf; do
	wait_for 60 is_pending "${jobs[$name]}" || fail "$name is not requeued: $(squeue)"
	wait_for 30 none_left $name || fail "programs of $name are left"
	seen $name 2
	expect_ok scontrol update "JobId=${jobs[$name]}" StartTime=now
	wait_for 60 test -e "$name.1" || fail "$name does not begin anew: $(cat $name.out; squeue)"
	expect_ok scancel "${jobs[$name]}"
	ended "${jobs[$name]}"
	wait_for 30 none_left $name || fail "programs of $name are left"
	seen $name 4
	[ -e "$name/${jobs[$name]}.1-0.fxt.zst" ] || fail "no archive of a second try: $(ls $name)"
done

# --- srun --fxtrace ---------------------------------------------------------------------------------
if [ -n "$plugin" ]; then
	expect_ok srun -n2 --fxtrace ./says
	expect_equal 'preloaded preloaded' "$(paste -sd' ' out)" 'ranks of srun --fxtrace'
	archives 2 fxtrace-*
	expect_ok srun -n4 '--fxtrace=-q --every 2 -o spank/%r.fxt' ./says 'two words'
	expect_equal '2 alone,2 preloaded' "$(sort out | uniq -c | sed 's/^ *//' | paste -sd,)" 'ranks of srun --fxtrace=OPTIONS'
	archives 2 spank
	"$FXTRACE" info spank/0.fxt >info
	expect_line 'says two words' info
	expect_ok srun -n2 ./says
	expect_equal 'alone alone' "$(paste -sd' ' out)" 'ranks of srun without it'
	expect_status 7 srun --fxtrace=-q sh -c 'exit 7'
	# The ranks of a batch, and not its script.
	printf '#!/bin/sh\n./says\nsrun -n2 ./says\n' >batch.sh
	expect_ok sbatch -n2 --wait '--fxtrace=-q -o batch-%j/%r.fxt' --parsable -o batch.out batch.sh
	expect_equal 'alone preloaded preloaded' "$(paste -sd' ' batch.out)" 'a batch with --fxtrace'
	archives 2 "batch-$(head -n 1 out)"
	# What cannot be traced runs as it would.
	expect_ok srun -n1 '--fxtrace=-q -o last.fxt' sh -c 'echo "${FXTRACE_SPANK_PROGRAM-none}"'
	expect_equal none "$(cat out)" 'what the program has of the plugin in its environment'
	echo "required $plugin command=/nowhere/fxtrace" >plugstack.conf
	expect_ok srun -n1 --fxtrace ./says
	expect_equal alone "$(cat out)" 'a rank on a node without fxtrace'
	expect_line 'not traced: this node cannot run /nowhere/fxtrace' err
else
	echo 'left out: built without the SPANK plugin'
fi

# --- Many ranks ------------------------------------------------------------------------------------
ranks=48
[ -z "${FX_SLURM_ALL-}" ] || ranks=1008
for ((first = 0; first < ranks; first += 48)); do
	expect_ok srun -N2 -n48 sh -c "SLURM_PROCID=\$((SLURM_PROCID + $first)) exec '$FXTRACE' run -q --every 4 -o 'many/%r.fxt' -- ./says"
done
archives $(((ranks + 47) / 48 * 12)) many
expect_ok "$FXTRACE" merge -o many.fxt many/*
expect_clean many.fxt

for name in timeout timeoutdeaf; do
	[ -n "${FX_SLURM_ALL-}" ] || break
	ended "${jobs[$name]}"
	wait_for 30 none_left $name || fail "programs of $name are left"
	seen $name 2
	expect_line 'DUE TO TIME LIMIT' $name.out
done
