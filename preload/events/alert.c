/* SPDX-License-Identifier: MIT */
/* What programs call of this library by its name: include/fxtrace/alert.h. */
#include <fxtrace/alert.h>

#include "base/compiler.h"
#include "engine/provider/engine.h"
#include "preload/events/events.h"

_Static_assert(FXTRACE_ALERT_NAME_MAX == FX_ALERT_BYTES, "what is promised is what a packet holds");

/* The table may be another engine's by now (engines.h), which the compiler does not know. */
fx_export int fxtrace_alert_raise(const char *name)
{
	const struct fxtrace_events *events = &fx_events_table;

	__asm__("" : "+r"(events));
	return events->alert(name);
}
