/* SPDX-License-Identifier: MIT */
/* Of the static library, which may be part of a program, or of a library. */
#include "provider/scope.h"

#include <dlfcn.h>
#include <stddef.h>

#include "preload/host/self.h"

/* A static program has none, and is to get none. Before glibc 2.34 it is there where libdl is. */
extern __typeof__(dlopen) dlopen __attribute__((weak));

void fx_scope_widen(void)
{
	const char *path = fx_self_path();

	if (path && path[0] && dlopen)
		dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
