/* SPDX-License-Identifier: MIT */
/* Lines of /proc/PID/cgroup as runtimes make them. */
#include <criterion/criterion.h>

#include "manager/process/container.h"

#define ID	       "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
#define OTHER	       "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
#define POD	       "12345678-9abc-def0-1234-56789abcdef0"
#define POD_OF_SYSTEMD "12345678_9abc_def0_1234_56789abcdef0"

static void expect(const char *line, const char *id, const char *pod)
{
	struct fx_container container = {.id = "old", .pod = "old"};

	cr_expect(fx_container_parse(line, &container), "%s", line);
	cr_expect_str_eq(container.id, id, "%s: %s", line, container.id);
	cr_expect_str_eq(container.pod, pod, "%s: pod %s", line, container.pod);
}

static void expect_none(const char *line)
{
	struct fx_container container = {.id = "old", .pod = "old"};

	cr_expect_not(fx_container_parse(line, &container), "%s", line);
	cr_expect_str_eq(container.id, "old", "%s: %s", line, container.id);
	cr_expect_str_eq(container.pod, "old", "%s: pod %s", line, container.pod);
}

Test(container, docker)
{
	expect("12:pids:/docker/" ID "\n", ID, "");
	expect("0::/system.slice/docker-" ID ".scope\n", ID, "");
	expect("0::/system.slice/docker-" ID ".scope", ID, "");
	expect("0::/../docker-" ID ".scope/init.scope\n", ID, "");
}

Test(container, podman)
{
	expect("0::/machine.slice/libpod-" ID ".scope/container\n", ID, "");
	expect("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	       ".scope/container\n",
	       ID, "");
	expect("1:name=systemd:/libpod_parent/libpod-" ID "\n", ID, "");
}

Test(container, kubernetes)
{
	expect("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_OF_SYSTEMD
	       ".slice/crio-" ID ".scope\n",
	       ID, POD);
	expect("0::/kubepods.slice/kubepods-pod" POD_OF_SYSTEMD ".slice/crio-" ID
	       ".scope/container\n",
	       ID, POD);
	expect("0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	       "kubelet-kubepods-besteffort-pod" POD_OF_SYSTEMD ".slice/cri-containerd-" ID
	       ".scope\n",
	       ID, POD);
	expect("11:memory:/kubepods/burstable/pod" POD "/" ID "\n", ID, POD);
	expect("0::/system.slice/containerd.service/kubepods-burstable-pod" POD_OF_SYSTEMD
	       ".slice:cri-containerd:" ID "\n",
	       ID, POD);
	expect("0::/kubepods.slice/kubepods-pod0123456789abcdef0123456789abcdef.slice/crio-" ID
	       ".scope\n",
	       ID, "0123456789abcdef0123456789abcdef");
}

/* As in a cluster whose nodes are containers. */
Test(container, the_innermost_counts)
{
	expect("0::/docker/" OTHER "/kubepods/pod" POD "/" ID "/init\n", ID, POD);
}

/* Whose uid is none that is known; the container is, all the same. */
Test(container, pods_of_other_names)
{
	expect("0::/kubepods/podium/" ID "\n", ID, "");
	expect("0::/kubepods/pod12345678-9abc-def0-1234-56789abcdefg/" ID "\n", ID, "");
	expect("0::/kubepods/pod/" ID "\n", ID, "");
}

Test(container, none)
{
	expect_none("0::/\n");
	expect_none("0::\n");
	expect_none("");
	expect_none("4:memory:/user.slice/user-1000.slice/session-2.scope\n");
	expect_none("0::/process_api/5173f40caddb9cb28c76a21521856a47\n");
	expect_none("0::/docker/" ID "0\n");
	expect_none("0::/docker/x" ID "\n");
	expect_none(
	    "0::/docker/0F1E2D3C4B5A69788796A5B4C3D2E1F00F1E2D3C4B5A69788796A5B4C3D2E1F0\n");
	expect_none("0::/machine.slice/libpod-conmon-" ID ".scope\n");
	expect_none("0::/kubepods.slice/kubepods-pod" POD_OF_SYSTEMD ".slice/crio-conmon-" ID
		    ".scope\n");
}
