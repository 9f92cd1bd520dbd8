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
image tracer '["/bin/fxtrace"]' "$(type -P cp)=/bin/cp" "$LIBFXTRACE=/usr/lib/libfxtrace.so" "$FXTRACE=/bin/fxtrace"
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

# recorded ARCHIVE CONTAINER [FACTS]: the program's calls, whose it was and where; what its container says of image and pod.
recorded() {
	[ ! -S "$FXTRACE_SOCKET" ] || expect_ok "$FXTRACE" terminate
	expect_clean "$1"
	list_archive "$1"
	expect_events 1 'process == "program" && name == "main" && category == "function"'
	expect_events 1 'process == "program" && name == "leaf_function" && category == "function"'
	expect_ok "$FXTRACE" query --csv "$1" "SELECT uid, container FROM process WHERE cmdline LIKE '/app/program%'"
	expect_equal "12345,$2" "$(tail -n 1 out | tr -d '"\r')" 'the user and the container'
	expect_ok "$FXTRACE" query --csv "$1" "SELECT ifnull(image, ''), ifnull(pod_name, ''), ifnull(pod_namespace, '') FROM process
		WHERE cmdline LIKE '/app/program%'"
	expect_equal "${3-,,}" "$(tail -n 1 out | tr -d '"\r')" 'the image and the pod'
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
# What the page says of images: a variable tells of it, or, of a container with all privileges, Podman itself.
for told in '-e OTEL_RESOURCE_ATTRIBUTES=container.image.name=program' --privileged; do
	rm id
	expect_ok "$FXTRACE" start -o told.fxt
	# Podman tells nothing where it lays an empty folder over /run, as it does with --read-only.
	told=${told/#--privileged/--privileged --read-only=false}
	# shellcheck disable=SC2086 # words
	expect_status 7 timeout 60 ${command%program}$told program
	case $told in
	--privileged*) recorded told.fxt "$(cat id)" localhost/program:latest,, ;;
	*) recorded told.fxt "$(cat id)" program,, ;;
	esac
done

# --- Pods: images have names, the node's folder is the test's, and the program ends -------------------
# pod KIND: the pod of this kind, as one by itself. Podman knows no namespaces, and not all of its releases that field.
pod() {
	python3 - "$1" "$FX_SRCDIR/packaging/kubernetes.yaml" "$TEST_DIR/socket" <<-'END' >"$1.yaml"
		import json, sys, yaml
		kind, manifest, folder = sys.argv[1:]
		one = next(o for o in yaml.safe_load_all(open(manifest)) if o["kind"] == kind)
		spec = one["spec"]["template"]["spec"] if kind == "DaemonSet" else dict(one["spec"], restartPolicy="Never")
		for volume in spec["volumes"]:
		    if "hostPath" in volume:
		        volume["hostPath"]["path"] = folder
		for container in spec["containers"]:
		    for variable in container["env"]:
		        if variable.get("valueFrom") == {"fieldRef": {"fieldPath": "metadata.namespace"}}:
		            del variable["valueFrom"]
		            variable["value"] = "default"
		pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": one["metadata"]["name"]}, "spec": spec}
		text = json.dumps(pod).replace("IMAGE-OF-FXTRACE", "localhost/tracer:latest")
		print(text.replace("IMAGE-OF-PROGRAM", "localhost/program:latest"))
	END
}
if ! command -v catatonit >/dev/null; then
	echo 'left out: no catatonit, which a pod of Podman begins with'
elif ! python3 -c 'import yaml' 2>/dev/null; then
	echo 'left out: python3 reads no yaml here'
else
	pod Pod
	pod DaemonSet
	expect_ok "$FXTRACE" start -o pod.fxt
	expect_ok timeout 120 podman kube play Pod.yaml
	expect_equal 7 "$(timeout 60 podman wait program-program)" "the status of the pod's program"
	recorded pod.fxt "$(podman inspect -f '{{.Id}}' program-program)" localhost/program:latest,program,default
	expect_ok timeout 60 podman pod rm -f program
	manager_stop
	# The manager is a pod itself, and asked by a command in it, as the manifest says.
	rm -f "$FXTRACE_SOCKET"
	expect_ok timeout 120 podman kube play DaemonSet.yaml
	wait_for 60 test -S "$FXTRACE_SOCKET" || fail "the pod's manager does not listen: $(podman logs fxtrace-manager 2>&1)"
	expect_ok timeout 60 podman exec fxtrace-manager fxtrace status
	if [ "$(podman inspect -f '{{.HostConfig.PidMode}}' fxtrace-manager)" != host ]; then
		# Older releases leave hostPID out, without which it sees nobody: its container is the same, by podman run.
		expect_ok timeout 60 podman pod rm -f -a
		rm -f "$FXTRACE_SOCKET"
		python3 - <<-'END' >words || fail 'no command is made of the pod'
			import json
			spec = json.load(open("DaemonSet.yaml"))["spec"]
			manager, = spec["containers"]
			volumes = {v["name"]: v["hostPath"]["path"] if "hostPath" in v else v["name"] for v in spec["volumes"]}
			security = manager["securityContext"]
			assert spec["hostPID"] and security.pop("readOnlyRootFilesystem")
			words = ["--pid", "host", "--read-only"] + [w for c in security.pop("capabilities")["add"] for w in ("--cap-add", c)]
			words += [w for e in manager["env"] for w in ("-e", f"{e['name']}={e['value']}")]
			words += [w for m in manager["volumeMounts"] for w in ("-v", f"{volumes[m['name']]}:{m['mountPath']}")]
			assert not security, security
			print(*words, manager["image"], *manager["args"])
		END
		# shellcheck disable=SC2046 # words
		expect_ok timeout 60 podman run -d --name fxtrace-manager $(cat words)
		wait_for 60 test -S "$FXTRACE_SOCKET" || fail "the container's manager does not listen: $(podman logs fxtrace-manager 2>&1)"
	fi
	expect_ok timeout 60 podman exec fxtrace-manager fxtrace start -o /traces/t.fxt
	expect_ok timeout 120 podman kube play Pod.yaml
	expect_equal 7 "$(timeout 60 podman wait program-program)" "the status of the pod's program, beside a pod that traces it"
	expect_ok timeout 60 podman exec fxtrace-manager fxtrace terminate
	expect_ok timeout 60 podman cp fxtrace-manager:/traces/t.fxt node.fxt
	id=$(podman inspect -f '{{.Id}}' program-program)
	timeout 60 podman pod rm -f -a >/dev/null 2>&1
	timeout 60 podman rm -f -a >/dev/null 2>&1
	rm -f "$FXTRACE_SOCKET"
	recorded node.fxt "$id" localhost/program:latest,program,default
fi
[ ! -S "$FXTRACE_SOCKET" ] || manager_stop
