/* SPDX-License-Identifier: MIT */
/* Of the shared library. */
#include "provider/scope.h"

#include <dlfcn.h>
#include <stddef.h>

#include "preload/host/self.h"

void fx_scope_widen(void)
{
	const int flags = RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NODELETE;
	const char *path = fx_self_path();
	void *stays = path && path[0] ? dlopen(path, flags) : NULL;

	(void)stays;
}
