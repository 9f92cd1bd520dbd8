/* SPDX-License-Identifier: MIT */
#include "manager/process/title.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "engine/layout.h"

/* The first look comes so much after the beginning, and others when the process has lived twice as long; but up to this
 * where it has recorded anything since. */
#define FIRST_LOOK_NS UINT64_C(100000000)
#define PERIOD_MAX_NS UINT64_C(1000000000)

static bool title_is_due(struct fx_title *title, bool has_news)
{
	uint64_t now = fx_monotonic_ns(), period;

	if (!title->began)
		title->began = title->looked = now;
	period = title->looked - title->began;
	if (has_news && period > PERIOD_MAX_NS)
		period = PERIOD_MAX_NS;
	if (now - title->looked < (period ? period : FIRST_LOOK_NS))
		return false;
	title->looked = now;
	return true;
}

static bool title_has_ended(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&fd, 1, 0) != 0;
}

/* Another program has other arguments, and is heard of as itself. */
static bool title_is_same_program(const struct fx_origin *origin)
{
	const char *known = origin->abouts.texts[FX_ABOUT_EXECUTABLE];
	char *executable = fx_about_executable((pid_t)origin->pid);
	bool is_same = known && executable && strcmp(known, executable) == 0;

	free(executable);
	return is_same;
}

/* Old ways to set one fill the room that is left with blanks. Takes the text; NULL: nothing is left of it. */
static char *title_trim(char *text)
{
	size_t length = text ? strlen(text) : 0;

	while (length > 0 && text[length - 1] == ' ')
		text[--length] = 0;
	if (length > 0)
		return text;
	free(text);
	return NULL;
}

/* Under the lock. A process tells no more than the beginning. */
static bool title_is_news(const struct fx_origin *origin, const char *text)
{
	const char *now =
	    origin->title.text ? origin->title.text : origin->abouts.texts[FX_ABOUT_COMMAND];
	size_t length = strlen(text);

	return !now || strncmp(text, now, length == FX_TITLE_BYTES ? length : length + 1) != 0;
}

static bool title_would_be_news(struct fx_origin *origin, const char *text)
{
	bool is_news;

	pthread_mutex_lock(&origin->lock);
	is_news = title_is_news(origin, text);
	pthread_mutex_unlock(&origin->lock);
	return is_news;
}

/* Takes the text. */
static void title_become(struct fx_origin *origin, char *text)
{
	pthread_mutex_lock(&origin->lock);
	if (title_is_news(origin, text)) {
		char *before = origin->title.text;

		origin->title.text = text;
		fx_add_relaxed(&origin->title.changes, 1);
		text = before;
	}
	pthread_mutex_unlock(&origin->lock);
	free(text);
}

void fx_title_look(struct fx_origin *origin, int pidfd, enum fx_title_cause cause)
{
	char *text;

	if (!title_is_due(&origin->title, cause == FX_TITLE_NEWS) && cause != FX_TITLE_NOW)
		return;
	text = title_trim(fx_about_command((pid_t)origin->pid));
	if (text && title_would_be_news(origin, text) && title_is_same_program(origin) &&
	    !title_has_ended(pidfd))
		title_become(origin, text);
	else
		free(text);
}

void fx_title_told(struct fx_origin *origin, const char *text, size_t length)
{
	char *copy = length <= FX_TITLE_BYTES ? malloc(length + 1) : NULL;

	if (!copy)
		return;
	for (size_t i = 0; i < length; i++)
		copy[i] = (char)(text[i] ? text[i] : ' ');
	copy[length] = 0;
	copy = title_trim(copy);
	if (copy)
		title_become(origin, copy);
}

bool fx_title_take(struct fx_origin *origin, uint32_t *seen, char ret[FX_ABOUT_MAX + 1])
{
	/* relaxed: what it counts is read under the lock */
	uint32_t changes = fx_load_relaxed(&origin->title.changes);

	if (changes == *seen)
		return false;
	pthread_mutex_lock(&origin->lock);
	*seen = origin->title.changes;
	strncpy(ret, origin->title.text, FX_ABOUT_MAX);
	pthread_mutex_unlock(&origin->lock);
	ret[FX_ABOUT_MAX] = 0;
	return true;
}
