/* SPDX-License-Identifier: MIT */
/*
 * What a client has seen of the threads of its session's processes, by looking at them from outside.
 */
#include <errno.h>
#include <string.h>

#include "manager/archive/notes.h"
#include "manager/session/daemon-internal.h"
#include "manager/session/look.h"

static const char *note_name(uint32_t kind)
{
	switch (kind) {
	case FX_NOTE_STANDSTILL:
		return "standstill";
	case FX_NOTE_DEADLOCK:
		return FX_LOOK_LOST;
	default:
		return NULL;
	}
}

static const struct fx_provider *note_provider(const struct fx_daemon *d, uint32_t pid)
{
	const struct fx_provider *p = d->roster.providers;

	while (p && ((uint32_t)p->pid != pid || p->phase != FX_PROVIDER_LIVE || !p->inlet ||
		     p->is_kernel))
		p = p->next;
	return p;
}

int fx_daemon_session_note(struct fx_daemon *d, const struct fx_client *client,
			   const struct fx_msg_note *request)
{
	const char *name = note_name(request->kind);
	const struct fx_provider *p;
	struct fx_block_list list;
	struct fx_block *block;

	if (!fx_daemon_session_is_running(&d->session))
		return FX_CONTROL_NOT_STARTED;
	if (d->session.client != client || !name || request->tid == 0 || request->tid > INT32_MAX ||
	    !memchr(request->text, 0, sizeof(request->text)))
		return FX_CONTROL_BAD_REQUEST;
	p = note_provider(d, request->pid);
	if (!p)
		return -ESRCH;
	/* It is not waited for the writer. */
	block = fx_queue_is_full(d->roster.queue)
		    ? NULL
		    : fx_queue_block(d->roster.queue, FX_BLOCK_NOTES, p->inlet);
	if (!block)
		return -ENOMEM;
	block->ticks = fx_ticks(d->roster.clock.kind);
	fx_notes_add(block, fx_look_tid(p, (pid_t)request->tid), name, request->text);
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(d->roster.queue, &list);
	return 0;
}
