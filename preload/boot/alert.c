/* SPDX-License-Identifier: MIT */
/* What programs call of this library by its name: include/fxtrace/alert.h. */
#include <errno.h>
#include <string.h>

#include <fxtrace/alert.h>

#include "engine/provider/engine.h"
#include "preload/hooks/hooks.h"

_Static_assert(FXTRACE_ALERT_NAME_MAX == FX_ALERT_BYTES, "what is promised is what a packet holds");

fx_export int fxtrace_alert_raise(const char *name)
{
	int before = errno, r = fx_engine_alert(name, strnlen(name, FX_ALERT_BYTES + 1));

	errno = before;
	return r;
}
