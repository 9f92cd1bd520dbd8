/* SPDX-License-Identifier: MIT */
/*
 * The options of tracing: one table (options.def) for the command line, the environment and the
 * help.
 */
#ifndef FX_CLIENT_OPTIONS_H
#define FX_CLIENT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "manager/settings/settings.h"

struct fx_options {
	struct fx_session_config config;
	bool quiet;
	bool report;			  /* fxtrace run */
	char words[FX_CATEGORY_LIST_MAX]; /* config.words */
	struct fx_provider_size *sizes;	  /* config.sizes, owned */
	struct fx_trigger triggers[FX_TRIGGERS];
	char **texts; /* strings that the configuration points to, owned */
	size_t text_count;
};

/* Keys of options that have no letter, and of those that every command has. */
enum {
	OPTION_HELP = '?',
	OPTION_VERSION = 'V',
	OPTION_PROVIDER_BUFFER = 0x100,
	OPTION_ON_FULL,
	OPTION_RECORDS,
	OPTION_STACKS,
	OPTION_NO_FOLLOW,
	OPTION_DURATION,
	OPTION_TRIGGER,
	OPTION_MAX_MEMORY,
	OPTION_MAX_STRINGS,
	OPTION_MAX_SYMBOLS,
	OPTION_MAX_USER_SYMBOLS,
	OPTION_MODE,
	OPTION_REPORT,
};

/* The table for argp. */
extern const struct argp_option fx_option_table[];

/* The defaults. */
void fx_options_init(struct fx_options *ret);
void fx_options_destroy(struct fx_options *options);

/*
 * Takes one option by its key. NULL if it was taken; else what is wrong with the value, a static
 * text. *ret_known is false for a key that is not in the table.
 */
const char *fx_options_set(struct fx_options *options, int key, const char *value, bool *ret_known);

/* The daemon's own --max-user-memory. NULL, or what is wrong with the value. */
const char *fx_options_max_user_memory(struct fx_options *options, const char *value);

/* Takes permissions for the archives of this command. NULL, or what is wrong with the value. */
const char *fx_options_permissions(const char *value);

/* Takes the environment. NULL, or what is wrong and *ret_variable, whose value it is. */
const char *fx_options_environment(struct fx_options *options, const char **ret_variable);

/* Looks at the whole. NULL, or what does not fit together. */
const char *fx_options_check(const struct fx_options *options);

#endif
