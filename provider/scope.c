/* SPDX-License-Identifier: MIT */
/* Of the shared library. */
#include "provider/scope.h"

#include <dlfcn.h>
#include <stddef.h>

#include "preload/host/self.h"

void fx_scope_widen(void)
{
	const char *path = fx_self_path();

	if (path && path[0])
		dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NODELETE);
}
