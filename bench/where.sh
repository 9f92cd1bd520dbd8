#!/bin/bash
# SPDX-License-Identifier: MIT
# How long `fxtrace where' holds a thread that computes, while others want the processors, too: of FX_BENCH_LOOKS (100) looks the
# median, the longest, and how many were over the bar of 5 ms; as root, and as a user without rights. Figures of a moment: they
# go with what else the machine does.
set -u

B=${FX_BUILDDIR:?}
DIR=$(mktemp -d) || exit 99
looks=${FX_BENCH_LOOKS:-100}
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$DIR"' EXIT
chmod 755 "$DIR"

cat >"$DIR/busy.c" <<'END'
int main(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}
END
${CC:-cc} -O1 -o "$DIR/busy" "$DIR/busy.c" || exit 99

# measure NAME COMMAND...: looks by what begins with the command, at a program that is started so.
measure() {
	local name=$1 busy

	shift
	"$@" "$DIR/busy" &
	busy=$!
	pids+=("$busy")
	for _ in $(seq "$looks"); do
		"$@" "$B/fxtrace" where -v "$busy" 2>&1 >/dev/null | awk '/ms at most$/ { print $(NF - 3) }'
	done | sort -n | awk -v name="$name" '{
		held[NR] = $1
		over += $1 > 5
	}
	END {
		printf "%-44s median %6.2f ms  longest %6.2f ms  over 5 ms %3d of %d  bar 0  %s\n", name,
			held[int((NR + 1) / 2)], held[NR], over, NR, over ? "NOT MET" : "met"
	}'
	kill -9 "$busy"
	wait "$busy" 2>/dev/null || :
}

# as NAME: with and without rights.
as() {
	measure "$1" env
	[ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null ||
		measure "$1, without rights" setpriv --reuid 65534 --regid 65534 --clear-groups
}
as 'where: a thread held'
for _ in $(seq $((2 * $(nproc)))); do
	"$DIR/busy" &
	pids+=($!)
done
as 'where: a thread held, twice as many compute'
