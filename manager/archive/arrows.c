/* SPDX-License-Identifier: MIT */
#include "manager/archive/arrows.h"

#include <string.h>

#include "manager/archive/archive.h"
#include "manager/archive/own.h"

/* Flow ids of the manager's own: no provider has this number. */
#define FLOW_PREFIX (UINT64_C(0x3fffff) << 41)

static void arrow_event(struct fx_arrows *arrows, enum fxt_event_type type,
			const struct fx_point *at, const char *name, uint64_t id,
			const struct fxt_arg *args, unsigned count)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.type = type;
	record.event.timestamp = at->ns;
	record.event.thread.pid = at->pid;
	record.event.thread.tid = at->tid;
	record.event.category = fx_own_text(arrows->category ? arrows->category : "process");
	record.event.name = fx_own_text(name);
	record.event.id = id;
	record.nargs = count;
	if (count)
		memcpy(record.args, args, count * sizeof(*args));
	fx_archive_select(arrows->archive, at->provider);
	fx_archive_record(arrows->archive, &record);
}

void fx_arrow_instant(struct fx_arrows *arrows, const struct fx_point *at, const char *name,
		      const struct fxt_arg *args, unsigned count)
{
	arrow_event(arrows, FXT_EVENT_INSTANT, at, name, 0, args, count);
}

static void arrow_flow(struct fx_arrows *arrows, enum fxt_event_type type,
		       const struct fx_point *at, const char *name, uint64_t id)
{
	arrow_event(arrows, type, at, name, id, NULL, 0);
}

void fx_arrow_lead(struct fx_arrows *arrows, const struct fx_point *from, const char *from_name,
		   const struct fx_point *to, const char *to_name, const struct fxt_arg *to_arg)
{
	const uint64_t id = FLOW_PREFIX | ++arrows->flows;

	arrow_flow(arrows, FXT_EVENT_FLOW_BEGIN, from, from_name, id);
	fx_arrow_instant(arrows, to, to_name, to_arg, to_arg != NULL);
	arrow_flow(arrows, FXT_EVENT_FLOW_END, to, to_name, id);
}

void fx_arrow_draw(struct fx_arrows *arrows, const struct fx_point *from, const char *from_name,
		   const struct fxt_arg *from_arg, const struct fx_point *to, const char *to_name,
		   const struct fxt_arg *to_arg)
{
	struct fx_point begin = *from;

	if (begin.ns > to->ns)
		begin.ns = to->ns;
	fx_arrow_instant(arrows, &begin, from_name, from_arg, from_arg != NULL);
	fx_arrow_lead(arrows, &begin, from_name, to, to_name, to_arg);
}

void fx_arrow_draw_in(struct fx_arrows *arrows, const char *category, const struct fx_point *from,
		      const char *from_name, const struct fxt_arg *from_arg,
		      const struct fx_point *to, const char *to_name, const struct fxt_arg *to_arg)
{
	arrows->category = category;
	fx_arrow_draw(arrows, from, from_name, from_arg, to, to_name, to_arg);
	arrows->category = NULL;
}
