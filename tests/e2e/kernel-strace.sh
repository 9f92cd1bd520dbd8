#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel beside strace, which follows the same run: of programs in which nothing can be preloaded, static, of musl and of Go, the same calls of
# each thread, one after another, with the same results and errors; of those with one thread also beside perf trace.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 strace
! is_emulated || skip "the emulator knows no performance events"

# compare CALLS THREADS PROGRAM: so many calls of so many threads, at least.
compare() {
	local least=("$1" "$2") beside=(strace -f -o straced)

	shift 2
	rm -f perf
	if [ "${least[1]}" -le 2 ] && command -v perf >/dev/null; then
		beside+=(perf trace -o perf)
	fi
	expect_ok "${beside[@]}" "$FXTRACE" run --kernel -o trace.fxt -- "$@"
	! grep -qE 'is not recorded|are not recorded' err || skip "$(grep -E 'is not recorded|are not recorded' err)"
	! grep -qE 'records? (lost|of --kernel may be missing)' err || skip "the machine is too busy: $(grep -E 'lost|missing' err)"
	expect_clean trace.fxt
	expect_ok "$FXTRACE" query --json trace.fxt "
		select tid, slice.name, category,
			(select int_value from args where args.arg_set_id = slice.arg_set_id and key = 'ret') as ret,
			(select string_value from args where args.arg_set_id = slice.arg_set_id and key = 'ret') as pointer,
			(select string_value from args where args.arg_set_id = slice.arg_set_id and key = 'errno') as errno
		from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) order by ts"
	mv out calls.json
	python3 -B "$FX_SRCDIR/tests/e2e/kernel_calls_agree.py" "${least[@]}" >checked 2>&1 || fail "$*: $(tail -c 2000 checked)"
}

compile static -O1 -static "$FX_SRCDIR/tests/e2e/targets/calls.c" 2>/dev/null || skip "nothing can be linked statically"
compare 120 2 ./static
if command -v musl-gcc >/dev/null && musl-gcc -O1 -o musl "$FX_SRCDIR/tests/e2e/targets/calls.c" 2>musl.err; then
	compare 120 2 ./musl
fi
command -v go >/dev/null || exit 0
cat >reads.go <<'GO'
package main

import (
	"fmt"
	"os"
	"sync"
)

func main() {
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for j := 0; j < 20; j++ {
				os.ReadFile(fmt.Sprintf("/nowhere/%d/%d", i, j))
			}
		}(i)
	}
	all.Wait()
}
GO
GO111MODULE=off GOFLAGS='' timeout 120 go build -o reads reads.go 2>go.err || exit 0
compare 150 3 ./reads
