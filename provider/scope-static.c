/* SPDX-License-Identifier: MIT */
/* Of the static library, which may be part of a program, or of a library. */
#include "provider/scope.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "preload/host/self.h"

/* A static program has none, and is to get none; of dlopen(), its linker would warn. Before glibc 2.34 it is there where libdl is. */
extern __typeof__(dlsym) dlsym __attribute__((weak));

void fx_scope_widen(void)
{
	const char *path = fx_self_path();
	void *(*open)(const char *path, int flags) = NULL, *symbol, *stays;

	if (!path || !path[0] || !dlsym)
		return;
	symbol = dlsym(RTLD_DEFAULT, "dlopen");
	memcpy(&open, &symbol, sizeof(open));
	stays = open ? open(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) : NULL;
	(void)stays;
}
