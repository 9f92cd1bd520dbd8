/* SPDX-License-Identifier: MIT */
#include "kernel/calls.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/call-record.h"
#include "lists/hashes.h"

/* A call that is open. One a thread. */
struct calls_open {
	UT_hash_handle hh;
	struct fx_task task;
	bool has_begun;				   /* else only texts of it are known */
	struct fx_record_text texts[FX_CALL_ARGS]; /* owned; NULL: not known, */
	uint64_t places[FX_CALL_ARGS];		   /* and where they lie */
	uint64_t ns;
	int64_t number;
	uint64_t args[FX_CALL_ARGS];
};

struct fx_calls {
	struct calls_open *open; /* by tid */
};

struct fx_calls *fx_calls_create(void)
{
	return calloc(1, sizeof(struct fx_calls));
}

static struct calls_open *calls_find(struct fx_calls *calls, uint32_t tid)
{
	struct calls_open *open;

	HASH_FIND(hh, calls->open, &tid, sizeof(tid), open);
	return open;
}

static void open_forget_text(struct calls_open *open, unsigned i)
{
	free((char *)open->texts[i].data);
	open->texts[i] = (struct fx_record_text){.data = NULL};
}

static void open_forget_texts(struct calls_open *open)
{
	for (unsigned i = 0; i < FX_CALL_ARGS; i++)
		open_forget_text(open, i);
}

static void calls_remove(struct fx_calls *calls, struct calls_open *open)
{
	open_forget_texts(open);
	HASH_DEL(calls->open, open);
	free(open);
}

void fx_calls_destroy(struct fx_calls *calls)
{
	struct calls_open *open, *next;

	if (!calls)
		return;
	HASH_ITER (hh, calls->open, open, next)
		calls_remove(calls, open);
	free(calls);
}

/* The thread's, or one of which nothing is known yet; NULL without memory. */
static struct calls_open *calls_open_get(struct fx_calls *calls, struct fx_task task)
{
	struct calls_open *open = calls_find(calls, task.tid);

	if (open)
		return open;
	open = calloc(1, sizeof(*open));
	if (!open)
		return NULL;
	open->task = task;
	HASH_ADD(hh, calls->open, task.tid, sizeof(open->task.tid), open);
	return open;
}

/* NULL without memory. */
static char *calls_text_copy(const char *data, size_t length)
{
	char *copy = malloc(length + 1);

	if (copy)
		memcpy(copy, data, length);
	return copy;
}

void fx_calls_text(struct fx_calls *calls, struct fx_task task, const struct fx_text_found *text)
{
	struct calls_open *open = calls_open_get(calls, task);
	unsigned i = text->argument;

	if (!open || (text->at_end && (!open->has_begun || open->args[i] != text->address)))
		return;
	/* The end of the one before was lost. */
	if (!text->at_end && open->has_begun) {
		open_forget_texts(open);
		open->has_begun = false;
	}
	open_forget_text(open, i);
	open->texts[i].data = calls_text_copy(text->data, text->length);
	open->texts[i].length = text->length;
	open->places[i] = text->address;
}

void fx_calls_begin(struct fx_calls *calls, struct fx_task task, uint64_t ns, int64_t number,
		    const uint64_t args[FX_CALL_ARGS])
{
	struct calls_open *open = calls_open_get(calls, task);

	if (!open)
		return;
	/* Texts of another one are of one whose begin was lost. */
	for (unsigned i = 0; i < FX_CALL_ARGS; i++) {
		if (open->has_begun || open->places[i] != args[i])
			open_forget_text(open, i);
	}
	open->has_begun = true;
	open->task = task;
	open->ns = ns;
	open->number = number;
	memcpy(open->args, args, sizeof(open->args));
}

static void calls_tell(const struct calls_open *open, uint64_t ns, enum fx_call_end end,
		       int64_t result)
{
	const struct fx_kernel_call call = {
	    .task = open->task,
	    .begin_ns = open->ns,
	    .end_ns = ns,
	    .number = open->number,
	    .shape = fx_call_shape(open->number),
	    .args = open->args,
	    .texts = open->texts,
	    .end = end,
	    .result = result,
	};

	if (open->has_begun)
		fx_kernel_record_call(&call);
}

/* What the kernel says at the end of a call that has put back all registers, also the one with the number (rt_sigreturn). */
#define NO_NUMBER (-1)

/* One whose begin was not seen is none. */
void fx_calls_end(struct fx_calls *calls, struct fx_task task, uint64_t ns, int64_t number,
		  int64_t result)
{
	struct calls_open *open = calls_find(calls, task.tid);

	if (!open)
		return;
	if ((open->number == number || number == NO_NUMBER) && ns >= open->ns)
		calls_tell(open, ns, FX_CALL_RETURNS, result);
	calls_remove(calls, open);
}

void fx_calls_thread_ends(struct fx_calls *calls, uint32_t tid, uint64_t ns)
{
	struct calls_open *open = calls_find(calls, tid);

	if (!open)
		return;
	calls_tell(open, ns, FX_CALL_NEVER_RETURNS, 0);
	calls_remove(calls, open);
}

void fx_calls_forget(struct fx_calls *calls, uint32_t pid)
{
	struct calls_open *open, *next;

	HASH_ITER (hh, calls->open, open, next) {
		if (open->task.pid == pid)
			calls_remove(calls, open);
	}
}

void fx_calls_finish(struct fx_calls *calls, uint64_t ns)
{
	struct calls_open *open, *next;

	HASH_ITER (hh, calls->open, open, next) {
		calls_tell(open, ns > open->ns ? ns : open->ns, FX_CALL_UNFINISHED, 0);
		calls_remove(calls, open);
	}
}
