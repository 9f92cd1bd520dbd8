/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/lives.h"
#include "report/report.h"

/* --- What is seen ----------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct fx_life *lives_get(struct fx_lives *lives, uint32_t number)
{
	size_t count = lives->items.count;

	if (number >= count) {
		size_t more = number + 1 - count;

		if (fx_vector_reserve(&lives->items, more) < 0) {
			fx_report_fail(lives->report, -ENOMEM);
			return NULL;
		}
		memset(lives->items.items + count, 0, more * sizeof(struct fx_life));
		for (size_t i = count; i <= number; i++)
			lives->items.items[i].begin = UINT64_MAX;
		lives->items.count += more;
	}
	return &lives->items.items[number];
}

static struct fx_life *lives_note(struct fx_lives *lives, const struct fx_thread *thread,
				  uint64_t begin, uint64_t end)
{
	struct fx_life *process = lives_get(lives, thread->process->number);

	if (!process)
		return NULL;
	if (thread != lives->thread) {
		lives->thread = thread;
		lives->waits = 0;
		process->threads++;
	}
	if (begin < process->begin)
		process->begin = begin;
	if (end > process->end)
		process->end = end;
	return process;
}

/* Its number; false: no process of the archive has this id. */
static bool lives_find(const struct fx_lives *lives, uint64_t pid, uint32_t *ret)
{
	const struct fx_timeline *timeline = fx_report_timeline(lives->report);
	struct fx_process *process;

	HASH_FIND(hh, timeline->process_table, &pid, sizeof(pid), process);
	if (process)
		*ret = process->number;
	return process != NULL;
}

static struct fx_life *lives_of_pid(struct fx_lives *lives, uint64_t pid)
{
	uint32_t number;

	return lives_find(lives, pid, &number) ? lives_get(lives, number) : NULL;
}

static void lives_set_command(struct fx_life *process, const struct fx_event *event)
{
	const struct fxt_arg *argv = fx_event_arg(event, "argv");

	if (!argv || argv->type != FXT_ARG_STRING || argv->string.length == 0)
		argv = fx_event_arg(event, "path");
	if (!argv || argv->type != FXT_ARG_STRING)
		return;
	free(process->command);
	process->command = strndup(argv->string.data, argv->string.length);
}

/* An exec that goes on has replaced the program; the child of a spawn is named by its parent. */
static void lives_look_at_command(struct fx_lives *lives, struct fx_life *process,
				  const struct fx_open_call *call, const struct fx_event *event)
{
	const char *name = fx_report_text(lives->report, call->name)->data;
	struct fx_life *child;
	int64_t ret;

	if (strncmp(name, "exec", 4) == 0 || strncmp(name, "fexec", 5) == 0) {
		if (fx_event_arg(event, "ret"))
			return; /* it has failed */
		if (process->has_execed && call->ts < process->execed)
			return; /* threads are seen one after another */
		lives_set_command(process, event);
		process->has_execed = true;
		process->execed = call->ts;
	} else if (fx_event_integer(event, "ret", &ret) && ret > 0) {
		child = lives_of_pid(lives, (uint64_t)ret);
		if (child && !child->has_execed)
			lives_set_command(child, event);
	} else if (fx_event_integer(event, "pid", &ret) && ret > 0 && name[0] == 'p') {
		child = lives_of_pid(lives, (uint64_t)ret); /* posix_spawn */
		if (child && !child->has_execed)
			lives_set_command(child, event);
	}
}

void fx_lives_enter_slow_(struct fx_lives *lives, const struct fx_open_call *call,
			  const struct fx_event *event, enum fx_wait_kind wait)
{
	struct fx_life *process = lives_note(lives, call->thread, call->ts, call->end);

	if (!process)
		return;
	process->calls++;
	if (wait != FX_WAIT_NONE && lives->waits == 0)
		process->waited[wait] += call->end - call->ts;
	lives->waits += wait != FX_WAIT_NONE || lives->waits > 0;
	if (call->kind == FX_CALL_PROCESS && call->name)
		lives_look_at_command(lives, process, call, event);
}

static void lives_look_at_end(struct fx_life *process, const struct fx_event *event)
{
	const struct fxt_arg *signal = fx_event_arg(event, "signal");

	process->has_exited = fx_event_integer(event, "exited", &process->exited);
	if (signal && signal->type == FXT_ARG_STRING) {
		size_t length = signal->string.length < sizeof(process->signal) - 1
				    ? signal->string.length
				    : sizeof(process->signal) - 1;

		memcpy(process->signal, signal->string.data, length);
		process->signal[length] = 0;
	}
	process->end = event->ts;
}

void fx_lives_instant(struct fx_lives *lives, const struct fx_event *event)
{
	struct fx_life *process = lives_note(lives, event->thread, event->ts, event->ts);
	int64_t parent;

	if (!process || !fxt_string_equals(event->category, "process"))
		return;
	if (fxt_string_equals(event->name, "process starts")) {
		process->begin = event->ts;
		if (fx_event_integer(event, "parent", &parent))
			process->parent = (uint64_t)parent;
	} else if (fxt_string_equals(event->name, "process exits")) {
		lives_look_at_end(process, event);
	}
}

/* --- The tree --------------------------------------------------------------------------------- */

struct moment {
	uint64_t ts;
	size_t number;
};

static int lives_compare_moments(const void *a, const void *b)
{
	const struct moment *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts > right->ts ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

/* Whether it was seen at all. */
static bool lives_is_shown(const struct fx_life *process)
{
	return process->begin != UINT64_MAX;
}

/* The number + 1 of its parent; 0: it is a root. An id that was used again is nobody's parent. */
static size_t lives_parent(const struct fx_lives *lives, const struct fx_life *process)
{
	uint32_t number;

	if (!process->parent || !lives_find(lives, process->parent, &number) ||
	    number >= lives->items.count || lives->items.items[number].begin >= process->begin)
		return 0;
	return number + 1;
}

/* Ties each to its parent; roots are the children of `roots'. Returns 0 or -ENOMEM. */
int fx_lives_tie(struct fx_lives *lives, struct fx_life *roots)
{
	size_t count = lives->items.count;
	struct moment *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct moment){lives->items.items[i].begin, i};
	qsort(order, count, sizeof(*order), lives_compare_moments);
	for (size_t i = count; i-- > 0;) {
		struct fx_life *process = &lives->items.items[order[i].number];
		size_t parent = lives_parent(lives, process);
		struct fx_life *to = parent ? &lives->items.items[parent - 1] : roots;

		if (!lives_is_shown(process))
			continue;
		process->next = to->first;
		to->first = order[i].number + 1;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (struct moment){lives->items.items[i].end, i};
	qsort(order, count, sizeof(*order), lives_compare_moments);
	for (size_t i = 0; i < count; i++) {
		struct fx_life *process = &lives->items.items[order[i].number];
		size_t parent = lives_parent(lives, process);
		struct fx_life *to = parent ? &lives->items.items[parent - 1] : roots;

		if (!lives_is_shown(process))
			continue;
		process->done_before = to->last_done;
		to->last_done = order[i].number + 1;
	}
	free(order);
	return 0;
}

void fx_lives_free(struct fx_lives *lives)
{
	for (size_t i = 0; i < lives->items.count; i++)
		free(lives->items.items[i].command);
	fx_vector_free(&lives->items);
}

/* --- Names ------------------------------------------------------------------------------------ */

const struct fx_process *fx_lives_process(const struct fx_lives *lives, size_t number)
{
	return fx_report_timeline(lives->report)->processes.items[number];
}

const char *fx_lives_command(const struct fx_lives *lives, size_t number)
{
	const struct fx_process *process = fx_lives_process(lives, number);
	const struct fx_text *command = process->about[FX_ABOUT_COMMAND], *name = process->name;

	if (process->about[FX_ABOUT_TITLE])
		return process->about[FX_ABOUT_TITLE]->data;
	if (lives->items.items[number].command)
		return lives->items.items[number].command;
	return command ? command->data : name ? name->data : "";
}
