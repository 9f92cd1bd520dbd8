/* SPDX-License-Identifier: MIT */
#include "manager/session/summary.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "manager/settings/functions.h"
#include "manager/settings/losses.h"
#include "manager/settings/terms.h"
#include "manager/session/program.h"
#include "manager/settings/report.h"
#include "manager/settings/wanted.h"
#include "symbols/inspect.h"
#include "symbols/symbols.h"

static const char *summary_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* "1.2 MB" and the like, in powers of 1000. */
static void format_size(uint64_t bytes, char *ret, size_t size)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	snprintf(ret, size, unit && value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void format_time(uint64_t ns, char *ret, size_t size)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned unit = 0;

	while (value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1000;
		unit++;
	}
	snprintf(ret, size, unit && value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void print_archive(const struct fx_session_config *config,
			  const struct fx_session_result *result)
{
	const struct fx_totals *t = &result->totals;
	uint64_t processes = t->processes, threads = t->threads;
	char size[32];

	/* Of the whole machine's, those that the kernel alone tells of are none of the program's. */
	if (!config->kernel_machine) {
		processes += t->kernel_processes;
		threads += t->kernel_threads;
	}
	format_size(t->file_size, size, sizeof(size));
	/* What could not be written was counted before. */
	fx_report("%s: %s, %" PRIu64 " process%s, %" PRIu64 " thread%s, %s%" PRIu64 " event%s",
		  strcmp(config->output, "-") ? config->output : "standard output", size, processes,
		  processes == 1 ? "" : "es", threads, summary_plural(threads),
		  result->output_error ? "at most " : "", t->events, summary_plural(t->events));
}

/* How much of the work was done before. */
static void print_symbols(const struct fx_session_config *config, const struct fx_totals *t)
{
	if (config->verbose && t->symbol_files)
		fx_report("symbols of %" PRIu64 " file%s were read, those of %" PRIu64 " (%" PRIu64
			  " symbol%s) from the cache",
			  t->symbol_files, summary_plural(t->symbol_files), t->kept_symbol_files,
			  t->kept_symbols, summary_plural(t->kept_symbols));
}

/* Programs leave out functions themselves, and count nothing: what came before they knew is of no interest. */
static void print_unwanted(const struct fx_session_config *config,
			   const struct fx_session_result *result)
{
	const struct fx_stream_counts *c = &result->totals.counts;
	char options[64];

	fx_functions_options(config->functions, options, sizeof(options));
	if (c->events && fx_terms_tell(config) && (c->unwanted || result->left_out))
		fx_report("calls of functions are left out by %s", options);
	else if (c->unwanted && c->events)
		fx_report("%" PRIu64 " call%s of functions left out by %s", c->unwanted,
			  summary_plural(c->unwanted), options);
	if (result->totals.sourceless && result->totals.processes)
		fx_report("no function that was called tells its source file, which `@' asks for: "
			  "build with "
			  "-g");
	if (c->brief)
		fx_report("%" PRIu64 " call%s of functions left out by --min-duration", c->brief,
			  summary_plural(c->brief));
}

/* Those that --auto-suppress has left out: a line of RESULT. False: it is none. */
static bool print_suppressed_line(const char *line, size_t length)
{
	uint64_t calls, ns, recorded;
	char text[FX_SUPPRESSED_MAX], took[32];
	int name;

	memcpy(text, line, length);
	text[length] = 0;
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &calls, &ns, &recorded, &name) !=
	    3)
		return false;
	format_time(ns, took, sizeof(took));
	fx_report("  %s: about %" PRIu64 " call%s of %s in all, behind %" PRIu64
		  " that are recorded",
		  text + name, calls, summary_plural(calls), took, recorded);
	return true;
}

static void print_suppressed(const struct fx_session_result *result)
{
	const char *line = result->totals.suppressed, *end;

	if (*line)
		fx_report("functions that drown the others were left out (--auto-suppress):");
	for (; (end = strchr(line, '\n')) && print_suppressed_line(line, (size_t)(end - line));)
		line = end + 1;
}

/* Less than --last asks for. */
static void print_too_short(const struct fx_session_config *config, double seconds)
{
	double needed = (double)config->buffer_size * (double)config->last_ns / 1e9 / seconds;
	uint64_t size = config->buffer_size;

	while ((double)size < needed && size < FX_BUFFER_MAX)
		size *= 2;
	if ((double)size < needed || config->size_count)
		fx_report("the last %.3f s of every process are kept, less than --last asks for; a "
			  "larger --buffer-size, or fewer --categories, keeps more",
			  seconds);
	else
		fx_report("the last %.3f s of every process are kept, less than --last asks for; "
			  "--buffer-size %" PRIu64 "%c would keep it",
			  seconds, size >> 20 ? size >> 20 : size >> 10, size >> 20 ? 'M' : 'K');
}

/* What was asked for and not found. */
static void print_values(const struct fx_session_config *config,
			 const struct fx_session_result *result)
{
	if (!fx_functions_have_values(config->functions) || !result->totals.processes)
		return;
	if (!result->matched)
		fx_report("no function with hooks matches --args or --retval");
	else if (!fx_values_are_known())
		fx_report("--args and --retval show nothing on this machine: they need x86-64");
	else if (result->unknown == result->matched)
		fx_report(
		    "no function that matches --args or --retval has debug information; build with "
		    "-g, or say what there is: --args 'GLOB@arg1/s,arg2/i32'");
	if (result->is_cut)
		fx_report(
		    "more functions match --args and --retval than can be looked at; some have no "
		    "arguments and results");
}

static void print_history(const struct fx_session_config *config,
			  const struct fx_session_result *result)
{
	double seconds = (double)result->totals.history_ns / 1e9;

	if (config->mode != FX_MODE_CIRCULAR || !result->totals.history_ns)
		return;
	if (result->totals.wrapped && result->totals.history_ns < config->last_ns)
		print_too_short(config, seconds);
	else if (result->totals.shortened)
		fx_report("the last %.3f s of every process are kept, as --last says", seconds);
	else if (result->totals.wrapped)
		fx_report("the last %.3f s of every process are kept; a larger --buffer-size keeps "
			  "more",
			  seconds);
	else
		fx_report("all %.3f s are kept: no buffer was full", seconds);
}

static bool has_losses(const struct fx_stream_counts *c)
{
	bool has = false;

	for (unsigned i = 0; i < FX_CAUSES; i++)
		has |= c->lost[i] != 0;
	return has;
}

static void print_untraced(const struct fx_session_result *result, const char *program)
{
	enum fx_loadable obstacle = fx_program_obstacle(program);

	if (result->output_error || result->refused || result->totals.processes ||
	    has_losses(&result->totals.counts))
		return; /* what was wrong was told, if anything was */
	if (obstacle == FX_LOADABLE)
		fx_report("nothing was traced: %s: it never loaded libfxtrace.so; `fxtrace doctor "
			  "-- %s' may tell why",
			  program, program);
	else if (result->totals.events)
		fx_report("%s: %s; what is recorded of it, the kernel said", program,
			  fx_loadable_why(obstacle));
	else
		fx_report("nothing was traced: %s: %s; %s", program, fx_loadable_why(obstacle),
			  fx_loadable_cure(obstacle));
}

/* Whether nothing but functions is asked for, and the program has none that tell of themselves. */
static bool wants_hooks_alone(const struct fx_session_config *config, const char *program)
{
	struct fx_elf_facts facts;
	char path[PATH_MAX];

	return fx_wanted_bits(config) == FX_CAT_FUNCTION &&
	       fx_program_find(program, path, sizeof(path)) == 0 &&
	       fx_elf_inspect(path, &facts) == 0 && !facts.hooks;
}

static void print_empty(const struct fx_session_config *config,
			const struct fx_session_result *result, const char *program)
{
	const struct fx_stream_counts *c = &result->totals.counts;
	const char *words = config->words && *config->words ? config->words : "the usual";
	char options[64];

	if (result->output_error || result->totals.processes == 0 ||
	    c->events + c->unfinished > 0 || has_losses(c))
		return;
	fx_functions_options(config->functions, options, sizeof(options));
	if (c->older > 0)
		fx_report("no event is left: --last leaves out all of the %" PRIu64
			  " that there were, for they had ended before",
			  c->older);
	else if (c->unwanted > 0 && !fx_terms_tell(config))
		fx_report("nothing that it did was recorded: %s leaves out all "
			  "of the %" PRIu64 " calls of functions that %s made",
			  options, c->unwanted, program);
	else if (c->unwanted > 0 || (result->left_out && fx_terms_tell(config)))
		fx_report("nothing that it did was recorded: %s leaves out all "
			  "calls of functions that %s made",
			  options, program);
	else if (wants_hooks_alone(config, program))
		fx_report("nothing that it did was recorded: function is all that was asked for, "
			  "and %s was "
			  "not built with -finstrument-functions; `fxtrace doctor -- %s' says what "
			  "can be seen of it",
			  program, program);
	else
		fx_report(
		    "nothing that it did was recorded: %s did nothing of the categories that were "
		    "asked "
		    "for (%s); `fxtrace list-categories' says what each holds, `fxtrace doctor "
		    "-- %s' what can be seen of it",
		    program, words, program);
}

/* Those that have no arrow, and why. Returns how many. */
static uint64_t text_left(const struct fx_transfer_counts *counts, char *text, size_t size)
{
	static const char *const reasons[FX_TRANSFER_LEFT_COUNT] = {
#define FX_TRANSFER_LEFT(name, word, reason) reason,
#include "manager/archive/transfer-left.def"
#undef FX_TRANSFER_LEFT
	};
	uint64_t sum = 0;
	size_t at = 0;

	for (unsigned i = 0; i < FX_TRANSFER_LEFT_COUNT; i++) {
		if (counts->left[i])
			at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64 " %s",
					       sum ? ", " : "", counts->left[i], reasons[i]);
		sum += counts->left[i];
	}
	return sum;
}

/* Reads that have no arrow from who wrote what they read, and waits for locks from who released them. */
static void print_messages(const struct fx_totals *t)
{
	char text[512];
	uint64_t sum = text_left(&t->transfers, text, sizeof(text));

	if (sum)
		fx_report("%" PRIu64
			  " read%s from pipes, sockets and queues %s no arrow from who wrote: "
			  "%s",
			  sum, summary_plural(sum), sum == 1 ? "has" : "have", text);
	sum = text_left(&t->shares, text, sizeof(text));
	if (sum)
		fx_report("%" PRIu64
			  " wait%s for locks that processes share %s no arrow from who released: "
			  "%s",
			  sum, summary_plural(sum), sum == 1 ? "has" : "have", text);
}

/* Ends of arrows that the program has drawn outside of its durations. */
static void print_loose(const struct fx_totals *t)
{
	uint64_t loose = t->counts.loose;

	if (loose)
		fx_report("%" PRIu64 " end%s of arrows %s in no duration, and %s an instant of the "
			  "same name to stand in",
			  loose, summary_plural(loose), loose == 1 ? "stands" : "stand",
			  loose == 1 ? "has got" : "have got");
}

static void print_unseen(const struct fx_session_result *result)
{
	if (result->totals.unseen[0])
		fx_report("no process knew what --categories asks for: %s", result->totals.unseen);
}

static void print_program(const struct fx_session_result *result, const char *program)
{
	if (result->has_status && WIFSIGNALED(result->wait_status))
		fx_report("%s was ended by signal %d (%s)", program, WTERMSIG(result->wait_status),
			  strsignal(WTERMSIG(result->wait_status)));
	if (result->left_alive && result->has_status)
		fx_report("%u process%s still ran when %s ended; the trace ends there",
			  result->left_alive, result->left_alive == 1 ? "" : "es", program);
}

void fx_summary_print(const struct fx_session_config *config,
		      const struct fx_session_result *result, const char *program, bool quiet)
{
	if (!quiet) {
		if (program)
			print_program(result, program);
		print_archive(config, result);
		print_symbols(config, &result->totals);
		print_history(config, result);
		print_unwanted(config, result);
		print_suppressed(result);
		print_messages(&result->totals);
		print_loose(&result->totals);
		print_values(config, result);
	}
	fx_losses_report(result->totals.counts.lost, config, quiet);
	print_unseen(result);
	if (!quiet)
		fx_untraced_report(&result->totals.untraced);
	if (program)
		print_untraced(result, program);
	if (program && !quiet)
		print_empty(config, result, program);
}
