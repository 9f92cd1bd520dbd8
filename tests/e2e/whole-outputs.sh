#!/bin/bash
# SPDX-License-Identifier: MIT
# What `fxtrace convert', merge, split, filter and symbolize write has its name only once it is whole: ended by a signal
# at any write, or where there is no room, they leave nothing behind, and what had the name is as it was. Links, pipes and
# permissions are as ever.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "its library comes before that of the sanitizer"

"$FX_BUILDDIR/bench/timeline" --make 3 work.fxt || fail "no archive"

# A library that sends SIGNAL_OF at write number SIGNAL_AT to a file, and has files without names fail where NAMELESS is "no".
cat >signal.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t size)
{
	static int count;
	const char *at = getenv("SIGNAL_AT"), *of = getenv("SIGNAL_OF");
	struct stat st;

	if (at && of && strstr(program_invocation_short_name, "fxtrace") && fd > 2 && fstat(fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && ++count == atoi(at)) {
		syscall(SYS_write, fd, data, size / 2);
		raise(atoi(of));
	}
	return syscall(SYS_write, fd, data, size);
}

int openat(int dir, const char *path, int flags, ...)
{
	const char *nameless = getenv("NAMELESS");
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	if ((flags & O_TMPFILE) == O_TMPFILE && nameless && strcmp(nameless, "no") == 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
EOF
compile signal.so -shared -fPIC signal.c -ldl

# made_by COMMAND OUT
made_by() {
	case $1 in
	merge) "$FXTRACE" merge -o "$2" work.fxt ;;
	split) "$FXTRACE" split --every 1000s -o "$2" work.fxt ;;
	filter) "$FXTRACE" filter --name '*' -o "$2" work.fxt ;;
	symbolize) "$FXTRACE" symbolize -o "$2" work.fxt ;;
	*) "$FXTRACE" convert -f "$1" work.fxt "$2" ;;
	esac
}

# name_of COMMAND OUT: what it calls it.
name_of() {
	case $1 in
	split) echo "${2/./.0001.}" ;;
	*) echo "$2" ;;
	esac
}

COMMANDS="merge split filter symbolize fxt perfetto json sqlite collapsed pprof speedscope callgrind svg html"

# ended_by SIGNAL WRITE COMMAND: its status.
ended_by() {
	local status=0

	SIGNAL_OF=$1 SIGNAL_AT=$2 LD_PRELOAD=$PWD/signal.so made_by "$3" folder/out.fxt >out 2>err || status=$?
	echo $status
}

# --- Signals -----------------------------------------------------------------------------------------

mkdir folder
ended=0
for nameless in yes no; do
	export NAMELESS=$nameless
	for command in $COMMANDS; do
		name=$(name_of "$command" folder/out.fxt)
		signals=2
		[ "$command" != filter ] && [ "$command" != json ] || signals="1 2 15"
		for signal in $signals; do
			for write in 1 2; do
				# None of that name, and one.
				status=$(ended_by "$signal" $write "$command")
				what="$command ended by $signal at write $write ($nameless)"
				if [ "$status" -eq 0 ]; then
					[ $write -gt 1 ] || fail "$what: was not"
					rm "$name"
					continue
				fi
				ended=$((ended + 1))
				expect_equal $((128 + signal)) "$status" "$what: status ($(cat err))"
				expect_equal "" "$(ls -A folder)" "$what: left behind"
				echo "of before" >"$name"
				ended_by "$signal" $write "$command" >/dev/null
				expect_equal "of before" "$(cat "$name")" "$what: what was there"
				expect_equal "${name#folder/}" "$(ls -A folder)" "$what: the folder"
				rm "$name"
			done
		done
	done
done
echo "$ended times ended"

# --- No room -----------------------------------------------------------------------------------------

# A limit on the size of files stands for a disk that fills in the middle.
limited() {
	trap '' XFSZ
	ulimit -f 2
	made_by "$@"
}
for NAMELESS in yes no; do
	for command in merge split filter symbolize fxt perfetto json; do
		name=$(name_of "$command" folder/out.fxt)
		expect_one_error 1 eval '(LD_PRELOAD="$PWD/signal.so" limited "$command" folder/out.fxt)'
		expect_line "$name: File too large" err
		expect_equal "" "$(ls -A folder)" "$command without room: left behind"
		echo "of before" >"$name"
		expect_one_error 1 eval '(LD_PRELOAD="$PWD/signal.so" limited "$command" folder/out.fxt)'
		expect_equal "of before" "$(cat "$name")" "$command without room: what was there"
		expect_equal "${name#folder/}" "$(ls -A folder)" "$command without room: the folder"
		rm "$name"
	done
done

# --- Names, links, permissions -------------------------------------------------------------------------

made_by json plain.json 2>err || fail "convert: $(cat err)"
made_by filter plain.fxt 2>err || fail "filter: $(cat err)"
for NAMELESS in yes no; do
	for command in json filter; do
		same=plain.fxt
		[ $command = filter ] || same=plain.json
		export LD_PRELOAD=$PWD/signal.so
		rm -rf folder
		mkdir folder
		(umask 0277 && made_by $command folder/new) 2>err || fail "$command: $(cat err)"
		expect_equal 400 "$(stat -c %a folder/new)" "$command: mode of what is new"
		expect_same_file $same folder/new

		echo "of before" >folder/old
		chmod 664 folder/old
		ln -s old folder/link
		ln -s nowhere folder/dangling
		made_by $command folder/link 2>err || fail "$command: $(cat err)"
		expect_equal old "$(readlink folder/link)" "$command: the link"
		expect_same_file $same folder/old
		expect_equal 600 "$(stat -c %a folder/old)" "$command: mode of what was there"
		made_by $command folder/dangling 2>err || fail "$command: $(cat err)"
		expect_equal nowhere "$(readlink folder/dangling)" "$command: the link to nothing"
		expect_same_file $same folder/nowhere

		# What has two names has them still.
		echo "of before" >folder/one
		ln folder/one folder/two
		made_by $command folder/one 2>err || fail "$command: $(cat err)"
		expect_same_file $same folder/two

		made_by $command /dev/stdout 2>err >folder/shell || fail "$command: $(cat err)"
		expect_same_file $same folder/shell
		made_by $command - 2>err | cat >folder/piped
		expect_same_file $same folder/piped
		expect_equal "dangling link new nowhere old one piped shell two" \
			"$(find folder -mindepth 1 -printf '%f\n' | LC_ALL=C sort | xargs)" "$command: the folder"
		unset LD_PRELOAD
	done
done
