/* SPDX-License-Identifier: MIT */
#include "kernel/event-record.h"

#include <string.h>

#include "base/utf8.h"
#include "engine/provider/engine.h"
#include "engine/provider/record.h"
#include "engine/provider/string.h"
#include "format/encode.h"

/* Bytes of a text: a record with as many of these as there can be fits the smallest chunk. */
#define TEXT_MAX 96u

/* Words behind the header. */
#define BODY_MAX (3 + (1 + FX_VALUES_MAX) * (2 + TEXT_MAX / 8))

static void event_add(struct fx_kernel_event *event, const char *name, enum fx_value_kind kind,
		      uint64_t number, struct fx_record_text text)
{
	if (event->count < FX_VALUES_MAX)
		event->values[event->count++] = (struct fx_value){name, kind, number, text};
}

void fx_event_int(struct fx_kernel_event *event, const char *name, int64_t value)
{
	event_add(event, name, FX_VALUE_INT, (uint64_t)value, (struct fx_record_text){NULL, 0});
}

void fx_event_uint(struct fx_kernel_event *event, const char *name, uint64_t value)
{
	event_add(event, name, FX_VALUE_UINT, value, (struct fx_record_text){NULL, 0});
}

void fx_event_address(struct fx_kernel_event *event, const char *name, uint64_t value)
{
	event_add(event, name, FX_VALUE_ADDRESS, value, (struct fx_record_text){NULL, 0});
}

void fx_event_true(struct fx_kernel_event *event, const char *name)
{
	event_add(event, name, FX_VALUE_TRUE, 1, (struct fx_record_text){NULL, 0});
}

void fx_event_text(struct fx_kernel_event *event, const char *name, const char *data, size_t length)
{
	event_add(event, name, FX_VALUE_TEXT, 0, (struct fx_record_text){data, length});
}

/* In whole characters. */
static struct fx_record_text event_text_cut(struct fx_record_text text)
{
	if (text.length <= TEXT_MAX)
		return text;
	text.length = TEXT_MAX;
	while (text.length && fx_utf8_is_continuation((uint8_t)text.data[text.length]))
		text.length--;
	return text;
}

static uint64_t *value_head(uint64_t *out, uint32_t key, unsigned type, unsigned words,
			    uint64_t upper)
{
	*out = FXT_PUT(ARG_TYPE, type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, key) |
	       FXT_PUT(ARG_VALUE32_VALUE, upper);
	return out + 1;
}

static uint64_t *value_long(uint64_t *out, uint32_t key, unsigned type, uint64_t number)
{
	out = value_head(out, key, type, 2, 0);
	*out = number;
	return out + 1;
}

static uint64_t *value_text(uint64_t *out, const struct fx_thread *t, uint32_t key,
			    const struct fx_record_text *whole)
{
	const struct fx_record_text text = event_text_cut(*whole);
	uint32_t ref = fx_record_text_ref(t, &text);

	out = value_head(out, key, FXT_ARG_STRING, 1 + fx_record_text_words(ref), ref);
	return fx_record_text_write(out, ref, &text);
}

/* Numbers in 32 bits where these are enough. */
static uint64_t *value_write(uint64_t *out, const struct fx_thread *t, uint32_t key,
			     const struct fx_value *value)
{
	int64_t number = (int64_t)value->number;

	switch (value->kind) {
	case FX_VALUE_INT:
		return number >= INT32_MIN && number <= INT32_MAX
			   ? value_head(out, key, FXT_ARG_INT32, 1, (uint32_t)number)
			   : value_long(out, key, FXT_ARG_INT64, value->number);
	case FX_VALUE_UINT:
		return value->number <= UINT32_MAX
			   ? value_head(out, key, FXT_ARG_UINT32, 1, value->number)
			   : value_long(out, key, FXT_ARG_UINT64, value->number);
	case FX_VALUE_ADDRESS:
		return value_long(out, key, FXT_ARG_POINTER, value->number);
	case FX_VALUE_TRUE:
		return value_head(out, key, FXT_ARG_BOOL, 1, 1);
	case FX_VALUE_TEXT:
		break;
	}
	return value_text(out, t, key, &value->text);
}

bool fx_kernel_event_has_room(void)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);

	return t && fx_record_make_room(t, 1 + BODY_MAX);
}

/* header, time, process, thread, name, values. One whose name has no index is left out: a provider knows few. */
void fx_kernel_record_event(const struct fx_kernel_event *event)
{
	uint64_t body[BODY_MAX], *out = body;
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	struct fx_record_text name = event_text_cut(event->name);
	uint32_t category, ref;
	struct fx_reservation r;
	unsigned args = 0, words;
	uint64_t *p;

	if (!t)
		return;
	category = fx_string_literal(t, event->category);
	if (!category)
		return; /* the first strings of all have room */
	*out++ = event->ns;
	*out++ = event->task.pid;
	*out++ = event->task.tid;
	ref = fx_record_text_ref(t, &name);
	out = fx_record_text_write(out, ref, &name);
	for (unsigned i = 0; i < event->count; i++) {
		uint32_t key = fx_string_literal(t, event->values[i].name);

		if (!key)
			continue;
		out = value_write(out, t, key, &event->values[i]);
		args++;
	}
	words = 1 + (unsigned)(out - body);
	p = fx_record_reserve(t, words, &r);
	if (!p)
		return;
	memcpy(p + 1, body, (words - 1) * sizeof(*p));
	fx_record_commit(
	    t, p, fx_header_event(words, FXT_EVENT_INSTANT, args, FXT_THREAD_INLINE, category, ref),
	    &r);
}
