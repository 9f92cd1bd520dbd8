/* SPDX-License-Identifier: MIT */
#include "client/look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/where-text.h"
#include "manager/session/look.h"
#include "where/circles.h"
#include "where/where.h"

/* Those that may be looked into. 0, or -errno if nobody may. */
static int look_add_all(struct fx_where *where, const pid_t *pids, size_t count)
{
	int r = 0, failed = 0;

	for (size_t i = 0; i < count && r != -ENOMEM; i++) {
		r = fx_where_add(where, pids[i]);
		if (r < 0 && r != -ESRCH)
			failed = r;
	}
	if (r == -ENOMEM)
		return r;
	return where->threads.count ? 0 : failed;
}

static char *look_text(const struct fx_where *where, const struct fx_where_thread *thread)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	if (thread)
		fx_where_text_thread(to, where, thread, 0);
	else
		fx_where_text(to, where);
	fclose(to);
	return text;
}

static int look_answer(const struct fx_where *where, struct fx_look_answer *ret)
{
	size_t count = where->threads.count;

	ret->has_circle = where->circles > 0;
	ret->stopped = where->held;
	ret->threads = calloc(count ? count : 1, sizeof(*ret->threads));
	if (!ret->threads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct fx_where_thread *thread = &where->threads.items[i];

		ret->threads[ret->count++] = (struct fx_look_thread){
		    .pid = thread->pid,
		    .tid = thread->tid,
		    .is_lost = thread->circle != 0,
		    .text = look_text(where, thread),
		};
	}
	ret->text = look_text(where, NULL);
	return ret->text ? 0 : -ENOMEM;
}

void fx_client_look(const pid_t *pids, size_t count, struct fx_look_answer *ret)
{
	struct fx_where where;
	int r = fx_where_init(&where);

	ret->error = r;
	if (r < 0)
		return;
	r = look_add_all(&where, pids, count);
	if (r == 0)
		r = fx_where_find_circles(&where);
	if (r == 0)
		r = look_answer(&where, ret);
	ret->error = r;
	fx_where_destroy(&where);
}
