/* SPDX-License-Identifier: MIT */
#include "client/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "client/commands.h"
#include "client/remote.h"
#include "manager/settings/report.h"

/* Providers that sleep have nothing to say; those that run say so within this time. */
#define START_TIMEOUT_MS 50u

static int request_fill(const struct fx_options *options, bool detached,
			struct fx_msg_initialize *ret)
{
	const struct fx_session_config *c = &options->config;

	*ret = (struct fx_msg_initialize){
	    .mode = c->mode,
	    .on_full = c->on_full,
	    .categories = c->categories,
	    .pairs = c->pairs,
	    .max_depth = c->max_depth,
	    .detached = detached,
	    .buffer_size = c->buffer_size,
	    .min_duration_ns = c->min_duration_ns,
	    .last_ns = c->last_ns,
	    .stack_categories = c->stack_categories,
	    .stack_duration_ns = c->stack_duration_ns,
	    .patch = c->patch,
	    .spec_count = (uint32_t)c->size_count,
	};
	if (c->words)
		memcpy(ret->words, c->words, strlen(c->words));
	if (c->functions)
		memcpy(ret->functions, c->functions, strlen(c->functions));
	if (c->size_count > FX_PROVIDER_SPECS)
		return -E2BIG;
	for (size_t i = 0; i < c->size_count; i++) {
		ret->specs[i].size = c->sizes[i].size;
		snprintf(ret->specs[i].name, sizeof(ret->specs[i].name), "%s", c->sizes[i].name);
	}
	for (size_t i = 0; i < c->trigger_count; i++) {
		/* A variable that was set for `fxtrace run' may ask for it. */
		if (c->triggers[i].action != FX_TRIGGER_WHERE)
			ret->triggers[ret->trigger_count++] = c->triggers[i];
	}
	return fx_remote_path(c->output, ret->output, sizeof(ret->output));
}

void fx_control_output_passed(struct fx_destination *output, bool taken)
{
	if (taken)
		fx_destination_begin(output);
	else if (output->made)
		fx_destination_remove(output);
	close(output->fd);
	fx_destination_destroy(output);
}

int fx_control_initialize(struct fx_link *link, const struct fx_options *options, bool detached)
{
	struct fx_msg_initialize request;
	struct fx_msg_result result;
	struct fx_destination output;
	int r = request_fill(options, detached, &request);

	if (r == 0)
		r = fx_destination_open(options->config.output, false, &output);
	if (r < 0) {
		fx_report_as(link->command, "%s: %s", options->config.output,
			     fx_destination_why(r));
		return FX_EXIT_FAILURE;
	}
	FX_FAULT(client_output);
	r = fx_link_ask(link, FX_MSG_INITIALIZE, &request, sizeof(request), output.fd, &result);
	fx_control_output_passed(&output, r == 0);
	return r;
}

int fx_control_choose(struct fx_link *link, const struct fx_options *options)
{
	struct fx_msg_choose request = {.functions = ""};
	struct fx_msg_result result;

	memcpy(request.functions, options->functions, sizeof(request.functions));
	return fx_link_ask(link, FX_MSG_CHOOSE, &request, sizeof(request), -1, &result);
}

int fx_control_start(struct fx_link *link, enum fx_disposition disposition,
		     const struct fx_options *more, struct fx_msg_result *ret)
{
	struct fx_msg_start request = {
	    .disposition = disposition,
	    .timeout_ms = START_TIMEOUT_MS,
	};
	int r;

	if (more) {
		request.categories = more->config.categories;
		memcpy(request.words, more->words, sizeof(request.words));
	}
	r = fx_link_ask(link, FX_MSG_START, &request, sizeof(request), -1, ret);
	if (r == 0 && ret->small_buffers)
		fprintf(stderr,
			"%s: %u process%s registered with a smaller buffer and keep%s it; fxtrace "
			"manager --buffer-size SIZE reserves more\n",
			link->command, ret->small_buffers, ret->small_buffers == 1 ? "" : "es",
			ret->small_buffers == 1 ? "s" : "");
	return r;
}
