/* SPDX-License-Identifier: MIT */
/*
 * What a container says of itself, which the names of its cgroups do not: its image, and the name and namespace of its Kubernetes pod.
 * Whoever starts it has put that into its environment, or its runtime into /run/.containerenv. It is believed of the container's own processes.
 */
#ifndef FX_MANAGER_CONTAINER_WORDS_H
#define FX_MANAGER_CONTAINER_WORDS_H

#include <sys/types.h>

enum { FX_CONTAINER_WORD_MAX = 255 };

/* Texts; empty: not known. */
struct fx_container_words {
	char image[FX_CONTAINER_WORD_MAX + 1];
	char pod_name[FX_CONTAINER_WORD_MAX + 1];
	char pod_namespace[FX_CONTAINER_WORD_MAX + 1];
};

/*
 * Takes what a variable NAME=VALUE of an environment tells, if that is not known yet:
 *
 *	OTEL_RESOURCE_ATTRIBUTES   k8s.pod.name, k8s.namespace.name, container.image.name with one of container.image.tags
 *	POD_NAME, POD_NAMESPACE    as a downward API's variables are called
 *	CONTAINER_IMAGE
 */
void fx_container_words_variable(const char *variable, struct fx_container_words *ret);

/* The same of a line of Podman's /run/.containerenv: image="NAME". */
void fx_container_words_line(const char *line, struct fx_container_words *ret);

/* What a process may be asked for; the rest is empty. */
void fx_container_words_read(pid_t pid, struct fx_container_words *ret);

#endif
