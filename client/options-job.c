/* SPDX-License-Identifier: MIT */
/* Options of a run that is one of many. */
#include <errno.h>
#include <stdlib.h>

#include "client/job.h"
#include "client/options.h"

const char *fx_options_ranks(struct fx_options *o, const char *value)
{
	if (!fx_job_ranks_parse(value))
		return "not ranks, such as 0,7,100-103";
	o->ranks = value;
	return NULL;
}

const char *fx_options_every(struct fx_options *o, const char *value)
{
	char *end;
	unsigned long long every;

	errno = 0;
	every = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || every == 0)
		return "not a number of ranks";
	o->every = every;
	return NULL;
}

const char *fx_options_name_output(struct fx_options *o, const char *program, pid_t pid)
{
	const struct fx_job_run run = {.program = program, .pid = pid};
	const char *wrong = fx_job_name(o->config.output, &run, o->output, sizeof(o->output));

	if (!wrong)
		o->config.output = o->output;
	return wrong;
}

const char *fx_options_is_chosen(const struct fx_options *o, bool *ret)
{
	uint64_t rank;

	*ret = !o->ranks && !o->every;
	if (*ret)
		return NULL;
	if (!fx_job_rank(&rank))
		return FX_JOB_NO_RANK;
	*ret =
	    (o->ranks && fx_job_ranks_have(o->ranks, rank)) || (o->every && rank % o->every == 0);
	return NULL;
}
