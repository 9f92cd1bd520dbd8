/* SPDX-License-Identifier: MIT */
/* The texts of the format's tables, and small helpers over decoded records. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <fxtrace/reader.h>

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT_AT_(name, number, text)	[number] = text,
#define KIND_TEXT_(name, text)		[FXT_KIND_##name] = text,
#define FAULT_TEXT_(name, text, value)	[FXT_FAULT_##name] = text,
#define FAULT_VALUE_(name, text, value) [FXT_FAULT_##name] = value,

/* A function that looks a number up in a table made of TABLE. */
#define DEFINE_NAME_FUNCTION(function, type, TABLE)                                                \
	const char *function(type number)                                                          \
	{                                                                                          \
		static const char *const texts[] = {TABLE(TEXT_AT_)};                              \
                                                                                                   \
		return number < N_ELEMENTS(texts) ? texts[number] : NULL;                          \
	}

DEFINE_NAME_FUNCTION(fxt_record_type_name, unsigned, FXT_RECORD_TYPES)
DEFINE_NAME_FUNCTION(fxt_event_type_name, unsigned, FXT_EVENT_TYPES)
DEFINE_NAME_FUNCTION(fxt_provider_event_name, unsigned, FXT_PROVIDER_EVENTS)
DEFINE_NAME_FUNCTION(fxt_scope_name, uint64_t, FXT_SCOPES)
DEFINE_NAME_FUNCTION(fxt_arg_type_name, unsigned, FXT_ARG_TYPES)
DEFINE_NAME_FUNCTION(fxt_blob_type_name, unsigned, FXT_BLOB_TYPES)
DEFINE_NAME_FUNCTION(fxt_object_type_name, unsigned, FXT_OBJECT_TYPES)
DEFINE_NAME_FUNCTION(fxt_thread_state_name, unsigned, FXT_THREAD_STATES)

const char *fxt_kind_name(unsigned kind)
{
	static const char *const texts[] = {FXT_KINDS(KIND_TEXT_)};

	return kind < N_ELEMENTS(texts) ? texts[kind] : NULL;
}

const char *fxt_fault_text(enum fxt_fault_kind kind)
{
	static const char *const texts[] = {[FXT_FAULT_NONE] = "no fault", FXT_FAULTS(FAULT_TEXT_)};

	return (unsigned)kind < N_ELEMENTS(texts) ? texts[kind] : "unknown fault";
}

void fxt_fault_format(const struct fxt_fault *fault, char *buffer, size_t size)
{
	static const char *const values[] = {[FXT_FAULT_NONE] = "", FXT_FAULTS(FAULT_VALUE_)};
	const char *text = fxt_fault_text(fault->kind);
	const char *value = (unsigned)fault->kind < N_ELEMENTS(values) ? values[fault->kind] : "";

	if (*value == '\0')
		snprintf(buffer, size, "%s", text);
	else
		snprintf(buffer, size, "%s (word %" PRIu64 ", %s %" PRIu64 ")", text, fault->word,
			 value, fault->value);
}

uint64_t fxt_ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second)
{
	unsigned __int128 ns;

	if (ticks_per_second == FXT_DEFAULT_TICKS_PER_SECOND || ticks_per_second == 0)
		return ticks;
	ns = (unsigned __int128)ticks * UINT64_C(1000000000) / ticks_per_second;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

bool fxt_string_equals(const struct fxt_string *string, const char *text)
{
	size_t length = strlen(text);

	return string->data && string->length == length && memcmp(string->data, text, length) == 0;
}

const struct fxt_arg *fxt_record_find_arg(const struct fxt_record *record, const char *name)
{
	for (uint32_t i = 0; i < record->nargs; i++)
		if (fxt_string_equals(&record->args[i].name, name))
			return &record->args[i];
	return NULL;
}
