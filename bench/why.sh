#!/bin/bash
# SPDX-License-Identifier: MIT
# The bar of `fxtrace why' and of the histories of `fxtrace report': processor time and memory, of an archive of FX_BENCH_WHY_MB
# (1000) megabytes of threads that wait for one another millions of times; with functions recorded, and without.
set -u

B=${FX_BUILDDIR:?}
DIR=$(mktemp -d) || exit 99
trap 'rm -rf "$DIR"' EXIT
megabytes=${FX_BENCH_WHY_MB:-1000}
failed=0

# record CATEGORIES ROUNDS
record() {
	"$B/fxtrace" run -q -c "$1" --on-full block -o "$DIR/waits.fxt" -- "$B/bench/waits" "$2" || exit 99
}

# bar NAME COMMAND...: seconds of the processor, and megabytes that were resident at most.
bar() {
	local name=$1

	shift
	python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
sys.exit(status)' "$@" >"$DIR/usage" || exit 99
	awk -v name="$name" '{
		met = $1 < 20 && $2 < 1000
		printf "%-48s %6.1f s %8.0f MB resident  bar 20 and 1000  %s\n", name, $1, $2, met ? "met" : "NOT MET"
		exit !met
	}' "$DIR/usage" || failed=1
}

for categories in '#default,function' '#default'; do
	record "$categories" 2000
	rounds=$((megabytes * 1000000 / ($(stat -c %s "$DIR/waits.fxt") / 2000)))
	record "$categories" "$rounds"
	size=$(($(stat -c %s "$DIR/waits.fxt") / 1000000))
	bar "why: $size MB, -c $categories" "$B/fxtrace" why "$DIR/waits.fxt"
	bar "report --lock: $size MB, -c $categories" "$B/fxtrace" report --lock lock "$DIR/waits.fxt"
done
exit "$failed"
