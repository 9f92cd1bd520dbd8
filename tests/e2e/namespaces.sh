#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with a file system, a network or process ids of their own.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need unshare

# own NAMESPACES COMMAND...: runs it in namespaces of its own, as "-m" or "-p -f".
user=()
[ "$(id -u)" -eq 0 ] || user=(-r)
unshare "${user[@]}" -m true 2>/dev/null || skip "no namespaces can be made here"

target leaf leaf.c

# --- Its own mounts -----------------------------------------------------------------------------

# The manager's socket lies below run, which the program sees empty.
mkdir run
export XDG_RUNTIME_DIR=$PWD/run
cat >hidden.sh <<'END'
mount -t tmpfs none "$XDG_RUNTIME_DIR" && exec ./leaf
END
expect_ok traced -- unshare "${user[@]}" -m sh hidden.sh
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1+ 'process == "leaf" && category == "function" && name == "main"'

# Plain preload, whose manager listens in the same place.
expect_ok env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT="$PWD/private.fxt" \
	unshare "${user[@]}" -m sh hidden.sh
# A sound beginning passes check as well.
has_main() {
	"$FXTRACE" check private.fxt 2>/dev/null && "$FXTRACE" replay --no-pager --name main private.fxt 2>/dev/null | grep -q main
}
wait_for 60 has_main
list_archive private.fxt
expect_events 1+ 'process == "leaf" && category == "function" && name == "main"'

# --- A /proc that hides others' processes ----------------------------------------------------------

# The program is another user's, who sees nobody else; the manager is root's, or that user's.
cat >hidepid.sh <<'END'
mount -t proc -o hidepid=2 proc /proc && "$@" test -e /proc/self/stat && ! "$@" test -e /proc/1/stat || exit 77
END
other=(setpriv --reuid 12345 --regid 12345 --clear-groups)
status=77
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	status=0
	unshare -m sh hidepid.sh "${other[@]}" 2>/dev/null || status=$?
fi
if [ "$status" -eq 0 ]; then
	place=$(mktemp -d /tmp/fxtrace-hidepid.XXXXXX) # which the user can reach
	cp leaf "$place" && chown 12345 "$place" && chmod 755 "$place"
	# shellcheck disable=SC2016 # another shell's
	hide='mount -t proc -o hidepid=2 proc /proc && cd "$0" && exec "$@"'
	for manager in root user; do
		if [ "$manager" = root ]; then
			way=("$FXTRACE" run -o hidden.fxt -- "${other[@]}" ./leaf 5)
		elif "${other[@]}" test -x "$FXTRACE" -a -r "$LIBFXTRACE"; then
			way=("${other[@]}" "$FXTRACE" run -o hidden.fxt -- ./leaf 5)
		else
			echo "the user cannot reach the tracer: no manager of its own is tried"
			continue
		fi
		expect_status 5 env -u XDG_RUNTIME_DIR unshare -m sh -c "$hide" "$place" "${way[@]}"
		mv "$place/hidden.fxt" trace.fxt
		expect_line '^fxtrace: hidden.fxt: .* 1 process, 1 thread, ' err
		expect_no_line 'not traced' err
		expect_no_line 'ended before' err
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 1 'process == "leaf" && name == "main" && category == "function"'
		expect_events 1 'name == "leaf_function"'
	done
	rm -r "$place"
else
	echo "no /proc can be mounted here that hides processes: not tried"
fi

# As PrivateTmp=yes of systemd has it, with /dev/shm as well; the socket lies in /tmp.
cat >private-tmp.sh <<'END'
for folder in /tmp /var/tmp /dev/shm; do mount -t tmpfs none $folder || exit 77; done
cd "$1" && exec ./leaf
END
place=$(mktemp -d "$HOME/fxtrace-place.XXXXXX") || fail "no place beside /tmp"
cp leaf private-tmp.sh "$place" || fail "no place beside /tmp"
# shellcheck disable=SC2034 # lib.sh has it
at_end='rm -rf "$place"'
within=(env -u XDG_RUNTIME_DIR TMPDIR=/tmp)
case $LIBFXTRACE in
/tmp/* | /var/tmp/*) echo "the tracer itself lies where a program with folders of its own does not see it: not tried" ;;
*)
	status=0
	"${within[@]}" "$FXTRACE" run -o trace.fxt -- unshare "${user[@]}" -m sh "$place/private-tmp.sh" "$place" >out 2>err || status=$?
	if [ "$status" -eq 77 ]; then
		echo "no folders can be mounted here: not tried"
	else
		expect_equal 0 "$status" "status: $(cat err)"
		expect_clean trace.fxt
		list_archive trace.fxt
		expect_events 1 'process == "leaf" && category == "function" && name == "main"'
	fi
	;;
esac

# bubblewrap: what flatpak and others start programs in.
sandboxed() { # WHAT OPTION...: leaf's main() is recorded, or, not empty, this line says why not.
	local what=$1 status=0

	shift
	"${within[@]}" "$FXTRACE" run -o trace.fxt -- bwrap --dev-bind / / "$@" --chdir "$place" ./leaf >out 2>said || status=$?
	expect_equal 0 "$status" "status in bwrap $*: $(cat said)"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_no_line 'ended before' said
	if [ -z "$what" ]; then
		expect_no_line 'not traced' said
		expect_events 1 'process == "leaf" && category == "function" && name == "main"'
	else
		expect_line "^fxtrace: not traced: ./leaf: $what" said
		expect_events 0 'process == "leaf" && category == "function"'
	fi
}
if ! command -v bwrap >/dev/null; then
	echo "bwrap is not installed: not tried"
elif ! bwrap --dev-bind / / --tmpfs /tmp --unshare-all true 2>/dev/null; then
	echo "bwrap cannot make namespaces here: not tried"
elif [[ $LIBFXTRACE == /tmp/* ]]; then
	echo "the tracer itself lies in /tmp: not tried in bwrap"
else
	sandboxed ''
	sandboxed '' --tmpfs /tmp --tmpfs /run
	sandboxed '' --tmpfs /tmp --unshare-pid --unshare-user --unshare-ipc --unshare-uts
	sandboxed '' --unshare-net
	sandboxed '' --tmpfs /tmp --unshare-net --bind /tmp /tmp
	sandboxed 'it starts with files and a network of its own, where fxtrace.s socket is not seen; ' \
		--tmpfs /tmp --unshare-net
	# Here bwrap forks once more within.
	"${within[@]}" "$FXTRACE" run -o trace.fxt -- bwrap --dev-bind / / --tmpfs /tmp --unshare-all --chdir "$place" ./leaf >out 2>said ||
		fail "bwrap fails: $(cat said)"
	expect_line '^fxtrace: 1 process ended before tracing could begin there, had no way to the manager, or ' said
	sandboxed 'libfxtrace.so cannot be read from where it starts, ' --tmpfs "$(dirname "$LIBFXTRACE")"
fi

# --- Its own network ----------------------------------------------------------------------------

expect_ok traced -- unshare "${user[@]}" -n ./leaf
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1+ 'process == "leaf" && category == "function" && name == "main"'

# --- Its own process ids ------------------------------------------------------------------------

# Whatever processes call themselves and each other: each thread stands in the archive once, by the number that it has
# for the manager, and arrows lead from one to the other. The /proc of the test tells these numbers.
target family family.c

expect_family() {
	local thread child

	main=$(sed -n 's|^main \([0-9]*\)/.*|\1|p' out)
	thread=$(sed -n 's|^thread .*/||p' out)
	child=$(sed -n 's|^child \([0-9]*\)/.*|\1|p' out)
	[ -n "$main" ] && [ -n "$thread" ] && [ -n "$child" ] || fail "said: $(cat out)"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal "$main:$main $main:$thread" \
		"$(awk -F'\t' -v p="$main" '$1 == p { print $1 ":" $2 }' threads | sort -u | sort -t: -k2n | xargs)" \
		"threads of the parent"
	expect_equal "$child:$child" \
		"$(awk -F'\t' -v p="$child" '$1 == p { print $1 ":" $2 }' threads | sort -u | xargs)" "threads of the child"
	expect_events 1 "name == \"in_thread\" && pid == $main && tid == $thread"
	expect_events 1 "name == \"in_child\" && pid == $child && tid == $child"
	# From whom to whom: the arrows of the making, of the signal, and of the end.
	awk -F'\t' '
		$6 == "process" && $1 == "flow-begin" { from[$9] = $2 ":" $3 " " $7 }
		$6 == "process" && $1 == "flow-end" && $9 in from { print from[$9] " -> " $2 ":" $3 " " $7 }' events | sort >arrows
	printf '%s\n' "$child:$child process exits -> $main:$main told of its end" \
		"$main:$main creates process -> $child:$child process starts" \
		"$main:$main sends signal -> $child:$child takes signal" | sort >wanted
	grep -E 'creates process|told of its end|takes signal' arrows |
		grep -E "^($main|$child):.* -> ($main|$child):" >found
	expect_same_file wanted found
}

expect_ok traced -- ./family
expect_family
expect_ok traced -- unshare "${user[@]}" -p -f ./family
expect_family
expect_ok traced -- unshare "${user[@]}" -p -f unshare -p -f ./family
expect_family
# The parent is outside: unshare makes what is process 1 of the new one.
expect_events 1 "name == \"creates process\" && has(\"pid=$main\")"

# --- Threads that live for a moment -------------------------------------------------------------

# Nobody may have asked for such a thread's number before it ends. Each has one identity all the same: the kernel's number
# for the manager, or one that no thread can have, but never another's.
cat >brief.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define ROUNDS 40
#define THREADS 5
static char said[ROUNDS * THREADS][64];
__attribute__((noinline)) static void in_thread(void)
{
	usleep(3000);
}
__attribute__((no_instrument_function)) static void *record(void *link)
{
	if (readlink("/proc/thread-self", link, 63) > 0)
		in_thread();
	return 0;
}
__attribute__((no_instrument_function)) int main(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < THREADS; k++)
			pthread_create(&threads[k], 0, record, said[i * THREADS + k]);
		for (int k = 0; k < THREADS; k++)
			pthread_join(threads[k], 0);
	}
	for (int i = 0; i < ROUNDS * THREADS; i++)
		puts(said[i]);
	return 0;
}
END
compile brief brief.c -O1 -finstrument-functions
expect_ok traced -- unshare "${user[@]}" -p -f ./brief
main=$(cut -d/ -f1 out | sort -u)
cut -d/ -f3 out | sort >kernel
expect_clean trace.fxt
expect_equal 200 "$(sort -u kernel | wc -l)" "threads that were made"
list_archive trace.fxt
expect_events 200 "name == \"in_thread\" && pid == $main"
awk -F'\t' '$7 == "in_thread" { print $3 }' events | sort >numbers
expect_equal '' "$(uniq -d numbers)" "threads that share a number"
expect_equal '' "$(comm -23 numbers kernel | awk '$1 < 1000000000')" "numbers of others"
comm -12 numbers kernel | wc -l | sed 's/$/ of 200 threads have the number of the kernel/'

# --- Numbers that come again --------------------------------------------------------------------

# Two processes of one pid, in a namespace where that can be had: two tracks.
cat >again.sh <<'END'
echo 900 >/proc/sys/kernel/ns_last_pid && ./leaf
echo 900 >/proc/sys/kernel/ns_last_pid && ./leaf
echo 900 >/proc/sys/kernel/ns_last_pid && ./leaf
END
cat >inside.sh <<'END'
echo 300 >/proc/sys/kernel/ns_last_pid || exit 77
"$1" run -q -o again.fxt -- sh again.sh
END
status=0
unshare "${user[@]}" -p -f --mount-proc sh inside.sh "$FXTRACE" >out 2>err || status=$?
[ "$status" -ne 77 ] || skip "the next pid cannot be chosen here"
expect_equal 0 "$status" "status: $(cat err)"
expect_clean again.fxt
list_archive again.fxt
expect_equal "901 10000901 20000901" "$(grep 'leaf$' processes | cut -f1 | sort -n | xargs)" "processes called leaf"
expect_events 3 'name == "main" && process == "leaf" && pid % 10000000 == 901 && tid == pid'
expect_events 1 'name == "main" && pid == 10000901 && thread == "leaf"'
expect_ok "$FXTRACE" convert -f perfetto again.fxt
