#!/bin/bash
# SPDX-License-Identifier: MIT
# A container as its runtime makes one: namespaces of its own, another root by pivot_root(2), the old one gone. What runs
# there is traced from outside if it has the library and a way to the manager, with the names of its own files; else it runs
# as it would, and the summary says why it was not traced. The tracer works in the container, too.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer wants /proc"
need unshare pivot_root

target leaf leaf.c
privileges=()
unshare -m true 2>/dev/null || privileges=(-r)

# The runtime: WITH names folders to be there as well, under their own names; the program lies where none does outside.
cat >runtime <<'EOF'
set -e
mount --make-rprivate /
mount -t tmpfs none "$BASE/root"
cd "$BASE/root"
for folder in bin etc lib lib32 lib64 sbin usr; do
	if [ -L "/$folder" ]; then
		cp -P "/$folder" .
	elif [ -d "/$folder" ]; then
		mkdir "$folder"
		mount --rbind "/$folder" "$folder"
	fi
done
mkdir old proc dev tmp only-here
touch dev/null
mount --bind /dev/null dev/null
cp "$BASE/leaf" only-here/program
for folder in $WITH; do
	mkdir -p ".$folder"
	mount --rbind "$folder" ".$folder"
done
mount -t proc none proc
pivot_root . old
cd /
umount -l /old
exec "$@"
EOF
mkdir root

# inside OPTION WITH COMMAND...: there; OPTION is one more of unshare's, or empty.
cat >inside <<EOF
option=\$1
export BASE='$TEST_DIR' WITH="\$2"
shift 2
exec unshare ${privileges[*]} -m -p -f -u -i \$option sh '$TEST_DIR/runtime' "\$@"
EOF
sh inside -n '' /only-here/program 5 2>err
[ $? -eq 5 ] || skip "no such root can be made: $(head -n 1 err)"

# traced_inside STATUS ARG...: the same under the tracer.
traced_inside() {
	local wanted=$1 got=0

	shift
	"$FXTRACE" run -o trace.fxt -- sh inside "$@" >out 2>err || got=$?
	cp err said
	expect_equal "$wanted" "$got" "status of a container that is traced: $(cat said)"
	expect_clean trace.fxt
}

# The library is there, and the manager's abstract name: functions have the names of the file that is only there.
traced_inside 6 '' "$FX_BUILDDIR" sh -c '/only-here/program; exec /only-here/program 6'
expect_no_line 'not traced' said
"$FXTRACE" dump trace.fxt >dumped
expect_line 'module=[0-9]* name="/only-here/program"' dumped
list_archive trace.fxt
expect_events 2 'name == "leaf_function" && category == "function"'

# The library alone, for the network is another as well; what is looked for in vain elsewhere is not told of.
traced_inside 6 -n "$FX_BUILDDIR" env -- PATH=/nowhere:/only-here program 6
expect_line "not traced: /[a-z/]*/env: it starts with files and a network of its own, where fxtrace's socket is not seen; leave it the network, or" said
expect_no_line 'not traced: [^ ]* \([0-9]* times\)|not traced: /root|nowhere|ended before tracing could begin' said

# What that line advises: the socket's folder is there.
mkdir shared
unset XDG_RUNTIME_DIR
TMPDIR=$TEST_DIR/shared traced_inside 6 -n "$FX_BUILDDIR $TEST_DIR/shared" /only-here/program 6
expect_no_line 'not traced' said
list_archive trace.fxt
expect_events 1 'name == "leaf_function" && category == "function"'

# Neither.
traced_inside 7 -n '' /only-here/program 7
expect_line 'not traced: /only-here/program: libfxtrace.so cannot be read from where it starts' said

# The tracer in the container itself.
cat >whole <<'EOF'
cd /tmp
"$0" run -o in.fxt -- /only-here/program 8
status=$?
"$0" check in.fxt && exit $status
EOF
expect_status 8 sh inside -n "$FX_BUILDDIR" env TMPDIR=/tmp sh -c "$(cat whole)" "$FXTRACE"
expect_line '^fxtrace: in.fxt: .* 1 process, ' err
expect_line '^in.fxt: .* 0 errors' out
