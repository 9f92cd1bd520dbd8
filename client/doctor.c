/* SPDX-License-Identifier: MIT */
/* fxtrace doctor: why a trace would be empty or partial. */
#include "client/doctor.h"

#include <argp.h>
#include <stdio.h>

#include "client/commands.h"
#include "client/json.h"
#include "client/usage.h"

struct options {
	const char *command;
	const char *program; /* NULL: the system alone */
	bool json;
};

enum { OPTION_JSON = FX_USAGE_KEYS };

static const struct argp_option option_table[] = {
    {"json", OPTION_JSON, NULL, 0, "Print a JSON object", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t doctor_parse(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	(void)value;
	switch (key) {
	case OPTION_JSON:
		options->json = true;
		return 0;
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

static void doctor_print_json(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	if (text)
		fx_json_print(text);
	else
		printf("null");
}

static void doctor_tell_json(const char *subject, const char *level, const char *what,
			     const char *detail, const char *cure)
{
	printf("{");
	doctor_print_json("subject", subject);
	printf(", \"level\": \"%s\", ", level);
	doctor_print_json("what", what);
	printf(", ");
	doctor_print_json("detail", detail);
	printf(", ");
	doctor_print_json("cure", cure);
	printf("}");
}

/* Without a `cure' nothing helps. */
static void doctor_tell(struct fx_doctor *d, const char *subject, enum fx_fact_level level,
			const char *what, const char *detail, const char *cure)
{
	static const char *const levels[] = {"no trace", "partial", "note"};
	bool first =
	    d->found[FX_FACT_NOTHING] + d->found[FX_FACT_PART] + d->found[FX_FACT_NOTE] == 0;

	if (d->json && !first)
		printf(", ");
	if (d->json)
		doctor_tell_json(subject, levels[level], what, detail, cure);
	else
		printf("%s: %s: %s%s%s%s%s%s\n", subject, levels[level], what, detail ? " (" : "",
		       detail ? detail : "", detail ? ")" : "", cure ? "; cure: " : "",
		       cure ? cure : "");
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

static const char *doctor_verdict(const struct fx_doctor *d)
{
	if (d->found[FX_FACT_NOTHING])
		return "nothing can be recorded";
	if (d->unsure)
		return "the summary of a run tells what is missing";
	return d->found[FX_FACT_PART] ? "the rest will be traced" : "nothing is in the way";
}

static void doctor_begin_json(const struct options *options)
{
	printf("{");
	doctor_print_json("program", options->program);
	printf(", \"findings\": [");
}

static void doctor_end_json(const struct fx_doctor *d)
{
	printf("], \"verdict\": \"%s\", \"can_record\": %s}\n", doctor_verdict(d),
	       d->found[FX_FACT_NOTHING] ? "false" : "true");
}

int fx_cmd_doctor(int argc, char **argv)
{
	struct options options = {.command = argv[0]};
	struct fx_doctor doctor = {0};

	fx_usage_parse(argv[0], &parser, argc, argv, ARGP_IN_ORDER, &options);
	doctor.json = options.json;
	if (options.json)
		doctor_begin_json(&options);
	if (options.program)
		fx_doctor_program(&doctor, options.program);
	fx_doctor_system(&doctor);
	if (options.json)
		doctor_end_json(&doctor);
	else if (!doctor.found[FX_FACT_NOTHING])
		printf("%s: %s\n", options.program ? options.program : "this system",
		       doctor_verdict(&doctor));
	return doctor.found[FX_FACT_NOTHING] ? FX_EXIT_FAILURE : FX_EXIT_OK;
}
