/* SPDX-License-Identifier: MIT */
/* The container that a cgroup is of, by the names that runtimes give to cgroups. */
#ifndef FX_MANAGER_CONTAINER_H
#define FX_MANAGER_CONTAINER_H

#include <stdbool.h>

enum { FX_CONTAINER_ID = 64, FX_CONTAINER_POD = 36 };

/* Texts; empty: there is none. */
struct fx_container {
	char id[FX_CONTAINER_ID + 1]; /* hexadecimal digits */
	char pod
	    [FX_CONTAINER_POD +
	     1]; /* the uid of Kubernetes: as a UUID, or, of a static pod, 32 hexadecimal digits */
};

/*
 * Reads a line of /proc/PID/cgroup, with or without its end. Returns whether it names a container; sets `ret` then, and
 * leaves it else. The innermost counts. Forms that are known:
 *
 *	/docker/ID, /system.slice/docker-ID.scope                      Docker
 *	/machine.slice/libpod-ID.scope, /libpod_parent/libpod-ID       Podman; its monitor, libpod-conmon-ID, is outside
 *	.../kubepods-burstable-podUID.slice/crio-ID.scope              CRI-O; UID has _ for -
 *	.../kubepods-podUID.slice/cri-containerd-ID.scope              containerd
 *	.../kubepods-podUID.slice:cri-containerd:ID                    the same, of a runtime that takes no slice
 *	/kubepods/burstable/podUID/ID                                  any, without systemd
 */
bool fx_container_parse(const char *line, struct fx_container *ret);

#endif
