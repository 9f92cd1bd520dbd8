/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/symbolize.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archives/copy.h"
#include "lists/hashes.h"
#include "format/encode.h"

/* A module of a provider, by its file's name. */
struct symbolize_module {
	size_t build_id_size;
	uint8_t build_id[FX_BUILD_ID_MAX];
	char path[FXT_MAX_NAME_LENGTH + 1];
	UT_hash_handle hh;
	struct symbolize_key {
		uint32_t provider;
		char name[(FXT_MAX_NAME_LENGTH + 4) / 4 * 4]; /* zeros behind */
	} key;
};

_Static_assert(sizeof(struct symbolize_key) % sizeof(uint32_t) == 0 &&
		   offsetof(struct symbolize_key, name) +
			   sizeof(((struct symbolize_key *)0)->name) ==
		       sizeof(struct symbolize_key),
	       "keys are compared by their bytes");

/* What a string of a table becomes, by its serial. */
struct symbolize_text {
	uint32_t serial;
	char *text; /* NULL: it stays */
	UT_hash_handle hh;
};

struct symbolize {
	struct fx_finder *finder;
	struct fx_copy *copy;
	struct fx_symbolize_result *result;
	struct symbolize_module *modules;
	struct symbolize_text *texts;
	struct fxt_record record; /* as it is written */
	char name[FX_SYMBOL_TEXT_MAX];
};

/* --- Modules ---------------------------------------------------------------------------------- */

static int symbolize_note(struct symbolize *s, const struct fxt_record *record)
{
	const struct fxt_profiler *p = &record->profiler;
	struct symbolize_key key = {.provider = record->provider->id};
	struct symbolize_module *module;
	const char *slash = memrchr(p->name.data, '/', p->name.length);
	size_t folder = slash ? (size_t)(slash + 1 - p->name.data) : 0;

	if (p->name.length >= sizeof(key.name) || p->build_id.size > FX_BUILD_ID_MAX)
		return 0;
	memcpy(key.name, p->name.data + folder, p->name.length - folder);
	HASH_FIND(hh, s->modules, &key, sizeof(key), module);
	if (!module) {
		module = calloc(1, sizeof(*module));
		if (!module)
			return -ENOMEM;
		module->key = key;
		HASH_ADD(hh, s->modules, key, sizeof(module->key), module);
	}
	memcpy(module->path, p->name.data, p->name.length);
	module->path[p->name.length] = '\0';
	memcpy(module->build_id, p->build_id.data, p->build_id.size);
	module->build_id_size = p->build_id.size;
	return 0;
}

/* --- Texts ------------------------------------------------------------------------------------ */

/* "MODULE+0x123". False: it is something else. */
static bool symbolize_parse(const struct fxt_string *string, struct symbolize_key *ret,
			    uint64_t *ret_address)
{
	char text[FXT_MAX_NAME_LENGTH + 32], *plus, *end;

	if (string->length >= sizeof(text) || string->length < 4)
		return false;
	memcpy(text, string->data, string->length);
	text[string->length] = '\0';
	plus = strrchr(text, '+');
	if (!plus || plus == text || plus - text > FXT_MAX_NAME_LENGTH || plus[1] != '0' ||
	    plus[2] != 'x')
		return false;
	*ret_address = strtoull(plus + 1, &end, 16);
	memcpy(ret->name, text, (size_t)(plus - text));
	return *end == '\0' && end > plus + 3;
}

/* The name in s->name. */
static bool symbolize_find(struct symbolize *s, const struct fxt_string *string, bool *ret_is_one)
{
	struct symbolize_key key = {.provider = s->record.provider->id};
	struct symbolize_module *module = NULL;
	struct fx_finder_file file;
	uint64_t address;

	if (symbolize_parse(string, &key, &address))
		HASH_FIND(hh, s->modules, &key, sizeof(key), module);
	*ret_is_one = module != NULL;
	if (!module)
		return false;
	file = (struct fx_finder_file){module->path, module->build_id, module->build_id_size};
	return fx_finder_name(s->finder, &file, address, s->name);
}

/* The new text, owned; NULL: the old one stays, or there is no memory. */
static char *symbolize_function(struct symbolize *s, const struct fxt_string *string)
{
	bool is_one, is_named = symbolize_find(s, string, &is_one);

	s->result->named += is_named;
	s->result->unnamed += is_one && !is_named;
	return is_named ? strdup(s->name) : NULL;
}

/* The name in s->name without the place in the function, as the manager writes frames. */
static int symbolize_frame_length(const struct symbolize *s)
{
	const char *plus = strrchr(s->name, '+');

	return plus && strncmp(plus, "+0x", 3) == 0 ? (int)(plus - s->name) : (int)strlen(s->name);
}

/*
 * The same of a stack, a frame in each line, whose address lies in the call that was made there. A stack that would
 * become too long for a string stays.
 */
static char *symbolize_stack(struct symbolize *s, const struct fxt_string *string)
{
	size_t room = FXT_MAX_STRING_LENGTH, put = 0, named = 0;
	const char *at = string->data, *end = at + string->length;
	char *text = malloc(room + 1);

	while (text && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)),
			   *stop = newline ? newline : end;
		struct fxt_string line = {.data = at, .length = (uint32_t)(stop - at)};
		bool is_one, is_named = symbolize_find(s, &line, &is_one);
		int length = snprintf(text + put, room + 1 - put, "%s%.*s", put > 0 ? "\n" : "",
				      is_named ? symbolize_frame_length(s) : (int)line.length,
				      is_named ? s->name : line.data);

		if (length < 0 || (size_t)length > room - put)
			break;
		put += (size_t)length;
		named += is_named;
		s->result->unnamed += is_one && !is_named;
		at = stop + 1;
	}
	if (at < end || named == 0) {
		free(text);
		return NULL;
	}
	s->result->named += named;
	return text;
}

static struct symbolize_text *symbolize_text(struct symbolize *s, const struct fxt_string *string)
{
	struct symbolize_text *text;
	bool is_stack = memchr(string->data, '\n', string->length);

	HASH_FIND(hh, s->texts, &string->serial, sizeof(string->serial), text);
	if (text)
		return text;
	text = calloc(1, sizeof(*text));
	if (!text)
		return NULL;
	text->serial = string->serial;
	text->text = is_stack ? symbolize_stack(s, string) : symbolize_function(s, string);
	HASH_ADD(hh, s->texts, serial, sizeof(text->serial), text);
	return text;
}

/* Strings of tables alone: the writers of addresses have them there. */
static int symbolize_string(struct symbolize *s, struct fxt_string *string)
{
	const struct symbolize_text *text;

	if (string->serial == 0 || !memmem(string->data, string->length, "+0x", 3))
		return 0;
	text = symbolize_text(s, string);
	if (!text)
		return -ENOMEM;
	if (text->text) {
		string->data = text->text;
		string->length = (uint32_t)strlen(text->text);
	}
	return 0;
}

/* --- Records ---------------------------------------------------------------------------------- */

static int symbolize_record(struct symbolize *s, const struct fxt_record *record)
{
	const struct fx_copy_way way = {.provider = record->kind == FXT_KIND_PROVIDER_EVENT
							? record->provider_record.id
							: record->provider->id};
	int r = record->kind == FXT_KIND_MODULE ? symbolize_note(s, record) : 0;

	s->record = *record;
	if (r == 0 && record->kind == FXT_KIND_EVENT)
		r = symbolize_string(s, &s->record.event.name);
	for (uint32_t i = 0; i < record->nargs && r == 0; i++) {
		if (record->args[i].type == FXT_ARG_STRING)
			r = symbolize_string(s, &s->record.args[i].string);
	}
	if (r < 0)
		return r;
	r = fx_copy_record(s->copy, &s->record, &way);
	s->result->left_out +=
	    r == 0 && (record->kind == FXT_KIND_EVENT || record->kind == FXT_KIND_UNKNOWN);
	return r < 0 ? r : 0;
}

static void symbolize_fault(void *opaque, const struct fxt_fault *fault)
{
	struct fx_symbolize_result *result = opaque;

	if (result->fault_count++ == 0)
		result->fault = *fault;
}

static void symbolize_free(struct symbolize *s)
{
	struct symbolize_module *module, *next_module;
	struct symbolize_text *text, *next_text;

	fx_copy_free(s->copy);
	HASH_ITER (hh, s->modules, module, next_module) {
		HASH_DEL(s->modules, module);
		free(module);
	}
	HASH_ITER (hh, s->texts, text, next_text) {
		HASH_DEL(s->texts, text);
		free(text->text);
		free(text);
	}
	free(s);
}

int fx_symbolize(struct fxt_reader *reader, struct fx_finder *finder, struct fx_output *out,
		 struct fx_symbolize_result *ret)
{
	struct symbolize *s = calloc(1, sizeof(*s));
	const struct fxt_record *record;
	int r = -ENOMEM;

	*ret = (struct fx_symbolize_result){0};
	if (!s)
		return -ENOMEM;
	s->finder = finder;
	s->result = ret;
	s->copy = fx_copy_new(out);
	fxt_reader_set_fault_handler(reader, symbolize_fault, ret);
	while (s->copy && (r = fxt_reader_next(reader, &record)) > 0) {
		r = symbolize_record(s, record);
		if (r < 0)
			break;
	}
	fxt_reader_set_fault_handler(reader, NULL, NULL);
	symbolize_free(s);
	return r < 0 ? r : fx_output_error(out);
}
