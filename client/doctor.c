/* SPDX-License-Identifier: MIT */
/* fxtrace doctor: why a trace would be empty or partial. */
#include "client/doctor.h"

#include <argp.h>
#include <stdio.h>

#include "client/commands.h"
#include "client/usage.h"

struct options {
	const char *command;
	const char *program; /* NULL: the system alone */
};

static const struct argp_option option_table[] = {
    FX_USAGE_OPTIONS,
    {0},
};

static error_t doctor_parse(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	(void)value;
	switch (key) {
	case ARGP_KEY_ARGS:
		options->program = state->argv[state->next];
		state->next = state->argc; /* its arguments do not matter */
		return 0;
	case ARGP_KEY_NO_ARGS:
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = doctor_parse,
    .args_doc = "[--] [PROGRAM [ARG...]]",
    .doc = "Says what would keep a trace of PROGRAM from being whole, and what helps, a line for "
	   "each finding. PROGRAM is looked at, not run; without it, the system alone is.\v"
	   "The exit status is 1 if nothing could be recorded.",
};

static const struct {
	enum fx_fact_level level;
	const char *what, *cure;
} facts[] = {
#define FX_FACT(id, level, what, cure) [FX_FACT_##id] = {FX_FACT_##level, what, cure},
#include "client/facts.def"
#undef FX_FACT
};

static void doctor_tell(struct fx_doctor *d, const char *subject, enum fx_fact_level level,
			const char *what, const char *detail, const char *cure)
{
	static const char *const levels[] = {"no trace", "partial", "note"};

	printf("%s: %s: %s%s%s%s; cure: %s\n", subject, levels[level], what, detail ? " (" : "",
	       detail ? detail : "", detail ? ")" : "", cure);
	d->found[level]++;
}

void fx_doctor_tell(struct fx_doctor *d, const char *subject, enum fx_fact fact, const char *detail)
{
	d->unsure |= fact == FX_FACT_FILTERS;
	doctor_tell(d, subject, facts[fact].level, facts[fact].what, detail, facts[fact].cure);
}

void fx_doctor_tell_obstacle(struct fx_doctor *d, const char *subject, enum fx_loadable obstacle)
{
	doctor_tell(d, subject, FX_FACT_NOTHING, fx_loadable_why(obstacle), NULL,
		    fx_loadable_cure(obstacle));
}

int fx_cmd_doctor(int argc, char **argv)
{
	struct options options = {.command = argv[0]};
	struct fx_doctor doctor = {0};

	fx_usage_parse(argv[0], &parser, argc, argv, ARGP_IN_ORDER, &options);
	if (options.program)
		fx_doctor_program(&doctor, options.program);
	fx_doctor_system(&doctor);
	if (doctor.found[FX_FACT_NOTHING])
		return FX_EXIT_FAILURE;
	printf("%s: %s\n", options.program ? options.program : "this system",
	       doctor.unsure		    ? "the summary of a run tells what is missing"
	       : doctor.found[FX_FACT_PART] ? "the rest will be traced"
					    : "nothing is in the way");
	return FX_EXIT_OK;
}
