/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of the session of the daemon.
 */
#include "manager/session/daemon-internal.h"

static void snapshot_done(void *opaque, const char *path, const struct fx_totals *totals, int error)
{
	struct fx_client *client = opaque;
	struct fx_daemon_session of = {.config.mode = FX_MODE_CIRCULAR};
	struct fx_msg_result result = fx_daemon_session_result(&of, totals, error);

	(void)path;
	if (!client)
		return;
	result.status = error;
	fx_client_result(client, &result);
}

int fx_daemon_session_snapshot(struct fx_daemon *d, struct fx_client *client,
			       struct fx_output *output, const char *path)
{
	struct fx_daemon_session *t = &d->session;
	const struct fx_snapshot_order order = {
	    .config = &t->config,
	    .output = output,
	    .path = path,
	    .clock = &d->roster.clock,
	    .first_anchor = t->first_anchor,
	    .done = snapshot_done,
	    .opaque = client,
	};
	int r = fx_daemon_session_refuse(t, FX_REQUEST_SNAPSHOT);

	if (r == 0 && t->config.mode != FX_MODE_CIRCULAR)
		r = FX_CONTROL_NOT_CIRCULAR;
	if (r) {
		fx_output_close(output, NULL);
		return r;
	}
	r = fx_snapshot_take(&d->snapshots, &order, d->roster.providers);
	if (r < 0)
		return r;
	t->snapshots++;
	return FX_ANSWER_PENDING;
}

void fx_daemon_session_snapshot_beside(struct fx_daemon *d)
{
	struct fx_daemon_session *t = &d->session;

	/* What another user chose as a path is not to be opened with this user's rights. */
	if (t->config.mode != FX_MODE_CIRCULAR || !t->is_own)
		return;
	/* Its own archive has those moments. */
	if (!fx_daemon_session_is_running(t)) {
		t->late++;
		return;
	}
	t->snapshots++;
	fx_snapshot_take_beside(&d->snapshots, &t->config, &d->roster.clock, t->first_anchor,
				&t->beside, d->roster.providers);
}
