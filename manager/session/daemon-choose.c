/* SPDX-License-Identifier: MIT */
/*
 * Other functions are recorded from now on, in a session that goes on: all that was recorded before is judged by the list that there
 * was, all that comes after by the new one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manager/session/daemon-internal.h"
#include "manager/settings/functions.h"

#define MS UINT64_C(1000000)

/* What of a list can change: which functions are recorded, wherever they are called. */
#define CHANGING "+-#"

/* What else it says stays. */
#define STAYING "(=~!"

static int refuse_choice(const struct fx_daemon_session *t, const struct fx_msg_choose *request)
{
	int r = fx_daemon_session_refuse(t, FX_REQUEST_CHOOSE);

	if (r)
		return r;
	if (!memchr(request->functions, 0, sizeof(request->functions)) || !*request->functions ||
	    !fx_functions_are_sound(request->functions) ||
	    !fx_functions_have_only(request->functions, CHANGING))
		return FX_CONTROL_BAD_REQUEST;
	if (t->config.mode != FX_MODE_STREAMING)
		return FX_CONTROL_NOT_STREAMING;
	if (t->config.pairs || fx_functions_nest(t->config.functions) ||
	    fx_functions_nest(request->functions))
		return FX_CONTROL_NESTED;
	if (fx_functions_need_sources(request->functions) &&
	    !fx_functions_need_sources(t->config.functions))
		return FX_CONTROL_NO_SOURCES;
	return t->choosing ? FX_CONTROL_CHOOSING : 0;
}

int fx_daemon_session_choose(struct fx_daemon *d, struct fx_client *client,
			     const struct fx_msg_choose *request)
{
	struct fx_daemon_session *t = &d->session;
	int r = refuse_choice(t, request);
	char *functions;

	if (r)
		return r;
	functions = fx_functions_with(request->functions, t->config.functions, STAYING);
	if (!functions)
		return -ENOMEM;
	if (strlen(functions) < sizeof(t->request.functions))
		strcpy(t->request.functions, functions);
	else
		r = -E2BIG;
	free(functions);
	if (r < 0)
		return r;
	t->choosing = FX_CHOOSING_SAVES;
	t->chooser = client;
	return FX_ANSWER_PENDING;
}

/* Processes are told. */
static void tell_all(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;

	fx_roster_choose_functions(&d->roster, &t->config);
	for (struct fx_provider *p = d->roster.providers; p; p = p->next) {
		if (p->inlet && p->phase == FX_PROVIDER_LIVE)
			fx_provider_want_anew(p, &t->config);
	}
	t->choosing = FX_CHOOSING_TELLS;
	t->choosing_deadline = fx_monotonic_ns() + FX_START_RECIPES_MAX * MS;
}

void fx_daemon_session_step_choosing(struct fx_daemon *d, uint64_t now)
{
	struct fx_daemon_session *t = &d->session;

	if (t->choosing && !fx_daemon_session_is_running(t)) {
		/* What was stopped meanwhile begins with the new list. */
		t->choosing = FX_CHOOSING_NOTHING;
		fx_daemon_session_answer(&t->chooser,
					 &(struct fx_msg_result){.status = FX_CONTROL_STOPPING});
	}
	if (t->choosing == FX_CHOOSING_SAVES && fx_daemon_session_flush_all(d) &&
	    fx_writer_choose(t->writer, t->request.functions) == 0)
		tell_all(d);
	if (t->choosing != FX_CHOOSING_TELLS ||
	    (fx_roster_makes_recipes(&d->roster) && now < t->choosing_deadline))
		return;
	t->choosing = FX_CHOOSING_NOTHING;
	fx_daemon_session_answer(&t->chooser, &(struct fx_msg_result){.status = 0});
}
