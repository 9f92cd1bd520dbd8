/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "why/words.h"

/* Texts of ours that are put beside those of the archive. */
enum { WORDS_MAX = 2000000, OBJECT_MAX = 400 };

const char *fx_why_words_kind(uint8_t kind)
{
	static const char *const texts[] = {
#define FX_WHY_KIND_TEXT_(name, text) [FX_WHY_##name] = (text),
	    FX_WHY_KINDS(FX_WHY_KIND_TEXT_)
#undef FX_WHY_KIND_TEXT_
	};

	return kind < FX_WHY_WAIT ? texts[kind]
				  : fx_wait_kind_text((enum fx_wait_kind)(kind - FX_WHY_WAIT));
}

/* --- What calls are about --------------------------------------------------------------------- */

static uint32_t words_keep(struct fx_timeline *timeline, const char *text, size_t length)
{
	if (length == 0)
		return 0;
	if (fx_texts_count(timeline->strings) >= WORDS_MAX)
		return fx_texts_find(timeline->strings, text, length);
	return fx_texts_add(timeline->strings, text, length);
}

static uint32_t words_keep_string(struct fx_timeline *timeline, const struct fxt_string *string)
{
	if (!string)
		return 0;
	return string->serial ? string->serial : words_keep(timeline, string->data, string->length);
}

/* "mutex store", or "mutex 0x55e4b48960b0" where it has no name. */
static uint32_t words_object(struct fx_timeline *timeline, const struct fx_event *event)
{
	struct fx_object_args args = fx_show_object_args(event);
	char text[OBJECT_MAX];
	int length;

	if (!args.object)
		return 0;
	if (args.name)
		length = snprintf(text, sizeof(text), "%.*s %.*s", (int)args.object->name.length,
				  args.object->name.data, (int)args.name->string.length,
				  args.name->string.data);
	else
		length =
		    snprintf(text, sizeof(text), "%.*s 0x%" PRIx64, (int)args.object->name.length,
			     args.object->name.data, args.object->uint64);
	return words_keep(timeline, text,
			  (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

static uint32_t words_child(struct fx_timeline *timeline, const struct fx_event *event)
{
	struct fx_process *process;
	char name[FX_SHOW_MAX], text[FX_SHOW_MAX + 40];
	int64_t number;
	uint64_t pid;

	if (!fx_event_integer(event, "ret", &number) || number <= 0)
		return 0;
	pid = (uint64_t)number;
	HASH_FIND(hh, timeline->process_table, &pid, sizeof(pid), process);
	if (process)
		fx_show_process(process, name);
	snprintf(text, sizeof(text), "%s (pid %" PRIu64 ")", process ? name : "process", pid);
	return words_keep(timeline, text, strlen(text));
}

uint32_t fx_why_words_file(struct fx_timeline *timeline, const struct fx_event *event)
{
	static const char *const names[] = {"file", "path", "out_file", "in_file", "from"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct fxt_string *file = fx_event_string(event, names[i]);

		if (file)
			return words_keep_string(timeline, file);
	}
	return 0;
}

static uint32_t words_about(struct fx_timeline *timeline, const struct fx_event *event,
			    enum fx_wait_kind kind)
{
	const struct fxt_string *fds;
	uint32_t file;

	switch (kind) {
	case FX_WAIT_CHILD:
		return words_child(timeline, event);
	case FX_WAIT_PEER:
		return fx_why_words_file(timeline, event);
	case FX_WAIT_POLL:
		fds = fx_event_string(event, "fds");
		file = fx_why_words_file(timeline, event);
		return file ? file : words_keep_string(timeline, fds);
	case FX_WAIT_THREAD: /* the arrow says which */
		return 0;
	default:
		return words_object(timeline, event);
	}
}

/* False: it cannot be decoded. What the event points to is in the record. */
static bool words_decode(struct fx_timeline *timeline, const struct fx_why_wait *wait,
			 struct fxt_record *record, struct fx_event *ret)
{
	if (fx_timeline_decode(timeline, wait->provider, wait->word, record) < 0)
		return false;
	*ret = (struct fx_event){
	    .category = &record->event.category,
	    .name = &record->event.name,
	    .args = record->args,
	    .nargs = record->nargs,
	};
	return true;
}

struct fx_why_what fx_why_words_wait(struct fx_timeline *timeline, const struct fx_why_wait *wait)
{
	struct fx_why_what what = {.kind = (uint8_t)(FX_WHY_WAIT + wait->kind),
				   .caller = wait->caller};
	const struct fxt_string *place;
	struct fxt_record record;
	struct fx_event event;

	if (!words_decode(timeline, wait, &record, &event))
		return what;
	what.name = record.event.name.serial;
	what.object = words_about(timeline, &event, (enum fx_wait_kind)wait->kind);
	place = fx_event_string(&event, "at_name");
	if (!what.caller)
		what.caller = words_keep_string(timeline, place);
	return what;
}

struct fx_why_what fx_why_words_set(struct fx_timeline *timeline, const struct fx_why_wait *wait)
{
	struct fx_why_what set = {0};
	const struct fxt_string *fds;
	struct fxt_record record;
	struct fx_event event;
	char text[OBJECT_MAX];
	int64_t epfd;

	if (!words_decode(timeline, wait, &record, &event))
		return set;
	set.name = record.event.name.serial;
	fds = fx_event_string(&event, "fds");
	if (!fds)
		fds = fx_event_string(&event, "exceptfds"); /* of select(), with all three sets */
	if (fds)
		set.object = words_keep_string(timeline, fds);
	else if (fx_event_integer(&event, "epfd", &epfd))
		set.object =
		    words_keep(timeline, text,
			       (size_t)snprintf(text, sizeof(text), "descriptor %" PRId64, epfd));
	else
		set.object = words_object(timeline, &event);
	return set;
}

uint32_t fx_why_words_other_end(struct fx_why_past *past, const struct fx_why_wait *wait,
				uint32_t thread)
{
	struct fxt_record record;
	struct fx_event event;

	if (wait->kind != FX_WAIT_PEER || !words_decode(past->timeline, wait, &record, &event))
		return FX_WHY_NOBODY;
	return fx_why_parties_other(&past->parties, &event, thread);
}

const struct fx_why_take *fx_why_words_last_take(const struct fx_why_past *past,
						 const struct fx_why_wait *wait, uint32_t thread,
						 uint64_t from, uint64_t to)
{
	struct fxt_record record;
	struct fx_event event;

	if (wait->kind != FX_WAIT_CONDITION || !words_decode(past->timeline, wait, &record, &event))
		return NULL;
	return fx_why_takes_last(&past->takes, &event, past->timeline->threads.items[thread], from,
				 to);
}

bool fx_why_words_is_any_child(struct fx_timeline *timeline, const struct fx_why_wait *wait)
{
	struct fxt_record record;
	struct fx_event event;
	int64_t pid;

	if (!words_decode(timeline, wait, &record, &event))
		return false;
	if (fxt_string_equals(event.name, "wait") || fxt_string_equals(event.name, "wait3"))
		return true;
	if (fxt_string_equals(event.name, "waitid"))
		return fx_event_string(&event, "type") &&
		       fxt_string_equals(fx_event_string(&event, "type"), "P_ALL");
	return (fxt_string_equals(event.name, "waitpid") ||
		fxt_string_equals(event.name, "wait4")) &&
	       fx_event_integer(&event, "pid", &pid) && pid == -1;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static const char *words_text(const struct fx_timeline *timeline, uint32_t number)
{
	return number ? fx_texts_get(timeline->strings, number)->data : "";
}

static void words_thread(const struct fx_timeline *timeline, uint32_t number, uint32_t before,
			 char text[FX_WHY_TEXT_MAX])
{
	const struct fx_thread *thread = timeline->threads.items[number];
	const struct fx_thread *other = timeline->threads.items[before];
	char name[FX_SHOW_MAX], process[FX_SHOW_MAX];
	bool is_main = thread->key.pid == thread->key.tid;

	fx_show_thread(thread, name);
	fx_show_process(thread->process, process);
	if (number != before && thread->process == other->process)
		snprintf(text, FX_WHY_TEXT_MAX, "%s (tid %" PRIu64 ")", name, thread->key.tid);
	else if (is_main && (!thread->name || strcmp(name, process) == 0))
		snprintf(text, FX_WHY_TEXT_MAX, "%s (pid %" PRIu64 ")", process, thread->key.pid);
	else
		snprintf(text, FX_WHY_TEXT_MAX, "%s (tid %" PRIu64 ") of %s (pid %" PRIu64 ")",
			 name, thread->key.tid, process, thread->key.pid);
}

/* The thread that a node is, or is below. */
static uint32_t words_thread_of(const struct fx_why_tree *tree, uint32_t node)
{
	while (node != FX_WHY_ROOT && tree->nodes.items[node].what.kind != FX_WHY_THREAD)
		node = tree->nodes.items[node].parent;
	return tree->nodes.items[node].what.thread;
}

static void words_call(const struct fx_timeline *timeline, const struct fx_why_what *what,
		       char text[FX_WHY_TEXT_MAX])
{
	const char *name = what->name ? words_text(timeline, what->name) : "(no recorded call)";
	const char *object = words_text(timeline, what->object);
	const char *caller = words_text(timeline, what->caller);

	snprintf(text, FX_WHY_TEXT_MAX, "%.600s%s%.600s%s%.600s", name, *object ? ": " : "", object,
		 *caller ? ", in " : "", caller);
}

void fx_why_words_node(const struct fx_timeline *timeline, const struct fx_why_tree *tree,
		       uint32_t node, char text[FX_WHY_TEXT_MAX])
{
	const struct fx_why_node *it = &tree->nodes.items[node];
	char name[FX_WHY_TEXT_MAX];

	switch ((enum fx_why_kind)it->what.kind) {
	case FX_WHY_THREAD:
		words_thread(timeline, it->what.thread, words_thread_of(tree, it->parent), name);
		snprintf(text, FX_WHY_TEXT_MAX, "%s%.*s", it->what.is_perhaps ? "perhaps " : "",
			 FX_WHY_TEXT_MAX - 10, name);
		break;
	case FX_WHY_GOING_ON:
		snprintf(text, FX_WHY_TEXT_MAX, "(until it went on)");
		break;
	case FX_WHY_PROCESSOR:
		snprintf(text, FX_WHY_TEXT_MAX, "(%.600s had it)",
			 it->what.object ? words_text(timeline, it->what.object) : "others");
		break;
	case FX_WHY_STARTING:
		snprintf(text, FX_WHY_TEXT_MAX, "(until it had begun)");
		break;
	case FX_WHY_ENDING:
		snprintf(text, FX_WHY_TEXT_MAX, "(until its end was told)");
		break;
	case FX_WHY_CIRCLE:
		snprintf(text, FX_WHY_TEXT_MAX, "(the one that waits, in %.600s)",
			 words_text(timeline, it->what.name));
		break;
	case FX_WHY_UNKNOWN:
		snprintf(text, FX_WHY_TEXT_MAX, "(nothing recorded)");
		break;
	default:
		words_call(timeline, &it->what, text);
	}
}
