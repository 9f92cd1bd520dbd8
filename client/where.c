/* SPDX-License-Identifier: MIT */
/* fxtrace where: what every thread of running processes does this moment, and who waits for whom in a circle. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands.h"
#include "client/json.h"
#include "client/link.h"
#include "client/remote.h"
#include "client/usage.h"
#include "client/where-text.h"
#include "kernel/call-table.h"
#include "manager/settings/report.h"
#include "where/circles.h"
#include "where/waits.h"
#include "where/where.h"

struct where {
	const char *command;
	bool json;
	bool verbose;
	const char *socket; /* NULL: the usual one */
	bool is_asked;	    /* the processes are the manager's word */
	pid_t *pids;
	size_t count;
};

static const struct argp_option option_table[] = {
    {"socket", OPTION_SOCKET, "PATH", 0,
     "Without PID: the manager's socket ($FXTRACE_SOCKET, or fxtrace/manager.sock in the user's "
     "runtime directory)",
     0},
    {"json", OPTION_JSON, NULL, 0, "Print JSON: threads, and circles of waits", 0},
    {"verbose", 'v', NULL, 0, "Say for how long threads were stopped to be looked at", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static void where_add_pid(struct where *where, pid_t pid)
{
	pid_t *more = realloc(where->pids, (where->count + 1) * sizeof(*more));

	if (!more) {
		fx_report_as(where->command, "%s", strerror(ENOMEM));
		exit(FX_EXIT_FAILURE);
	}
	where->pids = more;
	where->pids[where->count++] = pid;
}

static void where_take_pid(struct where *where, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || pid <= 0 || pid > INT32_MAX)
		fx_usage_error(where->command, text, "not a process id");
	where_add_pid(where, (pid_t)pid);
}

/* All that are registered. 0, or an exit status after a line that says why. */
static int where_ask_manager(struct where *where)
{
	struct fx_msg_get_providers request = {.after = 0};
	struct fx_msg_providers some = {.count = 0};
	struct fx_link link;
	int r = fx_link_open(&link, where->command, where->socket);

	if (r)
		return r;
	do {
		r = fx_link_call(&link, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1,
				 FX_MSG_PROVIDERS, &some, sizeof(some));
		for (uint32_t i = 0; r == 0 && i < some.count; i++) {
			where_add_pid(where, (pid_t)some.entries[i].pid);
			request.after = some.entries[i].id;
		}
	} while (r == 0 && some.count == FX_PROVIDERS_PER_MESSAGE);
	fx_link_close(&link);
	return r;
}

static error_t where_parse(int key, char *value, struct argp_state *state)
{
	struct where *where = state->input;

	switch (key) {
	case OPTION_JSON:
		where->json = true;
		return 0;
	case 'v':
		where->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		where_take_pid(where, value);
		return 0;
	case OPTION_SOCKET:
		where->socket = value;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = where_parse,
    .args_doc = "[PID...]",
    .doc = "Shows what every thread of these processes does this moment: in which call it is, for "
	   "whom it "
	   "waits, and by which functions it came there; and circles of threads of which each "
	   "waits for "
	   "the next. The processes need not be traced, and nothing of it is in them. Without PID: "
	   "of all that "
	   "are registered with the running manager.",
};

/* --- JSON --------------------------------------------------------------------------------------- */

static void where_json_stack(const char *stack)
{
	char *copy = stack ? strdup(stack) : NULL, *rest = copy, *line;

	printf("\"stack\": [");
	while (rest && (line = strsep(&rest, "\n"))) {
		fx_json_print(line);
		printf("%s", rest ? ", " : "");
	}
	printf("]");
	free(copy);
}

static void where_json_thread(const struct fx_where_thread *thread)
{
	const char *call = thread->in_call ? fx_call_name(thread->call) : NULL;

	printf("{\"pid\": %d, \"tid\": %d, \"name\": ", (int)thread->pid, (int)thread->tid);
	fx_json_print(thread->name);
	printf(", \"state\": \"%c\"", thread->state);
	if (thread->in_call)
		printf(", \"call_number\": %" PRId64, thread->call);
	if (call) {
		printf(", \"call\": ");
		fx_json_print(call);
	}
	if (thread->wait != FX_WAITS_NOT) {
		printf(", \"waits_for\": ");
		fx_json_print(fx_where_wait_text(thread->wait));
	}
	if (thread->address)
		printf(", \"address\": \"0x%" PRIx64 "\"", thread->address);
	if (thread->age_ns)
		printf(", \"age_ns\": %" PRIu64, thread->age_ns);
	if (thread->readers)
		printf(", \"readers\": %" PRIu32, thread->readers);
	if (thread->holder)
		printf(", \"holder\": %d", (int)thread->holder);
	if (thread->other)
		printf(", \"other_end\": %d", (int)thread->other);
	if (thread->circle)
		printf(", \"circle\": %" PRIu32, thread->circle);
	printf(", \"is_whole\": %s, ", thread->is_whole ? "true" : "false");
	where_json_stack(thread->stack);
	printf("}");
}

static void where_json(const struct fx_where *where)
{
	printf("{\"circles\": %" PRIu32 ", \"held\": %" PRIu32 ", \"held_most_ns\": %" PRIu64
	       ", \"threads\": [",
	       where->circles, where->held, where->held_most_ns);
	for (size_t i = 0; i < where->threads.count; i++) {
		printf("%s\n  ", i ? "," : "");
		where_json_thread(&where->threads.items[i]);
	}
	printf("\n]}\n");
}

/* ------------------------------------------------------------------------------------------------ */

static int where_complain(const struct where *where, pid_t pid, int error)
{
	if (error == -ESRCH)
		fx_report_as(where->command, "%d: there is no such process", (int)pid);
	else if (error == -EPERM)
		fx_report_as(where->command,
			     "%d: it may not be looked into: it is another user's, or "
			     "kernel.yama.ptrace_scope "
			     "keeps it from all but its parents; root may",
			     (int)pid);
	else
		fx_report_as(where->command, "%d: %s", (int)pid, strerror(-error));
	return FX_EXIT_FAILURE;
}

static int where_complain_of(const struct where *where, int error)
{
	fx_report_as(where->command, "%s", strerror(-error));
	return FX_EXIT_FAILURE;
}

static int where_execute(const struct where *options)
{
	struct fx_where where;
	int r = fx_where_init(&where), status = 0;

	if (r < 0)
		return where_complain_of(options, r);
	for (size_t i = 0; status == 0 && i < options->count; i++) {
		int failed = fx_where_add(&where, options->pids[i]);

		/* Of those that the manager has told of some may have ended. */
		if (failed && !(options->is_asked && failed == -ESRCH))
			status = where_complain(options, options->pids[i], failed);
	}
	if (status == 0) {
		r = fx_where_find_circles(&where);
		if (r < 0)
			status = where_complain_of(options, r);
	}
	if (status == 0) {
		if (options->json)
			where_json(&where);
		else
			fx_where_text(stdout, &where);
	}
	if (status == 0 && options->verbose)
		fx_report_as(options->command,
			     "%" PRIu32 " thread%s stopped to be looked at, %.2f ms at most",
			     where.held, where.held == 1 ? " was" : "s were",
			     (double)where.held_most_ns / 1e6);
	fx_where_destroy(&where);
	return status;
}

int fx_cmd_where(int argc, char **argv)
{
	struct where where = {.command = argv[0]};
	int status = 0;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &where);
	where.is_asked = where.count == 0;
	if (where.is_asked)
		status = where_ask_manager(&where);
	if (status == 0)
		status = where_execute(&where);
	free(where.pids);
	return status;
}
