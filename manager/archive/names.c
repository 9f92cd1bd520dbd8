/* SPDX-License-Identifier: MIT */
#include "manager/archive/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "lists/hashes-lenient.h"
#include "format/encode.h"
#include "manager/archive/wording.h"

#define UPPER_COUNT (FX_STRING_MAX - FX_STRING_LOCAL + 1)

/* A text that has one of the upper indices. */
struct upper_text {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint32_t slot;
	uint32_t length;
	char text[];
};

struct upper_slot {
	struct upper_text *text; /* NULL: free */
	uint32_t generation;
};

struct fx_upper {
	struct upper_text *by_text; /* uthash */
	uint32_t next;		    /* slot to be given next */
	struct upper_slot slots[UPPER_COUNT];
};

void fx_names_init(struct fx_names *ret, struct fx_archive *archive, struct fx_modules *modules,
		   struct fx_known_set *known, uint64_t limit)
{
	*ret = (struct fx_names){
	    .archive = archive, .modules = modules, .known = known, .limit = limit};
}

/* Counts memory that is about to be taken. False, and one string more is shown as a number: it would be
 * too much. */
static bool charge(struct fx_names *names, size_t bytes)
{
	if (names->held > names->limit || bytes > names->limit - names->held) {
		names->numbered++;
		return false;
	}
	names->held += bytes;
	return true;
}

/* What a text takes, with what the allocator keeps of it. */
static size_t text_cost(size_t length)
{
	return length + 1 + 16;
}

static void name_clear(struct fx_names *names, struct fx_name *name)
{
	if (!name->borrowed && (name->kind == FX_NAME_TEXT || name->kind == FX_NAME_STACK))
		names->held -= text_cost(name->length);
	if (name->kind == FX_NAME_TEXT && !name->borrowed)
		free(name->text);
	if (name->kind == FX_NAME_STACK)
		free(name->frames);
	memset(name, 0, sizeof(*name));
}

static void upper_destroy(struct fx_upper *upper)
{
	struct upper_text *text, *next;

	HASH_ITER (hh, upper->by_text, text, next) {
		HASH_DEL(upper->by_text, text);
		free(text);
	}
	free(upper);
}

void fx_names_destroy(struct fx_names *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		if (!names->table[i].borrowed)
			name_clear(names, &names->table[i]);
	}
	free(names->table);
	if (names->upper)
		upper_destroy(names->upper);
	memset(names, 0, sizeof(*names));
}

void fx_locals_clear(struct fx_names *names, struct fx_locals *locals)
{
	for (uint32_t i = 0; i < locals->count; i++)
		name_clear(names, &locals->entries[i].name);
	locals->count = 0;
}

void fx_locals_destroy(struct fx_names *names, struct fx_locals *locals)
{
	fx_locals_clear(names, locals);
	names->held -= locals->room * sizeof(*locals->entries);
	free(locals->entries);
	memset(locals, 0, sizeof(*locals));
}

/* --- Definitions ----------------------------------------------------------------------------- */

static int frames_set(struct fx_name *name, const uint64_t *record)
{
	if (name->length == 0 || name->length % FXT_WORD_SIZE)
		return -EINVAL;
	name->kind = FX_NAME_STACK;
	name->frames = malloc(name->length);
	if (!name->frames)
		return -ENOMEM;
	memcpy(name->frames, record + 1, name->length);
	return 0;
}

static int names_text_set(struct fx_name *name, const uint64_t *record)
{
	name->kind = FX_NAME_TEXT;
	name->text = malloc(name->length + 1u);
	if (!name->text)
		return -ENOMEM;
	memcpy(name->text, record + 1, name->length);
	name->text[name->length] = 0;
	name->meaning = (uint8_t)fx_meaning_of_word(name->text);
	return 0;
}

static int address_set(struct fx_name *name, const uint64_t *record)
{
	if (name->length != FXT_WORD_SIZE)
		return -EINVAL;
	name->kind = FX_NAME_ADDRESS;
	name->address = record[1];
	return 0;
}

/* What it stands for will be asked for. */
static void name_want(struct fx_names *names, const struct fx_name *name)
{
	if (name->kind == FX_NAME_ADDRESS)
		fx_modules_want(names->modules, name->moment, name->address);
	if (name->kind != FX_NAME_STACK)
		return;
	for (size_t i = 0; i < name->length / FXT_WORD_SIZE && name->frames[i]; i++)
		fx_modules_want(names->modules, name->moment, name->frames[i] - 1);
}

/* A text or a stack, or, without the memory for it, a number. */
static int owned_set(struct fx_names *names, struct fx_name *name, const uint64_t *record)
{
	size_t cost = text_cost(name->length);
	int r;

	if (!charge(names, cost)) {
		name->kind = FX_NAME_NUMBER;
		name->number = names->numbered;
		return 0;
	}
	r = record[0] & FX_STRING_STACK ? frames_set(name, record) : names_text_set(name, record);
	if (r < 0)
		names->held -= cost;
	return r;
}

static int name_set(struct fx_names *names, struct fx_name *name, const uint64_t *record)
{
	struct fx_name fresh = {.length = (uint16_t)FXT_GET(record[0], STRING_LENGTH),
				.moment = fx_modules_moment(names->modules)};
	int r;

	if (record[0] & FX_STRING_ADDRESS_MASK)
		r = address_set(&fresh, record);
	else
		r = owned_set(names, &fresh, record);
	if (r < 0)
		return r;
	name_clear(names, name);
	*name = fresh;
	name_want(names, name);
	return 0;
}

/* Makes room for index `index`, the new entries zero. */
static int table_grow(struct fx_names *names, uint32_t index)
{
	uint32_t count = names->count ? names->count : 64;
	struct fx_name *table;

	while (count <= index)
		count *= 2;
	table = realloc(names->table, count * sizeof(*table));
	if (!table)
		return -ENOMEM;
	memset(table + names->count, 0, (count - names->count) * sizeof(*table));
	names->table = table;
	names->count = count;
	return 0;
}

static int locals_grow(struct fx_names *names, struct fx_locals *locals, uint32_t index)
{
	if (index >= locals->room) {
		uint32_t room = locals->room ? locals->room : 64;
		size_t bytes;
		void *entries;

		while (room <= index)
			room *= 2;
		bytes = (room - locals->room) * sizeof(*locals->entries);
		if (!charge(names, bytes))
			return -EDQUOT;
		entries = realloc(locals->entries, room * sizeof(*locals->entries));
		if (!entries) {
			names->held -= bytes;
			return -ENOMEM;
		}
		locals->entries = entries;
		locals->room = room;
	}
	while (locals->count <= index)
		memset(&locals->entries[locals->count++], 0, sizeof(*locals->entries));
	return 0;
}

static int local_define(struct fx_names *names, struct fx_locals *locals, uint32_t index,
			const uint64_t *record)
{
	int r = locals_grow(names, locals, index);

	if (r < 0)
		return r;
	locals->entries[index].generation = 0;
	return name_set(names, &locals->entries[index].name, record);
}

int fx_names_define(struct fx_names *names, struct fx_locals *locals, const uint64_t *record)
{
	uint32_t index = (uint32_t)FXT_GET(record[0], STRING_INDEX);
	bool is_category = record[0] & FX_STRING_CATEGORY;
	int r;

	if (is_category)
		fx_known_add(names->known, &names->made, (const char *)&record[1],
			     FXT_GET(record[0], STRING_LENGTH));
	if (index == 0)
		return is_category ? 0 : -EINVAL;
	if (index >= FX_STRING_LOCAL)
		return locals ? local_define(names, locals, index - FX_STRING_LOCAL, record)
			      : -EINVAL;
	/* A chunk may not change what the whole process means by an index. */
	if (locals)
		return -EINVAL;
	if (index >= names->count) {
		r = table_grow(names, index);
		if (r < 0)
			return r;
	}
	names->redefined += names->table[index].kind != FX_NAME_NONE;
	return name_set(names, &names->table[index], record);
}

int fx_names_take_builtin(struct fx_names *names, const struct fx_builtin_names *builtin)
{
	if (builtin->count > names->count) {
		int r = table_grow(names, builtin->count - 1);

		if (r < 0)
			return r;
	}
	for (uint32_t i = 0; i < builtin->count; i++) {
		if (names->table[i].kind != FX_NAME_NONE)
			name_clear(names, &names->table[i]);
	}
	names->redefined++;
	memcpy(names->table, builtin->table, builtin->count * sizeof(*names->table));
	for (uint32_t i = 0; i < builtin->count; i++) {
		if (names->table[i].is_category)
			fx_known_add(names->known, &names->made, names->table[i].text,
				     names->table[i].length);
	}
	return 0;
}

/* --- References ------------------------------------------------------------------------------ */

const struct fx_name *fx_names_find(const struct fx_names *names, const struct fx_locals *locals,
				    uint32_t ref)
{
	const struct fx_name *name = NULL;

	if (ref < FX_STRING_LOCAL)
		name = ref < names->count ? &names->table[ref] : NULL;
	else if (locals && ref - FX_STRING_LOCAL < locals->count)
		name = &locals->entries[ref - FX_STRING_LOCAL].name;
	return name && name->kind != FX_NAME_NONE ? name : NULL;
}

void fx_names_category(struct fx_names *names, struct fx_locals *locals, uint32_t ref,
		       const void *text)
{
	struct fx_name *name;

	if (ref & FXT_STRING_INLINE) {
		fx_known_add(names->known, &names->made, text, ref & ~FXT_STRING_INLINE);
		return;
	}
	name = (struct fx_name *)fx_names_find(names, locals, ref);
	if (!name || name->is_category || name->kind != FX_NAME_TEXT)
		return;
	name->is_category = 1;
	fx_known_add(names->known, &names->made, name->text, name->length);
}

/* Longer ones lack their outermost functions. */
#define STACK_TEXT_MAX 8192u

struct text {
	const char *data;
	size_t length;
	bool is_full; /* of a stack: what comes behind is left out */
	char room[FXT_MAX_STRING_LENGTH];
};

_Static_assert(STACK_TEXT_MAX > 2 * FX_MODULES_CALLER_MAX,
	       "room for a name, and for a stack's last line");
_Static_assert(STACK_TEXT_MAX <= FXT_MAX_STRING_LENGTH, "a record holds a stack");

static void text_append(struct text *text, const char *line, size_t length)
{
	if (text->length)
		text->room[text->length++] = '\n';
	memcpy(text->room + text->length, line, length);
	text->length += length;
}

/* A function of a stack. False: there is no room for more. */
static bool stack_line(void *opaque, const char *line, size_t length)
{
	struct text *text = opaque;

	if (!length || text->length + length + sizeof("\n\n...") > STACK_TEXT_MAX) {
		text_append(text, "...", strlen("..."));
		text->is_full = true;
		return false;
	}
	text_append(text, line, length);
	return true;
}

/* A frame of 0 stands for those that were left out. */
static void stack_text(const struct fx_names *names, const struct fx_name *name, struct text *ret)
{
	ret->length = 0;
	ret->is_full = false;
	for (size_t i = 0; i < name->length / FXT_WORD_SIZE && !ret->is_full; i++) {
		if (name->frames[i])
			fx_modules_callers(names->modules, name->moment, name->frames[i],
					   stack_line, ret);
		else
			stack_line(ret, "", 0);
	}
}

static size_t number_text(uint64_t number, char ret[FX_MODULES_TEXT_MAX])
{
	return (size_t)snprintf(ret, FX_MODULES_TEXT_MAX, "string #%" PRIu64, number);
}

/* As it goes into the archive; names of functions come escaped. */
static void name_text(const struct fx_names *names, const struct fx_name *name, struct text *ret)
{
	ret->data = ret->room;
	if (name->kind == FX_NAME_STACK) {
		stack_text(names, name, ret);
	} else if (name->kind == FX_NAME_ADDRESS) {
		ret->length =
		    fx_modules_name(names->modules, name->moment, name->address, ret->room);
	} else if (name->kind == FX_NAME_CALLER) {
		ret->length =
		    fx_modules_caller(names->modules, name->moment, name->address, ret->room);
	} else if (name->kind == FX_NAME_NUMBER) {
		ret->length = number_text(name->number, ret->room);
	} else if (fx_escape_needed(name->text, name->length, 0)) {
		ret->length = fx_escape(ret->room, sizeof(ret->room), name->text, name->length, 0);
	} else {
		ret->data = name->text;
		ret->length = name->length;
	}
}

static void names_tell(struct fx_names *names, unsigned index, const struct fx_name *name)
{
	struct text text;

	name_text(names, name, &text);
	fx_archive_string(names->archive, index, text.data, text.length);
}

static void upper_forget(struct fx_names *names, struct upper_slot *s)
{
	names->held -= text_cost(s->text->length);
	HASH_DEL(names->upper->by_text, s->text);
	free(s->text);
	s->text = NULL;
}

/* Gives a text the slot whose turn it is, and writes it to the archive. */
static int upper_assign(struct fx_names *names, const char *data, size_t length)
{
	struct fx_upper *upper = names->upper;
	uint32_t slot = upper->next;
	struct upper_slot *s = &upper->slots[slot];
	struct upper_text *text;
	char number[FX_MODULES_TEXT_MAX];

	if (s->text)
		upper_forget(names, s);
	if (!charge(names, text_cost(length))) {
		data = number;
		length = number_text(names->numbered, number);
		names->held += text_cost(length); /* one for each of the slots, at most */
	}
	text = malloc(sizeof(*text) + length);
	if (text) {
		text->lost = false;
		text->slot = slot;
		text->length = (uint32_t)length;
		memcpy(text->text, data, length);
		HASH_ADD_KEYPTR(hh, upper->by_text, text->text, text->length, text);
	}
	if (!text || text->lost) {
		free(text);
		names->held -= text_cost(length);
		return -ENOMEM;
	}
	s->text = text;
	s->generation++;
	upper->next = (slot + 1) % UPPER_COUNT;
	fx_archive_string(names->archive, FX_STRING_LOCAL + slot, data, length);
	return (int)slot;
}

static int upper_find(struct fx_names *names, const struct fx_name *name)
{
	struct upper_text *found;
	struct text text;

	if (!names->upper) {
		names->upper = calloc(1, sizeof(*names->upper));
		if (!names->upper)
			return -ENOMEM;
	}
	name_text(names, name, &text);
	HASH_FIND(hh, names->upper->by_text, text.data, text.length, found);
	return found ? (int)found->slot : upper_assign(names, text.data, text.length);
}

static int local_ref(struct fx_names *names, struct fx_local_name *local)
{
	int slot;

	if (local->generation && names->upper->slots[local->slot].generation == local->generation)
		return (int)(FX_STRING_LOCAL + local->slot);
	slot = upper_find(names, &local->name);
	if (slot < 0)
		return slot;
	local->slot = (uint32_t)slot;
	local->generation = names->upper->slots[slot].generation;
	return (int)FX_STRING_LOCAL + slot;
}

int fx_names_say_local(struct fx_names *names, struct fx_local_name *local)
{
	return local_ref(names, local);
}

int fx_names_say(struct fx_names *names, const char *text)
{
	struct fx_name name = {.kind = FX_NAME_TEXT, .length = (uint16_t)strlen(text)};
	int slot;

	name.text = (char *)text;
	slot = upper_find(names, &name);
	return slot < 0 ? slot : (int)FX_STRING_LOCAL + slot;
}

const struct fx_name *fx_names_judge_slow(struct fx_names *names, struct fx_locals *locals,
					  uint32_t ref)
{
	/* Found by the same way as a reader finds it; the table is ours to write. */
	struct fx_name *name = (struct fx_name *)fx_names_find(names, locals, ref);

	if (!name || name->kind != FX_NAME_ADDRESS)
		return NULL;
	if (name->judged != names->functions->version) {
		struct fx_pattern_verdict verdict = fx_modules_judge(
		    names->modules, name->moment, name->address, names->functions->text);

		name->unwanted = verdict.spare;
		name->out = verdict.out;
		name->chosen = verdict.chosen;
		name->inside = verdict.inside;
		name->kept = verdict.kept;
		name->has_min = verdict.has_min;
		name->min_ns = verdict.min_ns;
		name->suppressed = verdict.suppressed;
		name->judged = names->functions->version;
	}
	return name;
}

int fx_names_ref_slow(struct fx_names *names, struct fx_locals *locals, uint32_t ref)
{
	if (!fx_names_find(names, locals, ref))
		return -ENOENT;
	if (ref >= FX_STRING_LOCAL)
		return local_ref(names, &locals->entries[ref - FX_STRING_LOCAL]);
	names_tell(names, ref, &names->table[ref]);
	names->table[ref].told = 1;
	return (int)ref;
}
