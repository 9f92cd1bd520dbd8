#!/bin/bash
# SPDX-License-Identifier: MIT
# What doc/CONTAINERS.md and packaging/kubernetes.yaml say, with bwrap as the runtime: a manager outside, and inside a root that
# is read-only, another user, namespaces of mounts, processes, network and the rest, the library and the socket's folder where
# the manifest mounts them.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
not_sanitized "a sanitizer wants /proc"
need bwrap

MANIFEST=$FX_SRCDIR/packaging/kubernetes.yaml

# --- The manifest by itself ---------------------------------------------------------------------

# What is mounted is a volume of the pod, what is named lies in a mount, and both pods have the same folder of the node.
cat >manifest.py <<'END'
import posixpath, sys
try:
    import yaml
except ImportError:
    sys.exit(77)
objects = {o["kind"]: o for o in yaml.safe_load_all(open(sys.argv[1]))}
assert set(objects) == {"Namespace", "DaemonSet", "Pod"}, set(objects)
node, pod = objects["DaemonSet"]["spec"]["template"]["spec"], objects["Pod"]["spec"]
selector = objects["DaemonSet"]["spec"]["selector"]["matchLabels"]
assert selector.items() <= objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"].items()

def volume_of(spec, container, path):
    folders = {m["mountPath"]: m["name"] for m in container["volumeMounts"]}
    return next(v for v in spec["volumes"] if v["name"] == folders[posixpath.dirname(path)])

def variable(container, name):
    return next(e["value"] for e in container["env"] if e["name"] == name)

for spec in node, pod:
    for container in spec.get("initContainers", []) + spec["containers"]:
        assert {m["name"] for m in container["volumeMounts"]} <= {v["name"] for v in spec["volumes"]}, container
manager, program, = node["containers"][0], pod["containers"][0]
init = pod["initContainers"][0]
sockets = [variable(c, "FXTRACE_SOCKET") for c in (manager, program)]
assert node["hostPID"] is True
assert volume_of(node, manager, sockets[0])["hostPath"]["path"] == volume_of(pod, program, sockets[1])["hostPath"]["path"]
assert posixpath.basename(sockets[0]) == posixpath.basename(sockets[1])
library = variable(program, "LD_PRELOAD")
assert volume_of(pod, program, library) is volume_of(pod, init, init["command"][2])
assert posixpath.basename(library) == posixpath.basename(init["command"][1])
END
status=0
python3 manifest.py "$MANIFEST" >out 2>&1 || status=$?
case $status in
0) ;;
77 | 127) echo "no python3 with yaml: the manifest is read for its paths alone" ;;
*) fail "the manifest contradicts itself: $(cat out)" ;;
esac

# Its fields are those of the API: by a table, and where kubectl is, by the types that it has built in, which leave out what they do not know.
cat >edits <<'END'
s/readOnlyRootFilesystem/readOnlyRootFs/
s/hostPID: true/hostPID: "yes"/
s/kind: DaemonSet/kind: DaemonSets/
s/type: DirectoryOrCreate/type: CreateDirectory/
s/args: .*/args: manager/
s/runAsUser: .*/runAsUser: nobody/
s/fieldPath: metadata.name$/fieldPath: metadata.names/
s/mountPath: /path: /
s/^  containers:/  container:/
END
schema() {
	python3 "$FX_SRCDIR/tests/e2e/kubernetes.py" "$FX_SRCDIR/tests/e2e/kubernetes.tbl" "$1"
}
status=0
schema "$MANIFEST" >out 2>&1 || status=$?
case $status in
0)
	while read -r edit; do
		sed "$edit" "$MANIFEST" >wrong.yaml
		schema wrong.yaml >out 2>&1 && fail "a manifest is right with $edit"
		[ -s out ] || fail "nothing is said of $edit"
	done <edits
	;;
77 | 127) ;;
*) fail "the manifest is not as the API has it: $(cat out)" ;;
esac
cat >lost.py <<'END'
import json, subprocess, sys, yaml
ours = list(yaml.safe_load_all(open(sys.argv[1])))
def lost(ours, theirs, where):
    if isinstance(ours, dict):
        for key, value in ours.items():
            assert isinstance(theirs, dict) and key in theirs, f"{where}: {key} is none of its fields"
            lost(value, theirs[key], f"{where}.{key}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), where
        for i, (left, right) in enumerate(zip(ours, theirs)):
            lost(left, right, f"{where}[{i}]")
    else:
        assert ours == theirs or where.endswith(".image"), (where, ours, theirs)
for one in ours:
    if one["kind"] == "Namespace": # no containers: nothing is set there
        continue
    out = subprocess.run(["kubectl", "set", "image", "--local", "-f", "-", "*=x", "-o", "json"], input=json.dumps(one), capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    lost(one, json.loads(out.stdout), one["kind"])
END
if [ "$status" = 0 ] && command -v kubectl >/dev/null; then
	expect_ok timeout 120 python3 lost.py "$MANIFEST"
	sed 's/readOnlyRootFilesystem/readOnlyRootFs/' "$MANIFEST" >wrong.yaml
	expect_status 1 timeout 120 python3 lost.py wrong.yaml
	expect_line 'readOnlyRootFs is none of its fields' err
fi

# value NAME: the last that the manifest gives to this variable, which is the program's.
value() {
	grep -A1 "name: $1\$" "$MANIFEST" | sed -n 's/^ *value: //p' | tail -n 1
}
library=$(value LD_PRELOAD)
socket=$(value FXTRACE_SOCKET)
[ -n "$library" ] && [ -n "$socket" ] || fail "the manifest says neither library nor socket"
for option in $(sed -n 's/.*args: \[manager, \(.*\)\]/\1/p' "$MANIFEST" | tr -d ,); do
	expect_ok "$FXTRACE" manager --help
	expect_line "${option%%=*}( |=)" out
done

# --- Inside and outside ---------------------------------------------------------------------------

target leaf leaf.c

mkdir socket traces image
chmod 711 "$TEST_DIR" . socket
chmod 755 image
cp leaf image/program
cp "$LIBFXTRACE" image/libfxtrace.so # an init container's copy
chmod 755 image/*

# The root: what an image holds, and no place to write.
root=(--tmpfs / --proc /proc --dev /dev)
for folder in bin etc lib lib32 lib64 sbin usr; do
	if [ -L "/$folder" ]; then
		root+=(--symlink "$(readlink "/$folder")" "/$folder")
	elif [ -d "/$folder" ]; then
		root+=(--ro-bind "/$folder" "/$folder")
	fi
done
root+=(--perms 0755 --dir /app --perms 0755 --dir "${library%/*}" --perms 0755 --dir "${socket%/*}" --ro-bind image/program /app/program)
recipe=(--ro-bind image/libfxtrace.so "$library" --ro-bind socket "${socket%/*}"
	--setenv LD_PRELOAD "$library" --setenv FXTRACE_SOCKET "$socket")

# Who is inside: root can be somebody whom the manager is told of by number; others are a number that only their namespace has.
ways=(own-user)
user=("$(id -u)")
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	ways+=(other-user)
	user+=(12345)
fi

# inside WAY OPTION... -- COMMAND...
inside() {
	local way=$1 options=() as=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	case $way in
	own-user) options+=(--unshare-user --uid 12345 --gid 12345) ;;
	other-user) as=(setpriv --reuid 12345 --regid 12345 --clear-groups) ;;
	esac
	bwrap --unshare-ipc --unshare-pid --unshare-net --unshare-uts --as-pid-1 --clearenv --setenv PATH /bin:/usr/bin \
		"${root[@]}" "${options[@]}" --remount-ro / -- "${as[@]}" "$@"
}

# in_container COMMAND...: there, if there is one; in a shell of its own.
in_container() (
	[ -z "$container" ] || echo "$BASHPID" >"$container/cgroup.procs"
	"$@"
)

inside own-user -- true 2>err || skip "bwrap can make no such sandbox here: $(head -n 1 err)"
expect_status 1 inside own-user "${recipe[@]}" -- touch "${socket%/*}/written"
expect_status 1 inside own-user "${recipe[@]}" -- touch /written

FXTRACE_SOCKET=$TEST_DIR/socket/manager.sock
export FXTRACE_SOCKET
"$FXTRACE" manager --foreground --allow-users=all >manager.out 2>manager.err &
# shellcheck disable=SC2034 # control.sh has it
MANAGER=$!
wait_for 10 "$FXTRACE" status || fail "the manager does not listen: $(cat manager.err)"

# A cgroup as Docker names it, where one can be made.
id=$(printf '%064x' $$)
for cgroup in /sys/fs/cgroup/unified /sys/fs/cgroup ''; do
	[ -f "$cgroup/cgroup.procs" ] && mkdir "$cgroup/docker-$id.scope" 2>/dev/null && break
done
container=
if [ -n "$cgroup" ]; then
	container=$cgroup/docker-$id.scope
	# shellcheck disable=SC2034 # lib.sh has it
	at_end='wait_for 5 rmdir "$container"'
	sh -c 'echo $$ >"$0/cgroup.procs"' "$container" 2>/dev/null || container=
fi
[ -n "$container" ] || echo "no cgroup can be made here: the id of a container is not looked for"

for i in "${!ways[@]}"; do
	way=${ways[$i]}
	expect_ok "$FXTRACE" start -o "traces/$way.fxt"
	expect_status 7 in_container inside "$way" "${recipe[@]}" -- sh -c '/app/program 5; exec /app/program 7'
	# Without the recipe it is none of the manager's business.
	expect_status 6 inside "$way" -- /app/program 6
	expect_ok "$FXTRACE" terminate
	expect_clean "traces/$way.fxt"
	list_archive "traces/$way.fxt"
	expect_events 2 'process == "program" && name == "main" && category == "function"'
	expect_events 2 'process == "program" && name == "leaf_function" && category == "function"'
	expect_events 1 'process == "program" && name == "getppid" && has("ret=0")' # of the shell, which is process 1 there
	expect_events 1+ 'process == "program" && name == "creates process" && type == "instant"'
	expect_ok "$FXTRACE" query --csv "traces/$way.fxt" "SELECT uid FROM process WHERE cmdline = '/app/program 7'"
	expect_equal "${user[$i]}" "$(tail -n 1 out | tr -d '\r')" "whose program it is"
	[ -z "$container" ] || expect_equal "$id" "$("$FXTRACE" dump --json "traces/$way.fxt" | grep '"kernel-object"' |
		grep -oE '"container"[^}]*' | grep -oE '[0-9a-f]{64}' | sort -u)" "the container's id"
	echo "$way: recorded"
done
manager_stop
