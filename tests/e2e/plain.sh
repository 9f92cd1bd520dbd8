#!/bin/bash
# SPDX-License-Identifier: MIT
# The library preloaded without a manager: a private one, that nobody notices, leaves NAME.PID.fxt.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target leaf leaf.c
target children children.c
target state state.c

preloaded() {
	LD_PRELOAD=$LIBFXTRACE "$@"
}

# archive_of NAME: waits for the archive that a private manager leaves, prints its name.
archive_of() {
	local archive

	wait_for 20 archive_is_done "$1" || return 1
	archive=$(echo "$1".*.fxt)
	echo "$archive"
}

# Nobody writes it any more.
archive_is_done() {
	local archive

	archive=$(echo "$1".*.fxt)
	archive_is_left "$archive"
}

expect_status 5 preloaded ./leaf 5
expect_equal 0 "$(wc -c <out)" "bytes on stdout"
expect_equal 0 "$(wc -c <err)" "bytes on stderr: $(cat err)"
archive=$(archive_of leaf) || fail "no archive: $(ls)"
expect_clean "$archive"
list_archive "$archive"
expect_equal "$archive" "leaf.$(cut -f1 processes).fxt" "name of the archive"
expect_events 1 'name == "leaf_function"'
rm "$archive"

# Parent and children in one archive, whatever the way.
for how in fork fork-exec vfork spawn daemon; do
	expect_status 0 preloaded ./children "$how" ./leaf
	read -r parent child <out
	archive=$(archive_of children) || fail "$how: no archive: $(ls)"
	expect_equal "children.$parent.fxt" "$archive" "name of the archive"
	expect_clean "$archive"
	list_archive "$archive"
	expect_equal "$(printf '%s\n' "$parent" "$child" | sort)" \
		"$(cut -f1 processes | grep -xe "$parent" -e "$child" | sort)" "processes in the archive"
	expect_events 3 "name == \"in_parent\" && pid == $parent"
	rm "$archive"
	expect_equal '' "$(echo ./*.fxt | grep -v '\*')" "more archives"
done

# The program sees no process, thread, descriptor or signal of ours.
./state >plain.out
preloaded ./state >traced.out
expect_same_file plain.out traced.out
archive_of state >/dev/null || fail "no archive of state: $(ls)"
rm state.*.fxt

# Its pipes end when it ends, whoever reads them: the manager holds none.
for _ in 1 2 3; do
	timeout 10 bash -c 'LD_PRELOAD=$0 ./leaf | cat' "$LIBFXTRACE" || fail "the pipe stays open"
	timeout 10 bash -c 'x=$(LD_PRELOAD=$0 ./leaf 2>&1)' "$LIBFXTRACE" || fail "the pipe stays open"
done
wait_for 20 sh -c '[ "$(ls leaf.*.fxt | wc -l)" -eq 6 ]' || fail "not an archive each: $(ls)"
rm leaf.*.fxt

# Nor does the shell that started it find a stranger among its children.
expect_status 0 bash -c 'LD_PRELOAD=$0 ./leaf; wait; cat /proc/$$/task/$$/children' "$LIBFXTRACE"
expect_equal '' "$(tr -d ' ' <out | sed "s/^[0-9]*\$//")" "children of the shell"

# --- Its environment -------------------------------------------------------------------------------

rm -f ./*.fxt
mkdir elsewhere
expect_status 0 env FXTRACE_OUTPUT=elsewhere/named.fxt LD_PRELOAD="$LIBFXTRACE" ./leaf
wait_for 20 test -s elsewhere/named.fxt || fail "FXTRACE_OUTPUT: $(ls -R)"
wait_archive elsewhere/named.fxt || fail "FXTRACE_OUTPUT: not a clean archive"
expect_equal '' "$(echo ./leaf.*.fxt | grep -v '\*')" "archives in the working directory"

expect_status 5 env FXTRACE_DISABLE=1 LD_PRELOAD="$LIBFXTRACE" ./leaf 5
sleep 0.2
expect_equal '' "$(echo ./*.fxt | grep -v '\*')" "archives although disabled"

expect_status 0 env FXTRACE_CATEGORIES=syscall LD_PRELOAD="$LIBFXTRACE" ./state
archive=$(archive_of state) || fail "no archive: $(ls)"
list_archive "$archive"
expect_events 0 'category == "function"'
expect_events 1+ 'category == "syscall"'
rm "$archive"

for how in fork fork-exec vfork spawn; do
	expect_status 0 env FXTRACE_NO_FOLLOW=1 LD_PRELOAD="$LIBFXTRACE" ./children "$how" ./leaf
	archive=$(archive_of children) || fail "$how: no archive: $(ls)"
	list_archive "$archive"
	expect_equal 1 "$(wc -l <processes)" "processes under FXTRACE_NO_FOLLOW ($how)"
	rm "$archive"
	expect_equal '' "$(echo ./*.fxt | grep -v '\*')" "more archives"
done

# A directory that cannot be written: the program runs all the same.
mkdir sealed
expect_status 5 sh -c 'cd /proc && LD_PRELOAD=$0 "$1" 5' "$LIBFXTRACE" "$PWD/leaf"

# A manager that cannot be found, or is killed.
cp "$LIBFXTRACE" sealed/
expect_status 5 env LD_PRELOAD="$PWD/sealed/libfxtrace.so" ./leaf 5
