/* SPDX-License-Identifier: MIT */
/*
 * Alerts of programs: for the clients that wait, and for triggers.
 */
#include <string.h>

#include "manager/session/daemon-internal.h"
#include "manager/settings/terms.h"

/* One for the client that waits, or, until one does, for the queue. */
static void alert_deliver(struct fx_daemon *d, const struct fx_msg_alert *alert)
{
	struct fx_daemon_session *t = &d->session;

	for (struct fx_client *c = d->clients; c; c = c->next) {
		if (c->wants_alert) {
			fx_client_alert(c, alert);
			return;
		}
	}
	if (t->alert_count == FX_ALERT_QUEUE) {
		t->alert_first = (t->alert_first + 1) % FX_ALERT_QUEUE;
		t->alert_count--;
	}
	t->alerts[(t->alert_first + t->alert_count++) % FX_ALERT_QUEUE] = *alert;
}

/* Also while a session stops: what was posted before it may be read only then. */
static bool alerts_are_heard(const struct fx_daemon_session *t)
{
	return fx_daemon_session_is_running(t) || t->state == FX_SESSION_STOPPING ||
	       (t->state == FX_SESSION_TERMINATING && !t->closed);
}

void fx_daemon_session_alert(struct fx_daemon *d, pid_t pid, const char *name)
{
	struct fx_msg_alert alert = {.pid = (uint32_t)pid};

	if (!alerts_are_heard(&d->session))
		return;
	memcpy(alert.name, name, strnlen(name, FX_ALERT_NAME_MAX));
	alert_deliver(d, &alert);
	switch (fx_terms_trigger(&d->session.config, alert.name)) {
	case FX_TRIGGER_STOP:
		fx_daemon_session_stop(d, NULL, true);
		break;
	case FX_TRIGGER_SNAPSHOT:
		fx_daemon_session_snapshot_beside(d);
		break;
	}
}
