#!/bin/bash
# SPDX-License-Identifier: MIT
# How long `fxtrace where' holds a thread that computes, while others want the processors, too: of FX_BENCH_LOOKS (100) looks how many
# stopped it at all, the median, the longest, and how many were over the bar of 5 ms; as root, and as a user without rights; with a
# stack that the kernel's profiler copies, and with one that is too deep for that, so that the thread has to be stopped. Fails if one that is
# stopped by root is held longer, or if none was stopped: for others it goes with what else the machine does.
set -u

B=${FX_BUILDDIR:?}
DIR=$(mktemp -d) || exit 99
looks=${FX_BENCH_LOOKS:-100}
failed=0
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$DIR"' EXIT
chmod 755 "$DIR"

cat >"$DIR/busy.c" <<'END'
int main(int argc, char **argv)
{
	volatile char deep[argc > 1 ? 1 << 18 : 1];

	for (volatile unsigned long i = 0;; i++)
		deep[0] = argv[0][0];
}
END
${CC:-cc} -O1 -o "$DIR/busy" "$DIR/busy.c" || exit 99

# measure NAME DEEP COMMAND...: looks by what begins with the command, at a program that is started so.
measure() {
	local name=$1 deep=$2 busy

	shift 2
	# shellcheck disable=SC2086 # a word, or none
	"$@" "$DIR/busy" $deep &
	busy=$!
	pids+=("$busy")
	for _ in $(seq "$looks"); do
		"$@" "$B/fxtrace" where -v "$busy" 2>&1 >/dev/null | awk '/ms at most$/ { print $(NF - 3), !/ 0 threads/ }'
	done | sort -n | awk -v name="$name${deep:+, deep}" '{
		held[NR] = $1
		stopped += $2
		over += $1 > 5
	}
	END {
		printf "%-56s stopped %3d of %d  median %6.2f ms  longest %6.2f ms  over 5 ms %3d  bar 0  %s\n", name, stopped, NR,
			held[int((NR + 1) / 2)], held[NR], over, over ? "NOT MET" : "met"
	}' | tee "$DIR/said"
	case $name in
	*'without rights') ;;
	*) [ "$(id -u)" -ne 0 ] || ! grep -q 'NOT MET' "$DIR/said" || failed=1 ;;
	esac
	[ -z "$deep" ] || ! grep -q "stopped   0" "$DIR/said" || failed=1
	kill -9 "$busy"
	wait "$busy" 2>/dev/null || :
}

# as NAME: with and without rights.
as() {
	for deep in '' deep; do
		measure "$1" "$deep" env
		[ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null ||
			measure "$1, without rights" "$deep" setpriv --reuid 65534 --regid 65534 --clear-groups
	done
}
as 'where: a thread held'
for _ in $(seq $((2 * $(nproc)))); do
	"$DIR/busy" &
	pids+=($!)
done
as 'where: a thread held, twice as many compute'
exit "$failed"
