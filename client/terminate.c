/* SPDX-License-Identifier: MIT */
/* fxtrace terminate: ends the session and completes its archive. */
#include <argp.h>
#include <stdio.h>

#include "client/accompany.h"
#include "client/commands.h"
#include "client/link.h"
#include "client/remote.h"

static const struct argp_option option_table[] = {
    {"no-results", OPTION_NO_RESULTS, NULL, 0, "Throw away what circular buffers hold", 0},
    FX_REMOTE_OPTIONS,
    {0},
};

/* What the session was, for the summary. It goes with the session. */
static int ask_config(struct fx_link *link, struct fx_msg_status *status,
		      struct fx_session_config *ret)
{
	struct fx_msg_request request;
	int r = fx_link_call(link, FX_MSG_GET_STATUS, &request, sizeof(request), -1, FX_MSG_STATUS,
			     status, sizeof(*status));

	if (r)
		return r;
	status->output[sizeof(status->output) - 1] = 0;
	*ret = (struct fx_session_config){
	    .output = status->output,
	    .mode = (enum fx_buffering_mode)status->mode,
	    .buffer_size = status->buffer_size,
	};
	return 0;
}

static int terminate_execute(const struct fx_remote *remote, struct fx_link *link)
{
	const bool *no_results = remote->own;
	struct fx_msg_stop request = {.write_results = !*no_results};
	struct fx_session_config config;
	struct fx_msg_status status;
	struct fx_msg_result result;
	int r = ask_config(link, &status, &config);

	if (r == 0)
		r = fx_accompany_end(link);
	if (r == 0)
		r = fx_link_ask(link, FX_MSG_TERMINATE, &request, sizeof(request), -1, &result);
	if (r == 0)
		fx_remote_print_archive(remote, &config, &result, NULL, false);
	return r;
}

static const struct fx_remote_command command = {
    .doc = "Ends the session: stops tracing if it runs, completes the archive, and says what is in "
	   "it.",
    .options = option_table,
    .take = fx_remote_take_no_results,
    .execute = terminate_execute,
};

int fx_cmd_terminate(int argc, char **argv)
{
	bool no_results = false;

	return fx_remote_run(&command, &no_results, argc, argv);
}
