#!/bin/bash
# SPDX-License-Identifier: MIT
# Where preloaded tracers have been known to break the program or to miss it: doc/PITFALLS.md says which
# function here shows what.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

targets=$FX_SRCDIR/tests/e2e/targets

# --- Symbols ---------------------------------------------------------------------------------------

# What a program has not, it has not because of us: it asks whether the symbol is defined.
weak_symbols() {
	compile weak -O1 -fPIE -pie "$targets/weak.c"
	expect_unharmed 0 ./weak
	expect_line '^mallctl: not there$' traced.out
	echo 'void fxtrace_begin(void) { }' >defines.c
	compile libdefines.so -shared -fPIC defines.c
	LD_PRELOAD=$PWD/libdefines.so ./weak >out
	expect_line '^fxtrace_begin: there$' out
}

# Bound at once and without a table to patch, or by the library to itself: the calls to libc are seen.
bound_early() {
	local how

	for how in '-fno-plt -Wl,-z,now' '-Wl,-Bsymbolic -Wl,-z,now' '-fno-semantic-interposition -O2'; do
		# shellcheck disable=SC2086 # several options
		compile libpart.so -w -DPART -shared -fPIC $how "$targets/bound.c"
		# shellcheck disable=SC2086
		compile bound -fPIE -pie ${how/-Wl,-Bsymbolic/} "$targets/bound.c" -ldl
		expect_unharmed 3 ./bound "$PWD/libpart.so"
		list_archive trace.fxt
		expect_events 1 'name == "open" && has("path=/no/such/part") && has("errno=ENOENT")'
		expect_events 1 'name == "open" && has("path=/no/such/program")'
	done
}

# A library that is told to look at itself and its own libraries first passes us by; memory that goes to and fro
# is the same memory, and the archive says which library it was.
deep_binding() {
	compile libpart.so -w -DPART -shared -fPIC "$targets/bound.c"
	compile bound "$targets/bound.c" -ldl
	expect_unharmed 3 ./bound "$PWD/libpart.so" deep
	list_archive trace.fxt
	expect_events 1 'name == "dlopen" && /RTLD_DEEPBIND/ && /libpart.so/'
	expect_events 1 'name == "open" && has("path=/no/such/program")'
	expect_events 0 'has("path=/no/such/part")'
}

# clang tells of no exit when an exception passes. What was left is closed by what is called next, whatever its frame,
# at the latest when the function that caught it returns: no call is missing, and nothing else is out of place.
clang_exceptions() {
	# Under an emulator clang++ is this machine's, and so were what it makes.
	! is_emulated && command -v clang++ >/dev/null || return 0
	FX_CXX=clang++ compile throws -O1 -w -finstrument-functions "$targets/throws.cc"
	expect_unharmed 0 ./throws
	"$FX_BUILDDIR/tests/e2e/calltree" archive trace.fxt | grep ' shapes::' | grep -v 'std::' >calls
	expect_equal 'caught 2, middle 1, deep 8, ~Guard 5, roomy 1, after 13' \
		"$(for name in caught middle deep '~Guard' roomy after; do
			printf '%s %s, ' "$name" "$(grep -cF "::$name(" calls)"
		done | sed 's/, $//')" "calls"
	expect_equal '1 1 shapes::caught(), 1 1 shapes::thrown_again(), 1 1 shapes::after()' \
		"$(grep '^1 1 shapes' calls | head -n 3 | paste -sd, | sed 's/,/, /g')" "calls of main"
	expect_equal 1 "$(grep -cxF '1 2 shapes::roomy()' calls)" "calls of a large frame beside what was left"
	expect_equal 0 "$(grep -c '^1 [6-9]' calls)" "calls that nest too deep"
}

# --- Allocators ------------------------------------------------------------------------------------

# near WANT GOT SLACK WHAT
near() {
	local difference=$(($2 - $1))

	[ "${difference#-}" -lt "$3" ] || fail "$4: $2, really $1"
}

# heap_is: the last of the counters agrees with what ./allocates says that it has kept.
heap_is() {
	local bytes blocks last

	read -r _ bytes blocks <traced.out
	"$FXTRACE" dump trace.fxt >dump
	last=$(grep 'type=counter.*name="heap"' dump | tail -n 1)
	near "$bytes" "$(sed 's/.*"bytes":[a-z0-9]*=\(-*[0-9]*\).*/\1/' <<<"$last")" 1500000 "bytes of $1"
	near "$blocks" "$(sed 's/.*"blocks":[a-z0-9]*=\(-*[0-9]*\).*/\1/' <<<"$last")" 700 "blocks of $1"
}

allocators() {
	local library

	for library in '' -ljemalloc -ltcmalloc_minimal -l:libtcmalloc_minimal.so.4 -lmimalloc; do
		# shellcheck disable=SC2086 # none or one
		$FX_CC -O1 -fno-builtin -fPIE -pie -o allocates "$targets/allocates.c" -pthread \
			-Wl,--no-as-needed $library 2>/dev/null || continue
		expect_unharmed 0 ./allocates
		expect_same_file plain.err traced.err
		[ -z "$library" ] || expect_no_line '^libc' traced.out
		heap_is "${library:-libc}"
		"$FXTRACE" run -q -c '*' -o trace.fxt -- ./allocates >traced.out
		expect_same_file plain.out traced.out
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 8000+ 'name == "aligned_alloc"'
	done
}

# An allocator inside the program is the program's: unharmed, and doctor says that it is not seen.
static_allocator() {
	compile ownheap -D_GNU_SOURCE -w -O1 -fno-builtin "$targets/ownheap.c"
	expect_unharmed 0 ./ownheap
	"$FXTRACE" run -q -c '*' -o trace.fxt -- ./ownheap >traced.out || fail "every category: $(cat traced.out)"
	expect_same_file plain.out traced.out
	LD_PRELOAD=$LIBFXTRACE FXTRACE_OUTPUT=private.fxt ./ownheap >traced.out || fail "alone: $(cat traced.out)"
	expect_same_file plain.out traced.out
	is_emulated || wait_for 10 test -s private.fxt || fail "no archive of a program with a setenv of its own"
	$FX_CC -O1 -fno-builtin -fPIE -pie -o allocates "$targets/allocates.c" -pthread \
		-l:libjemalloc_pic.a -lm -ldl -lstdc++ 2>/dev/null || return 0
	expect_unharmed 0 ./allocates
	expect_line '^jemalloc' traced.out
	"$FXTRACE" doctor ./allocates >doctor
	expect_line 'partial: .*malloc' doctor
}

# --- Processes -------------------------------------------------------------------------------------

# One thread, no child of ours, and memory that may be locked.
alone() {
	compile namespaces -D_GNU_SOURCE -O1 "$targets/namespaces.c"
	./namespaces >plain.out
	# What is locked counts whole against a limit, our memory too; it may be made small.
	expect_ok "$FXTRACE" run -q -b 512K -o trace.fxt -- ./namespaces
	expect_same_file plain.out out
	expect_line '^deaths: 0 ' out
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'name == "unshare" && /CLONE_NEWUSER/'
	expect_events 1 'name == "open" && has("path=/no/such/locked")'
	# Nor where the process has started its manager itself.
	if ! is_emulated; then
		LD_PRELOAD=$LIBFXTRACE FXTRACE_OUTPUT=private.fxt FXTRACE_BUFFER_SIZE=512K ./namespaces >traced.out 2>traced.err
		expect_same_file plain.out traced.out
		wait_archive private.fxt || fail "no archive of a private manager"
	fi
	if ! is_emulated && unshare -Ur true 2>/dev/null; then
		expect_unharmed 0 unshare -Ur id -u
		list_archive trace.fxt
		grep -q '	id$' processes || fail "no process in the namespace: $(cat processes)"
	fi
}

daemons() {
	local how ways=loop

	! glibc_since 34 || ways+=' closefrom close_range'
	compile daemon -D_GNU_SOURCE -w "$targets/daemon.c"
	for how in $ways; do
		expect_unharmed 0 ./daemon "$how"
		expect_equal 'wrong 0, child 5' "$(cat traced.out)" "daemon that closes by $how"
		list_archive trace.fxt
		expect_events 1 'name == "open" && has("path=/no/such/daemon")'
		expect_events 1 'name == "open" && has("path=/no/such/child")'
		expect_events 38 'name == "write" && has("count=1")'
	done
}

thousand_threads() {
	target crowd crowd.c
	expect_unharmed 0 ./crowd
	# Each holds a piece of the buffer while it lives: the default has room for fewer, and the summary says so.
	expect_ok "$FXTRACE" run -o trace.fxt -- ./crowd
	cp err summary
	list_archive trace.fxt
	[ "$(count_events 'name == "member"')" -eq 1000 ] || expect_line 'records lost .* --buffer-size' summary
	expect_equal 1001 "$(grep -c 'crowd' threads)" "threads in the archive"
	expect_ok "$FXTRACE" run -q -b 64M -o trace.fxt -- ./crowd
	list_archive trace.fxt
	expect_events 1000 'name == "open" && /path=.no.such/ && has("errno=ENOENT")'
	expect_events 1000 'name == "member"'
	expect_equal 1001 "$(grep -c 'crowd' threads)" "threads in the archive"
}

# What a program asks about seccomp is no filter yet; libseccomp asks so in each of its users.
seccomp_questions() {
	cat >questions.c <<'END'
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	printf("%d\n", prctl(PR_GET_SECCOMP));
	printf("%ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL));
	printf("%ld\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0));
	return open("/no/such/answer", O_RDONLY) != -1;
}
END
	compile questions questions.c
	expect_unharmed 0 ./questions
	list_archive trace.fxt
	expect_events 1 'name == "open" && has("path=/no/such/answer")'
}

# --- Memory ----------------------------------------------------------------------------------------

# What we map for records is in no core dump, and lies in no file of /dev/shm.
mapped_memory() {
	expect_ok "$FXTRACE" run -q -o trace.fxt -- cat /proc/self/smaps
	expect_no_line '/dev/shm' out
	awk '/^[0-9a-f]+-/ { ours = / \/memfd:/; seen += ours; name = $0 }
		ours && /^VmFlags:/ && !/ dd/ { print name }
		END { if (!seen) print "no memory of ours" }' out >dumped
	expect_equal '' "$(cat dumped)" "in a core dump"
}

# A core dump is as large as without us, but for the library.
core_dump() {
	local plain traced

	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || return 0
	mkdir -p plain_core traced_core
	{ (cd plain_core && ulimit -c unlimited && sh -c 'kill -SEGV $$'); } 2>/dev/null
	# (A tracer that is built with AddressSanitizer forbids cores, for its children too.)
	(cd traced_core && ulimit -c unlimited && ASAN_OPTIONS=${ASAN_OPTIONS-}:disable_coredump=0 "$FXTRACE" run -q -b 64M -o trace.fxt -- sh -c 'kill -SEGV $$')
	plain=$(du -k --apparent-size plain_core/core* 2>/dev/null | cut -f1)
	traced=$(du -k --apparent-size traced_core/core* 2>/dev/null | cut -f1)
	[ -n "$plain" ] || return 0
	[ -n "$traced" ] || fail "no core of the traced program"
	# The tables of the library are in it, as holes; 64 MB of buffer are not.
	[ "$traced" -lt $((plain + 10000)) ] || fail "a core of $traced KiB instead of $plain KiB"
}

# --- The network -----------------------------------------------------------------------------------

# Nobody is asked for symbols while a program is traced, though it keeps its variable.
no_downloads() {
	cat >listen.py <<'END'
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
while True:
    s.accept()
    open("asked", "w").close()
END
	command -v python3 >/dev/null || return 0
	python3 listen.py >port &
	wait_for 10 test -s port || fail "nobody listens"
	target leaf leaf.c
	cp leaf stripped && strip stripped
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
	DEBUGINFOD_CACHE_PATH=$PWD/cache
	export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	expect_ok "$FXTRACE" run -q --stacks syscall -o trace.fxt -- sh -c './stripped; env'
	expect_line '^DEBUGINFOD_URLS=http' out
	unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	[ ! -e asked ] || fail "a server of symbols was asked"
	kill "$!"
	list_archive trace.fxt
	expect_events 2 'process == "stripped" && category == "function"'
}

# Before glibc 2.34 the tracer brings libpthread along (doc/REQUIREMENTS.md).
glibc_since 34 && weak_symbols
bound_early
deep_binding
clang_exceptions
allocators
static_allocator
alone
daemons
seccomp_questions
thousand_threads
is_emulated || { mapped_memory; core_dump; } # it keeps no memory out of its cores, which are its own
no_downloads
