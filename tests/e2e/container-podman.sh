#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/CONTAINERS.md's command for Podman, word by word, and the pod of packaging/kubernetes.yaml as Podman plays it, with its init container: a
# manager outside traces what runs there as another user, with a root that is read-only, and namespaces of its own.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
not_sanitized "a sanitizer wants /proc"
need podman runc
is_emulated && skip 'the runtime is of another machine'
[ "$(id -u)" -eq 0 ] || skip 'containers without root have ids from /etc/subuid'

# --- Podman, with all that it keeps in the test's folder ----------------------------------------------
cat >storage.conf <<END
[storage]
driver = "vfs"
graphroot = "$TEST_DIR/podman"
runroot = "$TEST_DIR/podman-run"
END
cat >containers.conf <<END
[containers]
netns = "none"
default_ulimits = [ "nofile=1024:1024", "nproc=1024:1024" ]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
END
export CONTAINERS_STORAGE_CONF=$TEST_DIR/storage.conf CONTAINERS_CONF=$TEST_DIR/containers.conf TMPDIR=$TEST_DIR
# shellcheck disable=SC2034 # lib.sh has it
at_end='timeout 60 podman pod rm -f -a >/dev/null 2>&1; timeout 60 podman rm -f -a >/dev/null 2>&1'

# image NAME ENTRYPOINT FILE=WHERE...: an image of these files and of the libraries that they need.
image() {
	local name=$1 entry=$2 file need

	shift 2
	rm -rf root
	mkdir -p root
	for file; do
		for need in "${file%=*}=${file#*=}" $(ldd "${file%=*}" 2>/dev/null | sed -nE 's,^[^/]*(/[^ ]*) \(.*,\1=\1,p'); do
			install -D -m 755 "${need%=*}" "root${need#*=}" || fail "no file ${need%=*}"
		done
	done
	mkdir -p root/proc root/sys root/dev root/etc root/run/fxtrace root/opt/fxtrace
	tar -C root -c . | timeout 120 podman import --change "ENTRYPOINT $entry" --change "ENV PATH=/bin" - "$name" >import.out 2>&1 || skip "podman imports no image here: $(tail -n 1 import.out)"
}
target leaf leaf.c
image program '["/app/program", "7"]' "$PWD/leaf=/app/program" "$(type -P true)=/bin/true"
image tracer '["/bin/cp"]' "$(type -P cp)=/bin/cp" "$LIBFXTRACE=/usr/lib/libfxtrace.so"
timeout 60 podman run --rm --entrypoint /bin/true program >run.out 2>&1 || skip "podman runs nothing here: $(tail -n 1 run.out)"

# --- Outside ------------------------------------------------------------------------------------------
mkdir socket
chmod 711 "$TEST_DIR" . socket
FXTRACE_SOCKET=$TEST_DIR/socket/manager.sock
export FXTRACE_SOCKET
"$FXTRACE" manager --foreground --allow-users=all >manager.out 2>manager.err &
# shellcheck disable=SC2034 # control.sh has it
MANAGER=$!
wait_for 10 "$FXTRACE" status || fail "the manager does not listen: $(cat manager.err)"

# recorded ARCHIVE CONTAINER: the program's calls, whose it was and where.
recorded() {
	expect_ok "$FXTRACE" terminate
	expect_clean "$1"
	list_archive "$1"
	expect_events 1 'process == "program" && name == "main" && category == "function"'
	expect_events 1 'process == "program" && name == "leaf_function" && category == "function"'
	expect_ok "$FXTRACE" query --csv "$1" "SELECT uid, container FROM process WHERE cmdline LIKE '/app/program%'"
	expect_equal "12345,$2" "$(tail -n 1 out | tr -d '"\r')" 'the user and the container'
}

# What the page says.
command=$(sed -n '/^\tpodman run /,/IMAGE$/p' "$FX_SRCDIR/doc/CONTAINERS.md" | sed 's/\\$//' | tr -d '\n\t' | sed "s,LIBRARY:,$LIBFXTRACE:,
	s,-v /run/fxtrace:,-v $TEST_DIR/socket:,; s,IMAGE\$,program,; s,^podman run,& --cidfile $TEST_DIR/id,")
case $command in
podman*"$LIBFXTRACE:"*"$TEST_DIR/socket:"*program) ;;
*) fail "the page has no command: $command" ;;
esac
expect_ok "$FXTRACE" start -o page.fxt
# shellcheck disable=SC2086 # words
expect_status 7 timeout 60 $command
recorded page.fxt "$(cat id)"

# The pod: its images have names, the node's folder is the test's, and its program ends.
awk -v RS='---\n' '/\nkind: Pod\n/' "$FX_SRCDIR/packaging/kubernetes.yaml" |
	sed "s,IMAGE-OF-FXTRACE,localhost/tracer:latest,; s,IMAGE-OF-PROGRAM,localhost/program:latest,
		/hostPath:/,/type:/s,path: .*,path: $TEST_DIR/socket,; s,^spec:,&\n  restartPolicy: Never," >pod.yaml
expect_line "path: $TEST_DIR/socket" pod.yaml
if command -v catatonit >/dev/null; then
	expect_ok "$FXTRACE" start -o pod.fxt
	expect_ok timeout 120 podman kube play pod.yaml
	expect_equal 7 "$(timeout 60 podman wait program-program)" "the status of the pod's program"
	recorded pod.fxt "$(podman inspect -f '{{.Id}}' program-program)"
else
	echo 'left out: no catatonit, which a pod of Podman begins with'
fi
manager_stop
