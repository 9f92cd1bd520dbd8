#!/bin/bash
# SPDX-License-Identifier: MIT
# What was executed stands with the exec that succeeded, though its record is never written by the process
# itself; one that failed has its own record, and nothing is shown twice.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cp "$FX_BUILDDIR/tests/preload/targets/executes" . || exit 99

# traced WAY: the calls of process are in the file calls, in order of time.
traced() {
	expect_ok "$FXTRACE" run -q -o trace.fxt -- ./executes "$1"
	expect_clean trace.fxt
	expect_ok "$FXTRACE" dump trace.fxt
	grep -E 'event type=complete .* name="(f?exec|vfork|posix_spawn)' out >calls
}

# works WAY: it does without tracing. Emulators know no execveat(), and close what they are about to execute.
works() {
	! ./executes "$1" >/dev/null 2>&1 || return 0
	is_emulated || fail "$1 does not work untraced"
	echo "left out: $1 does not work here, traced or not"
	return 1
}

# executed NAME PATH ARGV: the only call; before these it has a number, if that is its first argument.
executed() {
	expect_equal 1 "$(wc -l <calls)" "calls: $(cat calls)"
	expect_line "name=\"$1\"#.* args=\\{(\"(dir)?fd\":int32=[0-9]+, )?\"path\":string=\"$2\", \"argv\":string=\"$3\", \"unfinished\":bool=true\\}" calls
}

for way in execv execve; do
	traced $way
	executed $way ./executes "executes done $way"
done
for way in execvp execvpe; do
	traced $way
	executed $way executes "executes done $way"
done
# The functions with a list of arguments are shown as those with an array.
traced execl
executed execv ./executes 'executes done execl'
traced execlp
executed execvp executes 'executes done execlp'
traced execle
executed execve ./executes 'executes done execle'
if works fexecve; then
	traced fexecve
	executed fexecve "$PWD/executes" 'executes done fexecve'
fi
if ! glibc_since 34; then
	echo "left out: this C library has no execveat()"
elif works execveat; then
	traced execveat
	executed execveat executes 'executes done execveat'
	traced empty-path
	executed execveat "$PWD/executes" 'executes done empty-path'
fi
traced many
executed execv ./executes 'executes done( argument)+ [argument]*'

# Of those that fail the error is told, and what stood there as far as it can be read.
if works failing; then
	traced failing
	cat >want <<'WANT'
name="execvp" args={"path":string="no-such-command", "argv":string="executes done failing", "ret":int32=-1, "errno":string="ENOENT"}
name="execve" args={"path":string="./missing", "argv":string="executes done failing", "ret":int32=-1, "errno":string="ENOENT"}
name="execv" args={"path":string="/", "argv":string="executes done failing", "ret":int32=-1, "errno":string="EACCES"}
name="execv" args={"path":pointer=0x8, "argv":string="executes done failing", "ret":int32=-1, "errno":string="EFAULT"}
name="execv" args={"path":string="./executes", "argv":pointer=0x8, "ret":int32=-1, "errno":string="EFAULT"}
name="execv" args={"path":string="./executes", "argv":pointer=0x..., "ret":int32=-1, "errno":string="EFAULT"}
name="fexecve" args={"fd":int32=-1, "argv":string="executes done failing", "ret":int32=-1, "errno":string="EINVAL"}
name="execveat" args={"dirfd":string="AT_FDCWD", "path":string="./missing", "argv":string="executes done failing", "flags":string="0", "ret":int32=-1, "errno":string="ENOENT"}
name="execv" args={"path":string="./executes", "argv":string="executes done failing", "unfinished":bool=true}
WANT
	sed -E 's/.*(name="[a-z]+").*(args=.*)/\1 \2/; s/0x[0-9a-f]{3,}/0x.../' calls >got
	if ! glibc_since 34; then
		sed -i /execveat/d want got
	fi
	expect_same_file want got
fi

# A child of vfork writes nothing: its parent does.
traced vfork
expect_equal 2 "$(wc -l <calls)" "calls: $(cat calls)"
# (Emulators fork: what the child has left in its memory, its parent does not find.)
is_emulated ||
	expect_line 'name="vfork".* args=\{"ret":int32=[0-9]+, "path":string="./executes", "argv":string="executes done vfork"\}' calls
expect_line 'name="vfork".* args=\{"ret":int32=[0-9]+\}' calls

# Without the category nobody is told.
expect_ok "$FXTRACE" run -q -c syscall -o trace.fxt -- ./executes execv
expect_ok "$FXTRACE" dump trace.fxt
grep -v 'kernel-object type=process' out >told
expect_no_line 'executes done' told
