# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For what merges many archives, behind lib.sh: how much memory that takes.
# shellcheck disable=SC2154 # of lib.sh

cat >loop.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static int leaf(int i) { __asm__ volatile(""); return i; }
int main(int argc, char **argv) { int n = 0; for (int i = 0; i < atoi(argv[argc - 1]); i++) n += leaf(i); return n == 1; }
END
compile loop -O1 -finstrument-functions loop.c

# merged_memory CALLS COUNT [EXTENSION]: merges so many archives of so many calls each; KiB resident.
merged_memory() {
	local extension=${3-.fxt.zst} i

	rm -rf parts
	mkdir parts
	"$FXTRACE" run -q --on-full block -o "parts/1$extension" -- ./loop "$1"
	for ((i = 2; i <= $2; i++)); do
		cp "parts/1$extension" "parts/$i$extension"
	done
	python3 - "$FXTRACE" <<'END'
import glob, resource, subprocess, sys
subprocess.run([sys.argv[1], "merge", "-o", "/dev/null", *sorted(glob.glob("parts/*"))], stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
