/* SPDX-License-Identifier: MIT */
/*
 * The options of tracing: one table (options.def) for the command line, the environment and the
 * help.
 */
#ifndef FX_CLIENT_OPTIONS_H
#define FX_CLIENT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <sys/types.h>

#include "manager/settings/settings.h"

struct fx_options {
	struct fx_session_config config;
	uint64_t given; /* those of the command line, a bit for each line of options.def */
	bool quiet;
	bool report;			      /* fxtrace run */
	char words[FX_CATEGORY_LIST_MAX];     /* config.words */
	char functions[FX_FUNCTION_LIST_MAX]; /* config.functions */
	struct fx_provider_size *sizes;	      /* config.sizes, owned */
	struct fx_trigger triggers[FX_TRIGGERS];
	const char *ranks;		 /* as client/job.h reads them, or NULL */
	uint64_t every;			 /* 0: no matter */
	char output[FX_OUTPUT_PATH_MAX]; /* config.output, once its pattern is replaced */
	char **texts;			 /* strings that the configuration points to, owned */
	size_t text_count;
};

/* Where an option of options.def is one. */
enum {
	OF_RUN = 1,
	OF_RECORD = 2,
	OF_START = 4,
	OF_ALL = OF_RUN | OF_RECORD | OF_START,
	OF_MANAGER = 8,
	OF_ATTACH = 32,
	OF_OPTIONAL = 16, /* besides: it may stand without its argument */
};

/* Keys of options that have no letter. */
enum {
	OPTION_PROVIDER_BUFFER = 0x100,
	OPTION_ON_FULL,
	OPTION_CLOCK,
	OPTION_PATCH,
	OPTION_RECORDS,
	OPTION_WHEN,
	OPTION_MIN_SIZE,
	OPTION_AUTO_SUPPRESS,
	OPTION_ARGS,
	OPTION_RETVAL,
	OPTION_STACKS,
	OPTION_LINES,
	OPTION_NO_FOLLOW,
	OPTION_DURATION,
	OPTION_TRIGGER,
	OPTION_WATCHDOG,
	OPTION_MAX_MEMORY,
	OPTION_MAX_STRINGS,
	OPTION_MAX_SYMBOLS,
	OPTION_MAX_USER_SYMBOLS,
	OPTION_SYMBOL_CACHE,
	OPTION_MODE,
	OPTION_REPORT,
	OPTION_LAST,
	OPTION_RANKS,
	OPTION_EVERY,
	OPTION_SAMPLE,
	OPTION_KERNEL,
};

/* Flags of an option, for argp, in the table of one place. */
#define FX_OPTION_FLAGS(where, place)                                                              \
	(((where) & (place) ? 0 : OPTION_HIDDEN) | ((where)&OF_OPTIONAL ? OPTION_ARG_OPTIONAL : 0))

/* Samples a second, at most. */
#define FX_SAMPLE_MAX 10000u

#define FX_OPTIONS_BAD_TIME "not a time, such as 10us, 1.5s or 5min"

/* The defaults. */
void fx_options_init(struct fx_options *ret);
void fx_options_destroy(struct fx_options *options);

/*
 * Takes one option by its key. NULL if it was taken; else what is wrong with the value, a static
 * text. *ret_known is false for a key that is not in the table.
 */
const char *fx_options_set(struct fx_options *options, int key, const char *value, bool *ret_known);

/*
 * The same for the command line of one place. False for a key that is not in the table; a bad value, or an option of
 * other places, is wrong usage.
 */
bool fx_options_take(struct fx_options *options, const char *command, unsigned place, int key,
		     const char *value);

/* Whether the command line has the option. */
bool fx_options_given(const struct fx_options *options, int key);

/* The daemon's own --max-user-memory. NULL, or what is wrong with the value. */
const char *fx_options_max_user_memory(struct fx_options *options, const char *value);

/* Takes permissions for the archives of this command. NULL, or what is wrong with the value. */
const char *fx_options_permissions(const char *value);

/* The options that choose functions, which options-functions.c takes. NULL, or what is wrong with the value. */
const char *fx_options_filter(struct fx_options *options, const char *value);
const char *fx_options_no_trace(struct fx_options *options, const char *value);
const char *fx_options_when(struct fx_options *options, const char *value);
const char *fx_options_args(struct fx_options *options, const char *value);
const char *fx_options_retval(struct fx_options *options, const char *value);
const char *fx_options_min_duration(struct fx_options *options, const char *value);
const char *fx_options_min_size(struct fx_options *options, const char *value);
const char *fx_options_auto_suppress(struct fx_options *options, const char *value);
const char *fx_options_max_depth(struct fx_options *options, const char *value);

/* --ranks and --every. NULL, or what is wrong with the value. */
const char *fx_options_ranks(struct fx_options *options, const char *value);
const char *fx_options_every(struct fx_options *options, const char *value);

/* Whether the rank that this process has is to be traced. NULL, or what is wrong. */
const char *fx_options_is_chosen(const struct fx_options *options, bool *ret);

/* Replaces what %h and the like in the output's name stand for (client/job.h): for `program', or NULL, and process `pid'. NULL,
 * or what is wrong with it. */
const char *fx_options_name_output(struct fx_options *options, const char *program, pid_t pid);

/* Takes the environment. NULL, or what is wrong and *ret_variable, whose value it is. */
const char *fx_options_environment(struct fx_options *options, const char **ret_variable);

/* The same; a bad value is wrong usage. */
void fx_options_take_environment(struct fx_options *options, const char *command);

/* Looks at the whole. NULL, or what does not fit together, and why (clashes.def). */
const char *fx_options_check(const struct fx_options *options);

/* Whether some alert makes the manager take a snapshot. */
bool fx_options_has_snapshots(const struct fx_session_config *config);

#endif
