/* SPDX-License-Identifier: MIT */
#include "preload/host/gates.h"

#include "preload/host/notes.h"

static void gates_see(void *opaque, uint32_t type, void *target, size_t room)
{
	const struct fx_gates *gates = opaque;
	const void **gate = target;

	(void)room;
	if (type != FXTRACE_NOTE_GATE && type != FXTRACE_NOTE_EVENTS)
		return;
	/* The dynamic linker may have done it; and a program that has set it to something else meant that. */
	if (!*gate)
		*gate = type == FXTRACE_NOTE_GATE ? (const void *)gates->calls : gates->events;
}

void fx_gates_open(const struct fx_gates *gates)
{
	fx_notes_walk(gates_see, (void *)gates);
}
