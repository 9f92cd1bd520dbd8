#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace doctor: each finding of its tables is provoked, one way or another.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer takes more address space than this test leaves"

# doctor STATUS [PROGRAM...]
doctor() {
	expect_status "$1" "$FXTRACE" doctor "${@:2}"
	cat out >>all
	expect_equal 0 "$(wc -c <err)" "bytes on stderr: $(cat err)"
}

FXTRACE_CLOCK=auto doctor 0
expect_line '^this system: (nothing is in the way|the rest will be traced)$' out
if [ "$(uname -m)" = x86_64 ] && source=$(cat "$CLOCKSOURCE" 2>/dev/null) && [ "$source" != tsc ]; then
	expect_line "^this system: note: .*(the processor's counter|CLOCK_BOOTTIME): .* \($source\)" out
else
	expect_line "^this system: note: .*the processor's counter: " out
fi
FXTRACE_CLOCK=boottime doctor 0
expect_line '^this system: note: times are read from the kernel.* \(CLOCK_BOOTTIME: asked for\); cure: ' out
FXTRACE_CLOCK=counter doctor 0
expect_line "^this system: note: .*\(the processor's counter: asked for\)" out
expect_one_error 2 "$FXTRACE" doctor --nonsense

# The kernel's performance events, which --sample and --kernel need.
compile refused "$FX_SRCDIR/tests/e2e/targets/refused.c"
expect_ok ./refused 1 "$FXTRACE" doctor
cat out >>all
expect_line '^this system: note: .*performance events.*; cure: .*perf_event_paranoid' out

# --- Programs that are traced ----------------------------------------------------------------------

echo 'int main(void) { return 0; }' >empty.c
target hooked leaf.c
doctor 0 -- ./hooked 5
expect_equal 1 "$(grep -c '^\./hooked: ' out)" "findings about a program with hooks"
compile plain empty.c
doctor 0 -- ./plain
expect_line '^\./plain: partial: calls of its own .*; cure: .*-finstrument-functions' out
expect_line '^\./plain: the rest will be traced' out
# A library with hooks is enough.
echo 'int part(void) { return 0; }' >part.c
echo 'int part(void); int main(void) { return part(); }' >whole.c
compile libpart.so -shared -fPIC -finstrument-functions part.c
compile whole whole.c "$PWD/libpart.so"
doctor 0 ./whole
expect_no_line 'own functions' out
strip libpart.so
doctor 0 ./whole
expect_line 'libpart.so: partial: .*module\+0x' out

# As GCC's plugin leaves it where the linker has the code made without the plugin (plugin.sh).
cat >promised.c <<'END'
__asm__(".pushsection .note.fxtrace,\"a\",%note\n.balign 4\n.long 8, 0, 4\n.string \"fxtrace\"\n.popsection");
int main(void) { return 0; }
END
compile promised promised.c
doctor 0 ./promised
expect_line '^\./promised: partial: .*linked without the plugin.*; cure: .*-fplugin' out
expect_no_line 'own functions' out

compile profiling -pg empty.c
doctor 0 ./profiling
expect_line 'profiling: note: .*-pg' out
if [ "$(uname -m)" = x86_64 ]; then
	compile room -fpatchable-function-entry=5 empty.c
	doctor 0 ./room
	expect_line 'room: note: .*entries.*--patch' out
	if clang -fxray-instrument -fxray-instruction-threshold=1 -o sleds empty.c 2>/dev/null; then
		doctor 0 ./sleds
		expect_line 'sleds: note: .*begin and end.*--patch' out
		expect_no_line 'sleds: note: .*entries' out
	fi
fi
echo 'void *malloc(unsigned long size) { return (void *)(size & 0); } int main(void) { return 0; }' >own.c
compile own -fno-builtin -w own.c
doctor 0 ./own
expect_line 'own: partial: .*malloc' out
echo 'int prctl(int, ...); int main(void) { return prctl(22, 2, 0L); }' >filters.c
compile filters -w filters.c
doctor 0 ./filters
expect_line 'filters: partial: .*seccomp filter.* are not traced; cure: ' out
expect_line '^\./filters: the summary of a run tells what is missing' out
expect_no_line 'the rest will be traced' out
need objcopy
echo note >note
objcopy --add-section .note.go.buildid=note plain go
doctor 0 ./go
expect_line 'go: partial: .*Go' out

# Scripts: their interpreter.
mkdir bin
printf '#! %s -x\n' "$PWD/go" >script
printf '#!/usr/bin/env go\n' >by_env
cp go bin
chmod +x script by_env
doctor 0 ./script
expect_line "^$PWD/go: partial: .*Go" out
PATH=$PWD/bin:$PATH doctor 0 ./by_env
expect_line "^$PWD/bin/go: partial: .*Go" out

# --- Programs that are not -------------------------------------------------------------------------

doctor 1 nothing-like-this
expect_line 'no such program' out
doctor 1 "$FXTRACE"
expect_line 'fxtrace: no trace: it is fxtrace itself' out
doctor 1 ./empty.c
expect_line 'no file that may be run' out
# In a copy, the bytes of the class and of the machine.
cp plain class && printf '\1' | dd of=class bs=1 seek=4 conv=notrunc status=none
doctor 1 ./class
expect_line '32-bit' out
cp plain machine && printf '\24\0' | dd of=machine bs=1 seek=18 conv=notrunc status=none
doctor 1 ./machine
expect_line 'another kind of machine' out
compile musl -Wl,--dynamic-linker=/lib/ld-musl-none.so.1 empty.c
doctor 1 ./musl
expect_line 'another C library' out
echo >nothing.c
compile libasan.so -shared nothing.c
LD_PRELOAD=$PWD/libasan.so doctor 1 ./plain
expect_line 'plain: no trace: LD_PRELOAD names a sanitizer' out
$FX_CC -static -o static empty.c 2>/dev/null || fail "no static libc"
doctor 1 ./static
expect_line '^\./static: no trace: .*statically.*; cure: link it dynamically, or see by --sample ' out
# Valgrind's tools lie where no other program does.
$FX_CC -static -no-pie -Wl,-Ttext-segment=0x58000000 -o tool empty.c || fail "no program at an address of its own"
doctor 1 ./tool
expect_line '^\./tool: no trace: it is valgrind' out
# clang links it statically unless told otherwise, and that is traced.
$FX_CC -fsanitize=address -shared-libasan -o sanitized empty.c 2>/dev/null ||
	$FX_CC -fsanitize=address -o sanitized empty.c 2>/dev/null
if readelf -d sanitized 2>/dev/null | grep -q 'NEEDED.*asan'; then
	doctor 1 ./sanitized
	expect_line 'sanitized: no trace: .*sanitizer' out
fi
if [ "$(id -u)" -eq 0 ] && [ -z "$(findmnt -n -o OPTIONS -T . 2>/dev/null | grep -w nosuid)" ]; then
	cp plain other && chown 65534 other && chmod 4755 other
	doctor 1 ./other
	expect_line 'other: no trace: .*set-user-ID' out
fi

# --- The environment and the machine ---------------------------------------------------------------

FXTRACE_DISABLE=1 doctor 1
expect_line 'unset FXTRACE_DISABLE' out
FXTRACE_NO_FOLLOW=1 doctor 0
expect_line 'children will not be traced' out
(ulimit -v 60000; "$FXTRACE" doctor) >out
expect_line 'address space' out
cat out >>all
mkdir 'a folder'
cp "$FXTRACE" "$LIBFXTRACE" 'a folder'
mkdir -p 'a folder/.libs' && cp "$LIBFXTRACE" 'a folder/.libs'
FXTRACE='a folder/fxtrace' doctor 1
expect_line 'LD_PRELOAD cannot express' out
mkdir -p alone && cp "$FXTRACE" alone
# Where it is installed as well it is found there.
place=$(printf 'include Makefile\nprint-place: ; @echo $(pkglibdir)\n' | env -u MAKEFLAGS make -s -C "$FX_BUILDDIR" -f - print-place)
if [ -e "$place/libfxtrace.so" ] || ldconfig -p 2>/dev/null | grep -q 'libfxtrace\.so '; then
	touch installed
else
	"$PWD/alone/fxtrace" doctor >out
	expect_equal 1 $? 'the status without a library'
	expect_line 'libfxtrace.so is not beside' out
	cat out >>all
fi
# A library that is none: the trial tells.
mkdir broken broken/.libs && cp "$FXTRACE" broken && echo >broken/.libs/libfxtrace.so
FXTRACE=$PWD/broken/fxtrace doctor 1
expect_line 'trial run was not traced' out
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && mkdir -m 755 closed
	if setpriv --reuid=65534 --regid=65534 --clear-groups "$FXTRACE" --version >out 2>&1; then
		(cd closed && setpriv --reuid=65534 --regid=65534 --clear-groups "$FXTRACE" doctor) >out
		expect_line 'fxtrace.fxt cannot be written' out
		cat out >>all
	fi
fi

# A kernel that has nothing of what is needed.
cat >old.c <<'EOF'
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
int memfd_create(const char *name, unsigned flags) { return errno = ENOSYS, -1; }
int madvise(void *at, size_t size, int advice) { return errno = EINVAL, -1; }
long syscall(long number, ...) { return errno = ENOSYS, -1; }
FILE *fopen(const char *path, const char *mode) { return NULL; }
EOF
compile old.so -shared -fPIC -w old.c
LD_PRELOAD=$PWD/old.so "$FXTRACE" doctor >out
expect_equal 1 $? "status on an old kernel"
for what in 'can be sealed' MADV_WIPEONFORK pidfd_open 'times are read from'; do
	expect_line "this system: .*$what" out
done
cat out >>all

# --- JSON ------------------------------------------------------------------------------------------

expect_status 1 env LD_PRELOAD="$PWD/old.so" "$FXTRACE" doctor --json -- ./plain
if command -v python3 >/dev/null; then
	python3 - >found <<'EOF' || fail "doctor --json prints no JSON: $(cat out)"
import json
said = json.load(open("out"))
print(said["program"], said["can_record"], said["verdict"])
for f in said["findings"]:
    print(f["subject"], f["level"], f["what"], "cure" in f)
EOF
	expect_line '^\./plain False nothing can be recorded$' found
	expect_line '^\./plain partial calls of its own functions .* True$' found
	expect_line '^this system no trace the kernel has no memory files' found
fi

# --- The tables ------------------------------------------------------------------------------------

# Every text of the tables has been printed by now, but for what this machine or user cannot provoke.
{
	printf '#define FX_FACT(id, level, what, cure) what\n#define FX_OBSTACLE(id, c, what, cure) what\n'
	cat "$FX_SRCDIR/client/facts.def" "$FX_SRCDIR/base/loadable.def"
} >tables.c
$FX_CC -E -P tables.c | sed 's/" *"//g; s/^"//; s/"$//' | grep . >texts
expect_equal "$(grep -cE '^FX_(FACT|OBSTACLE)\(' tables.c)" "$(wc -l <texts)" "texts of the tables"
printf '%s\n' 'its file has capabilities, and preloading is refused to such programs' >excused
# The affair of whoever starts it (unharmed.sh, seccomp-exec.sh, containers.sh).
grep -e 'a network of its own' -e 'cannot be read from where it starts' -e 'its address space or its data is limited' -e 'the seccomp filter that it starts under' texts >>excused
[ -e sanitized ] || grep 'sanitizer' texts >>excused
# Where nothing is refused, or not this alone (kernel-harmless.sh).
grep -q 'tracepoints are not to be had' all || grep 'tracepoints are not to be had' texts >>excused
grep -q 'samples (--sample) will not show' all || grep 'samples (--sample) will not show' texts >>excused
[ ! -e installed ] || grep 'libfxtrace.so is not beside' texts >>excused
[ -e other ] || grep 'set-user-ID' texts >>excused
[ -e closed ] || grep 'cannot be written here' texts >>excused
while IFS= read -r text; do
	grep -qF "$text" all || grep -qxF "$text" excused || fail "nothing provokes: $text"
done <texts
