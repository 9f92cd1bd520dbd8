/* SPDX-License-Identifier: MIT */
#include "manager/session/look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "manager/archive/notes.h"
#include "manager/settings/report.h"
#include "manager/settings/worker.h"
#include "symbols/symbols.h"

/* --- The look ----------------------------------------------------------------------------------- */

static void answer_free(struct fx_look_answer *answer)
{
	for (size_t i = 0; i < answer->count; i++)
		free(answer->threads[i].text);
	free(answer->threads);
	free(answer->text);
	*answer = (struct fx_look_answer){0};
}

static void *look_main(void *opaque)
{
	struct fx_look *look = opaque;

	look->function(look->pids.items, look->pids.count, &look->answer);
	eventfd_write(look->done_fd, 1);
	return NULL;
}

static void look_over(struct fx_look *look)
{
	if (!look->is_on)
		return;
	pthread_join(look->thread, NULL);
	fx_poller_remove(look->poller, look->done_fd);
	close(look->done_fd);
	fx_vector_free(&look->pids);
	look->is_on = false;
}

static void look_ready(void *opaque)
{
	struct fx_look *look = opaque;

	look_over(look);
	look->done(look->opaque);
	answer_free(&look->answer);
}

void fx_look_init(struct fx_look *ret, struct fx_poller *poller, void (*done)(void *opaque),
		  void *opaque)
{
	*ret = (struct fx_look){
	    .poller = poller,
	    .watch = {.ready = look_ready, .opaque = ret},
	    .done = done,
	    .opaque = opaque,
	};
}

bool fx_look_begin(struct fx_look *look, const char *title, uint64_t ticks, struct fx_pids *pids)
{
	int r;

	if (!look->function || look->is_on)
		return false;
	snprintf(look->title, sizeof(look->title), "%s", title);
	look->ticks = ticks;
	look->pids = *pids;
	*pids = (struct fx_pids){0};
	look->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = look->done_fd < 0 ? -errno : fx_poller_add(look->poller, look->done_fd, &look->watch);
	if (r == 0)
		r = fx_worker_start(&look->thread, 2 * FX_SYMBOL_STACK, look_main, look);
	look->is_on = r == 0;
	if (look->is_on)
		return true;
	fx_report("%s; it cannot be looked where everybody stands: %s", title, fx_report_why(r));
	if (look->done_fd >= 0)
		close(look->done_fd);
	fx_vector_free(&look->pids);
	return false;
}

void fx_look_end(struct fx_look *look)
{
	look_over(look);
	answer_free(&look->answer);
}

/* --- What it has seen --------------------------------------------------------------------------- */

/* Of another pid namespace the numbers that a process gives its threads are not known here: all is said of its first thread. */
uint32_t fx_look_tid(const struct fx_provider *p, pid_t tid)
{
	uint32_t first = p->origin ? fx_origin_first_tid(p->origin) : (uint32_t)p->pid;

	return first == (uint32_t)p->pid ? (uint32_t)tid : first;
}

/* Those of one process, in as many blocks as they need; without memory they are not in the archive. */
static void look_note(const struct fx_look *look, const struct fx_provider *p,
		      struct fx_queue *queue, const char *name)
{
	struct fx_block *block = NULL;
	struct fx_block_list list;

	fx_block_list_init(&list);
	for (size_t i = 0; i < look->answer.count; i++) {
		const struct fx_look_thread *t = &look->answer.threads[i];
		uint32_t tid = fx_look_tid(p, t->tid);
		const char *what = t->is_lost ? FX_LOOK_LOST : name;

		if (t->pid != p->pid || !t->text ||
		    (block && fx_notes_add(block, tid, what, t->text)))
			continue;
		if (block)
			fx_block_list_add(&list, block);
		block = fx_queue_block(queue, FX_BLOCK_NOTES, p->inlet);
		if (!block)
			break;
		block->ticks = look->ticks;
		fx_notes_add(block, tid, what, t->text); /* an empty one has room */
	}
	if (block)
		fx_block_list_add(&list, block);
	fx_queue_push(queue, &list);
}

/* In one write: the program uses the same terminal. */
void fx_look_print(const struct fx_look *look)
{
	const struct fx_look_answer *answer = &look->answer;

	if (!answer->text) {
		fx_report("%s; where everybody stands cannot be seen: %s", look->title,
			  fx_report_why(answer->error));
		return;
	}
	fx_report("%s%s", look->title, answer->has_circle ? ": DEADLOCK" : "");
	fputs(answer->text, stderr);
	fflush(stderr);
}

void fx_look_tell(struct fx_look *look, const struct fx_roster *roster, const char *name)
{
	fx_look_print(look);
	for (const struct fx_provider *p = roster->providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE && p->inlet && roster->queue)
			look_note(look, p, roster->queue, name);
	}
}
