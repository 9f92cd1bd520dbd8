#!/bin/bash
# SPDX-License-Identifier: MIT
# The traced program has nothing that it has not without the tracer, gets the errors that it would
# get, and what cannot be traced runs all the same, with a word on why.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target state state.c
target errors errors.c
target confined confined.c
target leaf leaf.c
target landlocked landlocked.c
target ignoring ignoring.c

# --- The same process ------------------------------------------------------------------------------

# same_state WRAPPING...: the program's own account of itself, under a command that changes it.
same_state() {
	"$@" ./state >plain.out 2>plain.err </dev/null
	"$FXTRACE" run -q -o trace.fxt -- "$@" ./state >traced.out 2>traced.err </dev/null ||
		fail "status $? under: $*"
	[ "$(wc -l <plain.out)" -gt 60 ] || fail "state says too little: $(cat plain.err)"
	expect_same_file plain.out traced.out
	expect_same_file plain.err traced.err
	expect_clean trace.fxt
}

same_state env
same_state nice -n 5
same_state sh -c 'umask 027; ulimit -n 100; ulimit -c 0; cd /; exec "$0"' "$PWD/state"
same_state sh -c 'trap "" HUP USR1 PIPE; exec ./state'
same_state sh -c 'exec 7>/dev/null 9</dev/null; exec ./state'
same_state sh -c 'ulimit -v 400000; exec ./state'

# Signals that libc keeps to itself are ignored as before, though the tracer has threads before it starts the program: its
# processors' counters are compared the first time. (Before glibc 2.34 a program with threads takes them as it begins.)
mkdir runtime
XDG_RUNTIME_DIR=$PWD/runtime ./ignoring ./state >plain.out 2>plain.err </dev/null
if grep -q '^SigIgn:.*[1389b]80000000$' plain.out; then
	XDG_RUNTIME_DIR=$PWD/runtime ./ignoring "$FXTRACE" run -q -o trace.fxt -- ./state >traced.out 2>traced.err </dev/null
	expect_same_file plain.out traced.out
else
	! glibc_since 34 || fail "they are not ignored: $(grep SigIgn plain.out)"
fi

# Standard descriptors that are closed stay so, and what is opened next gets the same numbers.
for closing in '<&-' '2>&-' '<&- 2>&-'; do
	same_state sh -c "exec ./state $closing"
done
for closing in '>&-' '<&- >&- 2>&-'; do
	status=0
	"$FXTRACE" run -q -o trace.fxt -- sh -c "exec ./leaf 5 $closing" 2>err || status=$?
	expect_equal 5 "$status" "status with $closing"
	expect_clean trace.fxt
done

# --- The same errors -------------------------------------------------------------------------------

expect_unharmed 0 ./errors
expect_same_file plain.err traced.err
[ "$(grep -c 'errno 4711' plain.out)" -gt 10 ] || fail "errors says too little"
list_archive trace.fxt
expect_events 2+ 'name == "open" && has("path=/no/such/file") && has("errno=ENOENT")'
for category in '*' 'syscall,pthread,malloc,process' '-syscall'; do
	"$FXTRACE" run -q -c "$category" -o trace.fxt -- ./errors >traced.out 2>traced.err </dev/null
	expect_same_file plain.out traced.out
	expect_clean trace.fxt
done

# --- Little room -----------------------------------------------------------------------------------

for how in seccomp fds chroot limits; do
	status=0
	./confined "$how" >plain.out 2>plain.err </dev/null || status=$?
	[ "$status" -ne 77 ] || continue
	expect_equal alive "$(cat plain.out)" "confined $how without the tracer"
	expect_unharmed 0 ./confined "$how"
	list_archive trace.fxt
	# Room for its records was made before. Strict seccomp forbids to look at the clock.
	[ "$how" = seccomp ] && calls=1+ || calls=100001
	expect_events "$calls" 'name == "work"'
done

# Under a filter that kills for any system call but its own, there is none, however full the buffer.
for how in filter filter-syscall; do
	for options in '-b 16M' '-b 64K' '-b 64K --on-full block' '-b 64K -m oneshot'; do
		# shellcheck disable=SC2086 # several options
		expect_status 0 "$FXTRACE" run -o trace.fxt $options -- ./confined $how
		expect_equal alive "$(cat out)" "confined by a $how, with $options"
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 100+ 'name == "work"'
	done
done

status=0
"$FXTRACE" run -q -o trace.fxt -- sh -c 'ulimit -n 8; exec ./leaf 5' || status=$?
expect_equal 5 "$status" "status with 8 descriptors"
list_archive trace.fxt
expect_events 1 'name == "leaf_function"'

# No room for the buffer in the address space: it runs, and the summary says why there is no trace.
ulimit_v=60000
sh -c "ulimit -v $ulimit_v; exec ./leaf 5"
expect_equal 5 $? "status with little memory, without the tracer"
expect_status 5 "$FXTRACE" run -b 1G -o trace.fxt -- sh -c "ulimit -v $ulimit_v; exec ./leaf 5"
expect_loss address-space 1 err
expect_clean trace.fxt

# No room for the library itself, of which the dynamic linker would complain, or end the program.
for limit in '-d '{250,500,1000,2000,3000,5000,8000,12000} '-v '{4000,8000,12000,16000,20000,24000,40000}; do
	status=0
	sh -c "ulimit $limit; exec ./leaf 5" >plain.out 2>plain.err || status=$?
	[ "$status" -eq 5 ] || continue
	status=0
	"$FXTRACE" run -q -o trace.fxt -- sh -c "ulimit $limit; exec ./leaf 5" >traced.out 2>traced.err || status=$?
	expect_equal 5 "$status" "status at ulimit $limit: $(cat traced.err)"
	expect_same_file plain.out traced.out
	expect_equal '' "$(grep -v '^fxtrace: ' traced.err)" "what is said at ulimit $limit"
	expect_clean trace.fxt
done
expect_status 5 "$FXTRACE" run -o trace.fxt -- sh -c "ulimit -d 1000; exec ./leaf 5"
expect_line 'not traced: ./leaf: .*libfxtrace.so might find no room; raise ulimit' err

# Nor for a forked child's.
cat >confined.c <<'EOF'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%lu", &pages) != 1)
		return 77;
	struct rlimit limit = {pages * 4096 + (512 << 10), pages * 4096 + (512 << 10)};
	if (setrlimit(RLIMIT_AS, &limit) < 0)
		return 77;
	for (int i = 0; i < 3; i++) {
		if (fork() == 0)
			_exit(0);
		wait(0);
	}
	return 0;
}
EOF
compile confined confined.c
expect_ok "$FXTRACE" run -b 1M -o trace.fxt -- ./confined
expect_loss address-space 3 err
expect_no_line 'ended before' err
expect_clean trace.fxt

# --- What cannot be traced -------------------------------------------------------------------------

echo 'int main(void) { return 6; }' >static.c
if $FX_CC -static -o static static.c 2>/dev/null; then
	expect_status 6 "$FXTRACE" run -o trace.fxt -- ./static
	expect_line 'nothing was traced: .*statically.*; link it' err
	expect_clean trace.fxt
	# As a child among others: told where it is started, however it is.
	for start in 'sh -c' 'bash -c'; do
		# shellcheck disable=SC2086 # two words
		expect_status 6 "$FXTRACE" run -o trace.fxt -- $start './static; ./static'
		expect_line 'not traced: ./static \(2 times\): .*statically.*; link it' err
		list_archive trace.fxt
		expect_events 2 'type == "instant" && name == "not traced" && has("path=./static")'
		expect_clean trace.fxt
	done
	expect_status 6 "$FXTRACE" run -q -o trace.fxt -- bash -c ./static
	expect_no_line . err
	expect_status 6 "$FXTRACE" run -o trace.fxt -- sh -c './leaf; ./static'
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'name == "leaf_function"'
fi

# Set-user-id: the dynamic linker ignores our library when somebody else runs it.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ -w /tmp ]; then
	chmod 755 .
	cp leaf setuid && chmod 4755 setuid
	as_nobody() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	}
	mkdir -m 777 open
	if as_nobody ./setuid 4; [ $? -eq 4 ] && as_nobody "$FXTRACE" --version >/dev/null 2>&1; then
		expect_status 4 as_nobody "$FXTRACE" run -o open/trace.fxt -- ./setuid 4
		expect_line 'fxtrace: .*set' err
		expect_no_line 'ld.so' err
	fi
fi

# Where it starts, the library is not to be found, or not to be read: the dynamic linker has no complaint.
for file in ./leaf $(ldd ./leaf | grep -o '/[^ ]*'); do
	case $file in
	*/libfxtrace*) ;;
	*) mkdir -p "root/${file%/*}" && cp "$file" "root/$file" ;;
	esac
done
enter=(chroot)
[ "$(id -u)" -eq 0 ] || enter=(unshare -r chroot)
if "${enter[@]}" root /leaf 4 2>/dev/null; [ $? -eq 4 ]; then
	expect_status 4 "$FXTRACE" run -o trace.fxt -- "${enter[@]}" root /leaf 4
	expect_line 'not traced: /leaf: libfxtrace.so cannot be read' err
	expect_no_line 'ld.so' err
	expect_equal '' "$(cat out)" "output of what has another root"
	expect_clean trace.fxt
fi

# Nor has it under Landlock, which keeps the library from who may read it else.
mkdir locked locked/.libs
cp "$FXTRACE" locked && cp "$LIBFXTRACE" locked/.libs
status=0
./landlocked /usr /bin /lib /lib64 /etc /proc /dev >plain.out 2>plain.err || status=$?
if [ "$status" -ne 77 ]; then
	expect_equal "2 0 0" "$(wc -l <plain.out) $(wc -l <plain.err) $status" "what is started under Landlock"
	expect_ok locked/fxtrace run -o trace.fxt -- ./landlocked /usr /bin /lib /lib64 /etc /proc /dev
	expect_same_file plain.out out
	expect_no_line 'ld.so' err
	expect_line 'not traced: .*sh.*: libfxtrace.so cannot be read' err
	expect_clean trace.fxt
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && as_nobody ./leaf 4; [ $? -eq 4 ]; then
	mkdir -m 700 private private/.libs
	cp "$FXTRACE" private && cp "$LIBFXTRACE" private/.libs
	expect_status 4 private/fxtrace run -o trace.fxt -- \
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c './leaf 4; exit $?'
	expect_line 'not traced: .*sh: libfxtrace.so cannot be read' err
	expect_no_line 'ld.so' err
fi

# Asked not to.
expect_status 5 env FXTRACE_DISABLE=1 "$FXTRACE" run -o trace.fxt -- ./leaf 5
list_archive trace.fxt
expect_events 0 'category == "function"'

# A process that may not look at the counter any more makes an eventfd, which has the time in its name else.
cat >blind.c <<'EOF'
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	uint64_t value = 0;
	int fd;

	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	fd = eventfd(3, 0);
	return read(fd, &value, sizeof value) != sizeof value || value != 3;
}
EOF
compile blind blind.c
expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./blind
