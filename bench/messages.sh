#!/bin/bash
# SPDX-License-Identifier: MIT
# bench/messages.sh: arrows from who wrote to who read, until there are ARROWS of them (a million): of tests/e2e/targets/messages.c,
# with 1 to 64 writers and readers over all kinds of channels, as it comes;
# eventfds among them. None may be wrong. SEED makes the same runs again.
set -eu

arrows=${ARROWS:-1000000}
seed=${SEED:-$(date +%N | sed 's/^0*//')}
kinds=(pipe fifo stream seqpacket datagram unix seqpath unixdg unixdgc tcp4 tcp6 udp4 udp4c udp6 udp6c mq msg event eventsem)
RANDOM=$seed
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
${FX_CC:-gcc} -O1 -D_GNU_SOURCE -pthread -o messages "${FX_SRCDIR:?}/tests/e2e/targets/messages.c"
runs=0 all_reads=0 all_found=0 all_wrong=0
while [ "$all_found" -lt "$arrows" ]; do
	kind=${kinds[RANDOM % ${#kinds[@]}]}
	how=turns what=
	[ $((RANDOM % 3)) -gt 0 ] || how=free
	case $kind in
	event*) how=turns ;; # who wrote what is not in the number
	esac
	case $((RANDOM % 8))-$how in
	0-*) what='kill' ;;
	1-free) what=flood ;;
	2-turns) what=unseen-writer ;;
	esac
	set -- "$kind" $how $((RANDOM)) $((RANDOM % 64 + 1)) $((RANDOM % 64 + 1)) 20000 $what
	timeout 300 "${FX_BUILDDIR:?}/fxtrace" run -q -c syscall,process,message --on-full block -o trace.fxt -- ./messages "$@" >log 2>said ||
		{ echo "seed $seed: messages $*: $(cat said)"; exit 1; }
	"$FX_BUILDDIR/fxtrace" dump trace.fxt >dump
	read -r reads found wrong _ < <(python3 "$FX_SRCDIR/tests/e2e/messages_agree.py" dump log some 2>differs) ||
		{ echo "seed $seed: messages $*: $(cat differs)"; exit 1; }
	runs=$((runs + 1)) all_reads=$((all_reads + reads)) all_found=$((all_found + found)) all_wrong=$((all_wrong + wrong))
	[ "$wrong" -eq 0 ] || echo "seed $seed: messages $*: $wrong arrows are wrong: $(head -n 5 differs)"
	[ -z "${VERBOSE-}" ] || echo "messages $*: $found of $reads, $wrong wrong; $all_found in all"
done
echo "$runs runs, $all_reads reads, $all_found with an arrow, $all_wrong wrong"
[ "$all_wrong" -eq 0 ]
