/* SPDX-License-Identifier: MIT */
#include "client/watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "client/look.h"

#define MS UINT64_C(1000000) /* ns */

static bool watchdog_is_there(const struct fx_watchdog *dog)
{
	return dog->poller.fd >= 0;
}

/* --- Whom it is about ----------------------------------------------------------------------------- */

static int watchdog_add(struct fx_pids *pids, pid_t pid)
{
	if (fx_vector_reserve(pids, 1) < 0)
		return -ENOMEM;
	pids->items[pids->count++] = pid;
	return 0;
}

/* Those of some that go on; `program` becomes 0 if it is one. 0 or -ENOMEM. */
static int watchdog_add_some(struct fx_pids *pids, const struct fx_msg_providers *some,
			     pid_t *program)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < some->count; i++) {
		const struct fx_provider_entry *entry = &some->entries[i];
		pid_t pid = (pid_t)entry->pid;

		if (entry->gone || entry->is_kernel)
			continue;
		if (pid == *program)
			*program = 0;
		r = watchdog_add(pids, pid);
	}
	return r;
}

/* Those in the session, and the program. Without memory they are none. As fx_link_call(). */
static int watchdog_ask(struct fx_watchdog *dog, pid_t program, struct fx_pids *ret)
{
	struct fx_msg_get_providers request = {.of_session = 1};
	struct fx_msg_providers some;
	int r, failed = 0;

	do {
		r = fx_link_call(dog->link, FX_MSG_GET_PROVIDERS, &request, sizeof(request), -1,
				 FX_MSG_PROVIDERS, &some, sizeof(some));
		if (r)
			return r;
		if (some.count > FX_PROVIDERS_PER_MESSAGE)
			some.count = FX_PROVIDERS_PER_MESSAGE;
		if (some.count)
			request.after = some.entries[some.count - 1].id;
		failed = watchdog_add_some(ret, &some, &program);
	} while (!failed && some.count == FX_PROVIDERS_PER_MESSAGE);
	if (!failed && program)
		failed = watchdog_add(ret, program);
	if (failed)
		ret->count = 0;
	return 0;
}

/* --- What was seen -------------------------------------------------------------------------------- */

/* A thread whose process has ended meanwhile, or is not in the session, is none of the archive. As fx_link_call(). */
static int watchdog_note(struct fx_watchdog *dog, const struct fx_look_thread *t)
{
	struct fx_msg_note note = {
	    .kind = t->is_lost ? FX_NOTE_DEADLOCK : FX_NOTE_STANDSTILL,
	    .pid = (uint32_t)t->pid,
	    .tid = (uint32_t)t->tid,
	};
	struct fx_msg_result result;

	snprintf(note.text, sizeof(note.text), "%s", t->text);
	return fx_link_call(dog->link, FX_MSG_NOTE, &note, sizeof(note), -1, FX_MSG_RESULT, &result,
			    sizeof(result));
}

static void watchdog_looked(void *opaque)
{
	struct fx_watchdog *dog = opaque;
	const struct fx_look_answer *answer = &dog->look.answer;

	fx_look_print(&dog->look);
	fx_standstill_excuse(&dog->still, answer->stopped);
	for (size_t i = 0; dog->status == 0 && i < answer->count; i++) {
		if (answer->threads[i].text)
			dog->status = watchdog_note(dog, &answer->threads[i]);
	}
}

/* --- Its life ------------------------------------------------------------------------------------- */

void fx_watchdog_clear(struct fx_watchdog *ret)
{
	*ret = (struct fx_watchdog){.poller.fd = -1};
}

int fx_watchdog_begin(struct fx_watchdog *ret, struct fx_link *link, uint64_t limit_ns)
{
	int r;

	fx_watchdog_clear(ret);
	if (!limit_ns)
		return 0;
	r = fx_poller_init(&ret->poller);
	if (r < 0)
		return r;
	ret->link = link;
	fx_standstill_init(&ret->still, limit_ns);
	fx_look_init(&ret->look, &ret->poller, watchdog_looked, ret);
	ret->look.function = fx_client_look;
	return 0;
}

int fx_watchdog_turn(struct fx_watchdog *dog, pid_t program)
{
	struct fx_pids pids = {0};
	char title[64];
	uint64_t now = fx_monotonic_ns();
	int r;

	if (!watchdog_is_there(dog))
		return 0;
	fx_poller_wait(&dog->poller, 0);
	if (dog->status || now < dog->still.next)
		return dog->status;
	r = watchdog_ask(dog, program, &pids);
	if (r == 0 && fx_standstill_look(&dog->still, now, &pids)) {
		snprintf(title, sizeof(title), "nothing has progressed for %.3g s",
			 (double)(now - dog->still.since) / 1e9);
		fx_look_begin(&dog->look, title, 0, &pids);
	}
	fx_vector_free(&pids);
	return r;
}

int fx_watchdog_patience(const struct fx_watchdog *dog, int most)
{
	uint64_t now = fx_monotonic_ns();
	uint64_t left = dog->still.next > now ? (dog->still.next - now + MS - 1) / MS : 0;

	return !watchdog_is_there(dog) || left > (uint64_t)most ? most : (int)left;
}

void fx_watchdog_end(struct fx_watchdog *dog)
{
	if (!watchdog_is_there(dog))
		return;
	while (dog->look.is_on)
		fx_poller_wait(&dog->poller, 1000 * MS);
	fx_look_end(&dog->look);
	fx_poller_destroy(&dog->poller);
}
