/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/usage.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands.h"
#include "client/guess.h"
#include "manager/settings/report.h"

_Noreturn void fx_usage_error(const char *command, const char *what, const char *why)
{
	fx_report_as(command, "%s%s%s (see %s --help)", what, why ? ": " : "", why ? why : "",
		     command);
	exit(FX_EXIT_USAGE);
}

/* --- Help and version ------------------------------------------------------------------------- */

static void (*help_print)(const struct argp *parser);

void fx_usage_print_help_by(void (*print)(const struct argp *parser))
{
	help_print = print;
}

static int flush_error; /* of the first flush that failed; 0: none did, or stdio had lost it */

bool fx_usage_flush_some(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	if (flush_error == 0)
		flush_error = errno;
	return false;
}

int fx_usage_flush(const char *command, int status)
{
	if (fx_usage_flush_some())
		return status;
	if (flush_error != EPIPE)
		fx_report_as(command, "standard output: %s",
			     flush_error ? strerror(flush_error) : "not all could be written");
	return status == FX_EXIT_OK ? FX_EXIT_FAILURE : status;
}

_Noreturn static void usage_help(const char *command, const struct argp *parser)
{
	static char all[64 << 10];

	/* So that the flush below is the only write, and knows why it fails. */
	setvbuf(stdout, all, _IOFBF, sizeof(all));
	if (help_print)
		help_print(parser);
	else
		argp_help(parser, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, (char *)command);
	exit(fx_usage_flush(command, FX_EXIT_OK));
}

void fx_usage_print_version(void)
{
	puts(PACKAGE_STRING);
}

/* --- The words of a command line, before argp has them ---------------------------------------- */

struct scan {
	const char *command;
	const struct argp *parser;
};

bool fx_usage_has_letter(const struct argp_option *option)
{
	return option->key > 0 && option->key < 0x80 && isalnum(option->key);
}

_Noreturn static void usage_unknown(const struct scan *scan, const char *word, size_t length)
{
	const struct argp_option *at = scan->parser->options;
	size_t dashes = word[1] == '-' ? 2 : 1;
	struct fx_guess guess = fx_guess_begin(word + dashes, length - dashes);
	char text[512];

	for (; dashes == 2 && at->name; at++) {
		if (!(at->flags & OPTION_HIDDEN))
			fx_guess_try(&guess, at->name);
	}
	snprintf(text, sizeof(text), "unknown option '%.*s'%s%s%s",
		 length < 200 ? (int)length : 200, word, guess.best ? ", did you mean --" : "",
		 guess.best ? guess.best : "", guess.best ? "?" : "");
	fx_usage_error(scan->command, text, NULL);
}

_Noreturn static void usage_ambiguous(const struct scan *scan, const char *option, size_t length)
{
	const struct argp_option *at = scan->parser->options;
	char text[512];
	int n =
	    snprintf(text, sizeof(text), "'%.*s' may be", length < 100 ? (int)length : 100, option);
	const char *before = " ";

	for (; at->name; at++) {
		if (strncmp(at->name, option + 2, length - 2) != 0 || n > 400)
			continue;
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s--%.60s", before, at->name);
		before = " or ";
	}
	fx_usage_error(scan->command, text, NULL);
}

/* Answers an option that every command has, and looks whether this one has the value that it should. */
static void usage_take(const struct scan *scan, const struct argp_option *option, const char *word,
		       size_t length, const char *value)
{
	char text[256];

	if (option->key == FX_USAGE_HELP)
		usage_help(scan->command, scan->parser);
	if (option->key == FX_USAGE_VERSION) {
		fx_usage_print_version();
		exit(fx_usage_flush(scan->command, FX_EXIT_OK));
	}
	/* A user who writes "-o -- PROGRAM" has forgotten the value. */
	if (!option->arg || (option->flags & OPTION_ARG_OPTIONAL) ||
	    (value && strcmp(value, "--") != 0))
		return;
	snprintf(text, sizeof(text), "'%.*s' needs a value, %s", length < 100 ? (int)length : 100,
		 word, option->arg);
	fx_usage_error(scan->command, text, NULL);
}

/* By the whole name, or by the beginning of no other. */
static const struct argp_option *usage_find(const struct scan *scan, const char *word,
					    size_t length)
{
	const struct argp_option *found = NULL;
	bool ambiguous = false;

	for (const struct argp_option *at = scan->parser->options; at->name; at++) {
		if (strncmp(at->name, word + 2, length - 2) != 0)
			continue;
		if (!at->name[length - 2])
			return at;
		ambiguous = found != NULL;
		found = at;
	}
	if (ambiguous)
		usage_ambiguous(scan, word, length);
	if (!found || length == 2)
		usage_unknown(scan, word, length);
	return found;
}

/* "--NAME" or "--NAME=VALUE". Whether `next` is its value. */
static bool usage_scan_name(const struct scan *scan, const char *word, const char *next)
{
	size_t length = strcspn(word, "=");
	const struct argp_option *option = usage_find(scan, word, length);
	const char *value = word[length] ? word + length + 1 : NULL;
	char text[256];

	if (value && !option->arg) {
		snprintf(text, sizeof(text), "--%s takes no value", option->name);
		fx_usage_error(scan->command, text, value);
	}
	usage_take(scan, option, word, length, value ? value : next);
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL) && !value;
}

/* "-abc": letters, of which the last may have a value, in the same word or in the next. */
static bool usage_scan_letters(const struct scan *scan, const char *word, const char *next)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct argp_option *option = scan->parser->options;
		char shown[] = {'-', *letter, 0};

		while (option->name && !(fx_usage_has_letter(option) && option->key == *letter))
			option++;
		/* A character of several bytes is shown as a whole word. */
		if (!option->name)
			usage_unknown(scan, *letter & 0x80 ? word : shown,
				      *letter & 0x80 ? strlen(word) : 2);
		usage_take(scan, option, shown, 2, letter[1] ? letter + 1 : next);
		if (option->arg)
			return !letter[1];
	}
	return false;
}

static void usage_scan(const struct scan *scan, int argc, char **argv, bool in_order)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(word, "--") == 0)
			return;
		if (word[0] != '-' || !word[1]) {
			if (in_order)
				return;
			continue;
		}
		if (word[1] == '-' ? usage_scan_name(scan, word, next)
				   : usage_scan_letters(scan, word, next))
			i++;
	}
}

void fx_usage_parse(const char *command, const struct argp *parser, int argc, char **argv,
		    unsigned flags, void *input)
{
	const struct scan scan = {command, parser};
	int end = argc, error;

	usage_scan(&scan, argc, argv, (flags & ARGP_IN_ORDER) || getenv("POSIXLY_CORRECT"));
	error = argp_parse(parser, argc, argv, flags | ARGP_NO_ERRS | ARGP_NO_HELP, &end, input);
	if (error == ENOMEM) {
		fx_report_as(command, "%s", strerror(error));
		exit(FX_EXIT_FAILURE);
	}
	if (end < argc)
		fx_usage_error(command, "unexpected argument", argv[end]);
}
