/* SPDX-License-Identifier: MIT */
#include "kernel/probe-record.h"

#include <string.h>

#include "base/utf8.h"
#include "engine/provider/engine.h"
#include "engine/provider/record.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "kernel/records.h"
#include "kernel/record-text.h"

/* All texts of a record together, so that it fits every chunk. */
#define TEXT_BYTES 800u

/* Of the kernel's, instead of what it could not read. */
#define FAULT "(fault)"

/* Addresses of programs have so many bits. */
#define ADDRESS_BITS 47

/* Of a record what stands behind its thread. */
struct probe_words {
	uint64_t words[2 * (FXT_MAX_NAME_LENGTH / 8 + 1) + FX_PROBE_ARGUMENTS * 4 + TEXT_BYTES / 8];
	unsigned count, arguments, text_bytes;
};

static const char *const names[FX_PROBE_ARGUMENTS] = {"arg0", "arg1", "arg2",  "arg3",
						      "arg4", "arg5", "arg6",  "arg7",
						      "arg8", "arg9", "arg10", "arg11"};
static const char *const text_names[FX_PROBE_ARGUMENTS] = {
    "arg0_text", "arg1_text", "arg2_text", "arg3_text", "arg4_text",  "arg5_text",
    "arg6_text", "arg7_text", "arg8_text", "arg9_text", "arg10_text", "arg11_text"};

static const struct fx_probe *probe_find(const struct fx_probe_list *list, uint16_t number)
{
	for (size_t i = 0; i < list->probes.count; i++) {
		if (list->probes.items[i].number == number)
			return &list->probes.items[i];
	}
	return NULL;
}

/* --- Values ------------------------------------------------------------------------------------- */

static void argument_put(struct probe_words *w, uint32_t key, unsigned type, unsigned words,
			 uint64_t upper, uint64_t value)
{
	uint64_t *at = &w->words[w->count];

	at[0] = FXT_PUT(ARG_TYPE, type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, key) |
		FXT_PUT(ARG_VALUE32_VALUE, upper);
	if (words > 1)
		at[1] = value;
	w->count += words;
	w->arguments++;
}

/* With the sign that its type gives it. */
static uint64_t value_widen(const struct fx_probe_argument *argument, uint64_t value)
{
	unsigned unused = 64 - 8u * argument->size;

	return argument->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused)
				   : value << unused >> unused;
}

static void float_put(struct probe_words *w, uint32_t key, unsigned size, uint64_t bits)
{
	uint32_t half = (uint32_t)bits;
	double value;
	float narrow;

	memcpy(&narrow, &half, sizeof(narrow));
	value = narrow;
	if (size == 4)
		memcpy(&bits, &value, sizeof(bits));
	argument_put(w, key, FXT_ARG_DOUBLE, 2, 0, bits);
}

/* What can be an address is shown as one. */
static void value_put(struct probe_words *w, uint32_t key, const struct fx_probe_argument *argument,
		      uint64_t value)
{
	if (argument->is_float) {
		float_put(w, key, argument->size, value);
		return;
	}
	value = value_widen(argument, value);
	if (argument->size < 8)
		argument_put(w, key, argument->is_signed ? FXT_ARG_INT32 : FXT_ARG_UINT32, 1,
			     (uint32_t)value, 0);
	else if (argument->is_signed)
		argument_put(w, key, FXT_ARG_INT64, 2, 0, value);
	else if (value > UINT32_MAX && value >> ADDRESS_BITS == 0)
		argument_put(w, key, FXT_ARG_POINTER, 2, 0, value);
	else
		argument_put(w, key, FXT_ARG_UINT64, 2, 0, value);
}

/* The bytes of a field; false: the record does not have them. */
static bool field_get(struct fx_probe_field field, const uint8_t *bytes, size_t size, uint64_t *ret)
{
	*ret = 0;
	if (!field.size || field.size > sizeof(*ret) || field.offset + (size_t)field.size > size)
		return false;
	memcpy(ret, bytes + field.offset, field.size);
	return true;
}

/* --- Texts -------------------------------------------------------------------------------------- */

static bool is_shown_as_text(const char *text, size_t length)
{
	if (!length || !fx_utf8_is_valid(text, length))
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((uint8_t)text[i] < ' ' && !strchr("\t\r\n", text[i]))
			return false;
	}
	return true;
}

/* Whole characters that there is room for. */
static size_t probe_text_cut(const char *text, size_t length, size_t room)
{
	if (length <= room)
		return length;
	while (room && fx_utf8_is_continuation((uint8_t)text[room]))
		room--;
	return room;
}

/* The field says where in the record the text is (16 bits) and how long, its end included (16 bits). */
static void text_put(struct probe_words *w, uint32_t key, struct fx_probe_field field,
		     const uint8_t *bytes, size_t size)
{
	uint64_t where, *at = &w->words[w->count];
	size_t offset, length;
	const char *text;
	unsigned words;

	if (!field_get(field, bytes, size, &where))
		return;
	offset = where & 0xffff;
	length = where >> 16 & 0xffff;
	if (offset + length > size)
		return;
	text = (const char *)bytes + offset;
	length = strnlen(text, length);
	if (!is_shown_as_text(text, length) ||
	    (length == strlen(FAULT) && !memcmp(text, FAULT, length)))
		return;
	length = probe_text_cut(text, length, TEXT_BYTES - w->text_bytes);
	if (!length)
		return;
	words = (unsigned)fx_bytes_words(length);
	*at = FXT_PUT(ARG_TYPE, FXT_ARG_STRING) | FXT_PUT(ARG_SIZE, 1 + words) |
	      FXT_PUT(ARG_NAME, key) | FXT_PUT(ARG_STRING_VALUE, fx_ref_inline(length));
	fx_bytes_write(at + 1, text, length);
	w->count += 1 + words;
	w->arguments++;
	w->text_bytes += 8 * words;
}

/* --- Records ------------------------------------------------------------------------------------ */

/* A value beyond what fits is left out: with their texts, twelve are nine more than an event may have. */
static void arguments_put(struct probe_words *w, const struct fx_thread *t,
			  const struct fx_probe *probe, const uint8_t *bytes, size_t size)
{
	for (unsigned i = 0; i < probe->count; i++) {
		const struct fx_probe_argument *argument = &probe->arguments[i];
		uint32_t key = fx_string_literal(t, names[i]);
		uint64_t value = (uint64_t)argument->constant;

		if (key && (argument->kind == FX_PROBE_CONSTANT ||
			    field_get(probe->values[i], bytes, size, &value)))
			value_put(w, key, argument, value);
	}
	for (unsigned i = 0; i < probe->count && w->arguments < FXT_MAX_ARGS; i++) {
		uint32_t key = fx_string_literal(t, text_names[i]);

		if (key)
			text_put(w, key, probe->texts[i], bytes, size);
	}
}

static uint32_t text_add(struct probe_words *w, const struct fx_thread *t, const char *text)
{
	size_t length = strlen(text);
	const struct fx_record_text is = {text, length < FXT_MAX_NAME_LENGTH ? length
									     : FXT_MAX_NAME_LENGTH};
	uint32_t ref = fx_record_text_ref(t, &is);

	w->count +=
	    (unsigned)(fx_record_text_write(w->words + w->count, ref, &is) - (w->words + w->count));
	return ref;
}

/* header, time, process, thread, and what was put. */
static void probe_write(struct fx_thread *t, const struct fx_probe *probe,
			const struct fx_ring_record *record, const uint8_t *bytes, size_t size)
{
	struct probe_words w = {.count = 0};
	struct fx_reservation r;
	uint32_t category, name;
	uint64_t *p;

	category = text_add(&w, t, probe->category);
	name = text_add(&w, t, probe->name);
	arguments_put(&w, t, probe, bytes, size);
	p = fx_record_reserve(t, 4 + w.count, &r);
	if (!p)
		return;
	p[1] = record->ns;
	p[2] = record->pid;
	p[3] = record->tid;
	memcpy(p + 4, w.words, w.count * sizeof(*p));
	fx_record_commit(t, p,
			 fx_header_event(4 + w.count, FXT_EVENT_INSTANT, w.arguments,
					 FXT_THREAD_INLINE, category, name),
			 &r);
}

bool fx_probe_record(const struct fx_probe_list *list, const struct fx_ring_record *record)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_USER);
	const struct fx_probe *probe;
	const uint8_t *bytes;
	uint16_t number;
	size_t size;

	bytes = fx_ring_tracepoint(record, &size);
	if (!bytes)
		return false;
	memcpy(&number, bytes, sizeof(number));
	probe = probe_find(list, number);
	if (probe && t)
		probe_write(t, probe, record, bytes, size);
	return probe != NULL;
}
