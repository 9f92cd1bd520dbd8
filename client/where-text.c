/* SPDX-License-Identifier: MIT */
#include "client/where-text.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "kernel/call-table.h"
#include "where/waits.h"

static const char *where_state(char state)
{
	switch (state) {
	case 'R':
		return "runs";
	case 'D':
		return "waits for a device";
	case 'T':
	case 't':
		return "is stopped";
	default:
		return "sleeps";
	}
}

/* A program may give its threads any name. */
static void where_name(FILE *to, const struct fx_where_thread *thread)
{
	char clean[FX_ESCAPE_WIDTH * sizeof(thread->name)];
	size_t length =
	    fx_escape(clean, sizeof(clean), thread->name, strlen(thread->name), FX_ESCAPE_CONTROLS);

	fwrite(clean, 1, length, to);
}

static void where_holder(FILE *to, const struct fx_where *where, pid_t holder)
{
	const struct fx_where_thread *thread = fx_where_thread_of(where, holder);

	fprintf(to, " %d", (int)holder);
	if (thread) {
		fprintf(to, " (");
		where_name(to, thread);
		fprintf(to, ")");
	}
}

/* What the holder has to do with what is waited for. */
static const char *where_holder_text(enum fx_where_wait wait)
{
	switch (wait) {
	case FX_WAITS_THREAD:
	case FX_WAITS_CHILD:
		return ",";
	case FX_WAITS_BYTES:
	case FX_WAITS_SOCKET_BYTES:
		return ", to be written by";
	case FX_WAITS_ROOM:
	case FX_WAITS_SOCKET_ROOM:
		return ", to be read by";
	case FX_WAITS_ACCEPTED:
		return " by";
	case FX_WAITS_ANY:
		return ", the other ends of which has";
	default:
		return ", which has";
	}
}

/* "waits for a mutex at 0x55..., which has 1234 (worker)". */
static void where_wait(FILE *to, const struct fx_where *where, const struct fx_where_thread *thread)
{
	fprintf(to, "waits for %s", fx_where_wait_text(thread->wait));
	if (thread->address)
		fprintf(to, " at 0x%" PRIx64, thread->address);
	if (thread->holder) {
		fprintf(to, "%s", where_holder_text(thread->wait));
		where_holder(to, where, thread->holder);
	} else if (thread->readers) {
		fprintf(to, ", which %" PRIu32 " reader%s", thread->readers,
			thread->readers == 1 ? " has" : "s have");
	} else if (thread->other) {
		fprintf(to, ", whose other end%s process %d has",
			thread->wait == FX_WAITS_ANY ? "s" : "", (int)thread->other);
	}
}

static void where_stack(FILE *to, const struct fx_where_thread *thread, int indent)
{
	const char *line = thread->stack;

	if (!line)
		fprintf(to, "%*sno stack: %s\n", indent, "",
			thread->error == -EINTR ? "a stop would end this call"
						: strerror(-thread->error));
	while (line) {
		size_t length = strcspn(line, "\n");

		fprintf(to, "%*s%.*s\n", indent, "", (int)length, line);
		line = line[length] ? line + length + 1 : NULL;
	}
	if (thread->stack && !thread->is_whole)
		fprintf(to, "%*s...\n", indent, "");
}

void fx_where_text_thread(FILE *to, const struct fx_where *where,
			  const struct fx_where_thread *thread, int indent)
{
	fprintf(to, "%*s%d ", indent, "", (int)thread->tid);
	where_name(to, thread);
	fprintf(to, ": ");
	if (thread->wait != FX_WAITS_NOT)
		where_wait(to, where, thread);
	else
		fprintf(to, "%s", where_state(thread->state));
	if (thread->in_call) {
		const char *name = fx_call_name(thread->call);

		if (name)
			fprintf(to, ", in %s", name);
		else
			fprintf(to, ", in system call %" PRId64, thread->call);
	}
	if (thread->age_ns)
		fprintf(to, " for %.3g s", (double)thread->age_ns / 1e9);
	fprintf(to, "\n");
	where_stack(to, thread, indent + 3);
}

static void where_circle(FILE *to, const struct fx_where *where, uint32_t circle)
{
	const struct fx_where_thread *start = NULL, *at;

	for (size_t i = 0; !start && i < where->threads.count; i++) {
		if (where->threads.items[i].circle == circle)
			start = &where->threads.items[i];
	}
	fprintf(to, "DEADLOCK: each of these waits for the next, and the last for the first\n");
	at = start;
	do {
		fprintf(to, "   %d ", (int)at->tid);
		where_name(to, at);
		fprintf(to, " of process %d ", (int)at->pid);
		where_wait(to, where, at);
		fprintf(to, "\n");
		at = fx_where_thread_of(where, at->holder);
	} while (at && at != start);
}

void fx_where_text(FILE *to, const struct fx_where *where)
{
	pid_t pid = 0;

	for (uint32_t i = 1; i <= where->circles; i++)
		where_circle(to, where, i);
	for (size_t i = 0; i < where->threads.count; i++) {
		const struct fx_where_thread *thread = &where->threads.items[i];

		if (thread->pid != pid)
			fprintf(to, "%sprocess %d\n", pid || where->circles ? "\n" : "",
				(int)thread->pid);
		pid = thread->pid;
		fx_where_text_thread(to, where, thread, 3);
	}
}
