/* SPDX-License-Identifier: MIT */
/*
 * What a single session does beside recording: snapshots, alerts of programs, and looks where everybody stands.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "manager/process/signal-name.h"
#include "manager/session/single-internal.h"
#include "manager/settings/report.h"
#include "manager/settings/terms.h"

/* --- Snapshots -------------------------------------------------------------------------------- */

void fx_single_take_snapshot(struct fx_single *s)
{
	if (s->stopped || s->config->mode != FX_MODE_CIRCULAR)
		return;
	fx_snapshot_take_beside(&s->snapshots, s->config, &s->roster.clock, s->roster.first_anchor,
				&s->snapshot_count, s->roster.providers);
}

/* --- Where everybody stands ------------------------------------------------------------------- */

/* All that are traced, and the program; but for the one that is `dead`. 0 or -ENOMEM. */
static int single_pids(const struct fx_single *s, pid_t dead, struct fx_pids *ret)
{
	bool has_program = s->program.has_ended || !s->program.pid || s->program.pid == dead;

	for (const struct fx_provider *p = s->roster.providers; p; p = p->next) {
		if (p->phase != FX_PROVIDER_LIVE || p->is_kernel)
			continue;
		has_program |= p->pid == s->program.pid;
		if (fx_vector_reserve(ret, 1) < 0)
			return -ENOMEM;
		ret->items[ret->count++] = p->pid;
	}
	if (!has_program && fx_vector_reserve(ret, 1) < 0)
		return -ENOMEM;
	if (!has_program)
		ret->items[ret->count++] = s->program.pid;
	return 0;
}

void fx_single_looked(void *opaque)
{
	struct fx_single *s = opaque;

	fx_look_tell(&s->look, &s->roster, s->look_name);
	fx_standstill_excuse(&s->still, s->look.answer.stopped);
}

void fx_single_watch_standstill(struct fx_single *s)
{
	char title[64];
	struct fx_pids pids = {0};
	uint64_t now = fx_monotonic_ns();

	if (now < s->still.next || s->stopped)
		return;
	if (single_pids(s, 0, &pids) == 0 && fx_standstill_look(&s->still, now, &pids)) {
		snprintf(title, sizeof(title), "nothing has progressed for %.3g s",
			 (double)(now - s->still.since) / 1e9);
		s->look_name = "standstill";
		fx_look_begin(&s->look, title, fx_ticks(s->roster.clock.kind), &pids);
	}
	fx_vector_free(&pids);
}

/* --- Alerts ----------------------------------------------------------------------------------- */

static const struct fx_provider *single_provider(const struct fx_single *s, pid_t pid)
{
	for (const struct fx_provider *p = s->roster.providers; p; p = p->next) {
		if (p->pid == pid)
			return p;
	}
	return NULL;
}

/* What a look is about. False: of a process that a signal has not ended, or nobody knows whether one has, none is told. */
static bool single_look_title(const struct fx_single *s, pid_t pid, const char *name, char *ret,
			      size_t size)
{
	const struct fx_provider *p = single_provider(s, pid);
	const char *who = p ? p->name : "a process";

	if (strcmp(name, FX_ALERT_DEATH) != 0)
		snprintf(ret, size, "%s (%d) raised the alert %s", who, (int)pid, name);
	else if (p && p->ending.is_known && WIFSIGNALED(p->ending.wait_status))
		snprintf(ret, size, "%s (%d) was ended by %s", who, (int)pid,
			 fx_signal_name(WTERMSIG(p->ending.wait_status)));
	else
		return false;
	return true;
}

/* What all others do. Of deaths that come while it is looked already, that look tells. */
static void single_say_where(struct fx_single *s, pid_t pid, const char *name)
{
	struct fx_pids pids = {0};
	char title[160];

	if (!single_look_title(s, pid, name, title, sizeof(title)))
		return;
	if (s->look.is_on || single_pids(s, strcmp(name, FX_ALERT_DEATH) ? 0 : pid, &pids) < 0 ||
	    fx_pids_add_descendants(&pids) < 0 || !pids.count) {
		fx_report("%s%s", title, pids.count ? "" : "; no other traced process goes on");
	} else {
		s->look_name = "where";
		fx_look_begin(&s->look, title, fx_ticks(s->roster.clock.kind), &pids);
	}
	fx_vector_free(&pids);
}

void fx_single_alert(void *opaque, pid_t pid, const char *name)
{
	struct fx_single *s = opaque;

	switch (fx_terms_trigger(s->config, name)) {
	case FX_TRIGGER_STOP:
		s->stop_at = fx_monotonic_ns();
		break;
	case FX_TRIGGER_SNAPSHOT:
		fx_single_take_snapshot(s);
		break;
	case FX_TRIGGER_WHERE:
		single_say_where(s, pid, name);
		break;
	}
}
