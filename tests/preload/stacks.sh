#!/bin/bash
# SPDX-License-Identifier: MIT
# --stacks: calls say who made them.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# Optimised, without frame pointers; and each kind of exit that hides a caller left out.
compile stacks -O2 -fomit-frame-pointer -fno-optimize-sibling-calls "$FX_SRCDIR/tests/preload/targets/stacks.c" -ldl
cat >call_back.c <<'EOF'
void call_back(void (*function)(void))
{
	function();
	__asm__ __volatile__("");
}
EOF
compile call_back.so -shared -fPIC -O2 call_back.c

# stacks_of NAME: the stacks of the calls of this name, one a line, in the order of the archive.
stacks_of() {
	"$FXTRACE" dump --json trace.fxt >dump.json || fail "dump"
	python3 - "$1" <<'EOF'
import json, sys
for line in open("dump.json"):
    record = json.loads(line)
    if record["kind"] == "event" and record.get("name") == sys.argv[1]:
        stacks = [arg["value"] for arg in record.get("args", []) if arg["name"] == "stack"]
        print(" ".join(stacks).replace("\n", " ") or "-")
EOF
}

# expect_stack NAME STACK...: the calls of this name had these stacks, up to main.
expect_stack() {
	stacks_of "$1" | sed 's/ __libc_start.*//; s/ [^ ]*start_thread.*//; s/ libc[^ ]*+0x.*//' >got
	shift
	printf '%s\n' "$@" >want
	expect_same_file want got
	expect_clean trace.fxt
}

need python3
stacks() {
	local options=$1

	shift
	# shellcheck disable=SC2086 # several options
	expect_ok "$FXTRACE" run $options -o trace.fxt -- ./stacks "$@"
}

stacks '--stacks syscall' path
expect_stack write 'innermost path path path path main'
expect_stack open main
stacks '' path
expect_stack write -
stacks '--stacks pthread,malloc' path
expect_stack write -
stacks '--stacks syscall' thread
expect_stack write 'innermost thread_main'
# Before glibc 2.35 a module that comes later is unnamed, and its stack is walked by frame pointers (doc/REQUIREMENTS.md).
finds_later() {
	glibc_since 35
}
if finds_later; then
	stacks '--stacks syscall' late "$PWD/call_back.so"
	expect_stack write 'innermost call_back main'
else
	echo "the stacks of modules that come later are not looked at"
fi
# Stacks and frame sizes of a module that is gone are not those of the next one at its addresses.
for which in first second; do
	cat >$which.c <<'EOF'
static __attribute__((noinline)) void through(void (*function)(void))
{
	volatile char space[SPACE];

	space[0] = 1;
	function();
	__asm__ __volatile__("" ::"m"(space[0]));
}
void call_back(void (*function)(void))
{
	through(function);
	__asm__ __volatile__("");
}
EOF
	compile $which.so -shared -fPIC -O2 -Dthrough=through_$which \
		-DSPACE="$([ $which = first ] && echo 8 || echo 80)" $which.c
done
if finds_later; then
	stacks '--stacks syscall' reloaded ./first.so ./second.so ./second.so ./first.so
	places=$(sort -u out | wc -l)
	# An emulator gives no address twice; then none can be mistaken.
	! is_emulated || [ "$places" -ne 4 ] || places=1
	expect_equal 1 "$places" "places of modules"
	expect_stack write 'innermost through_first call_back main' 'innermost through_second call_back main' \
		'innermost through_second call_back main' 'innermost through_first call_back main'
fi
stacks '--stacks syscall' handler
stacks_of write | head -n 1 >got
expect_line '^innermost in_handler .*raise.* main ' got
FXTRACE_STACKS=syscall stacks '' path
expect_stack write 'innermost path path path path main'

# Longer calls alone. How long the second one takes is the machine's to say; one that is below is found in a few runs.
needless=0
for _ in 1 2 3 4 5 6 7 8; do
	stacks '--stacks syscall:10ms' slow
	"$FXTRACE" dump --json trace.fxt | python3 -c '
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    if record["kind"] == "event" and record.get("name") == "nanosleep":
        stacks = [arg["value"] for arg in record["args"] if arg["name"] == "stack"]
        print(record["end"] - record["ts"] >= 10000000, bool(stacks))
' >got
	expect_equal 'True True' "$(head -n 1 got)" "a long call, and its stack"
	expect_equal '' "$(grep -vxE 'True True|False False' got)" "calls with a stack, or without, against their length"
	needless=$((needless + $(grep -cx 'False False' got)))
	[ "$needless" -eq 0 ] || break
done
[ "$needless" -gt 0 ] || fail "no call was short"

# Each of 65536 stacks, more than have an index of their own; in buffers that are too small for them too.
for options in '-b 64M --on-full block' '-b 64K --on-full block' '-b 8K --on-full block' '-b 64K' \
	'-b 64K -m circular' '-b 256K -m oneshot'; do
	stacks "--stacks syscall $options" many
	expect_clean trace.fxt
	expect_no_line 'malformed|forbidden' err
	stacks_of write >got
	expect_equal '' "$(grep -vE '^innermost( path){17} main |^-$' got | head -n 3)" "stacks with $options"
	case $options in
	*block) expect_equal 65536 "$(wc -l <got)" "writes with $options" ;;
	esac
done
stacks '--stacks syscall -b 64M --on-full block' many
expect_equal 0 "$(stacks_of write | grep -c '^-$')" "writes without a stack"

# No lock is taken: not that of dlopen() either.
expect_ok timeout 60 "$FXTRACE" run --stacks '*' -o trace.fxt -- ./stacks beside "$PWD/call_back.so"
expect_clean trace.fxt

# A stack that goes through code without unwind information ends there, and nothing else does.
expect_unharmed 0 ./stacks path
FXTRACE_STACKS='*' expect_unharmed 0 python3 -c 'import threading, json
t = threading.Thread(target=lambda: print(json.dumps([1])))
t.start()
t.join()'

# As a viewer shows it.
stacks '--stacks syscall' path
expect_ok "$FXTRACE" convert trace.fxt trace.json
expect_line 'innermost\\npath\\npath' trace.json
expect_ok "$FXTRACE" convert trace.fxt trace.pftrace

expect_one_error 2 "$FXTRACE" run --stacks nonsense -- true
expect_one_error 2 "$FXTRACE" run --stacks '' -- true
expect_one_error 2 "$FXTRACE" run --stacks syscall: -- true
