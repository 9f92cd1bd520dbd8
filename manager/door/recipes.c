/* SPDX-License-Identifier: MIT */
#include "manager/door/recipes.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/reader.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/syscall.h"
#include "manager/settings/functions.h"
#include "manager/settings/terms.h"
#include "symbols/loader.h"

/* Modules of one process, and ranges of their code, with all that it has loaded one after another. */
#define OWNERS_MAX 1024u
#define CODES_MAX  1024u

/* A range of code. */
struct fx_recipe_code {
	uint64_t start, end, bias;
	struct fx_recipe_file *file; /* that is waited for; NULL: it is done with */
};

/* --- What a session wants --------------------------------------------------------------------- */

static void maker_clear(struct fx_recipe_maker *maker)
{
	fx_recipe_files_forget(maker);
	free(maker->functions);
	maker->functions = NULL;
	maker->patterns = NULL;
	maker->is_cut = maker->has_values = false;
}

void fx_recipes_want(struct fx_recipe_maker *maker, const struct fx_session_config *config)
{
	maker_clear(maker);
	if (!config)
		return;
	maker->has_values = fx_functions_have_values(config->functions);
	if (maker->has_values || fx_terms_tell(config))
		maker->functions = strdup(config->functions);
	if (fx_functions_know_some(maker->functions))
		maker->patterns = maker->functions;
	maker->version++;
}

/* Another list, which is taken over; NULL: there is no memory for it, and it is as it was. */
static void maker_replace(struct fx_recipe_maker *maker, char *functions)
{
	if (!functions)
		return;
	fx_recipe_files_forget(maker);
	free(maker->functions);
	maker->functions = functions;
	maker->patterns = functions;
	maker->version++;
}

void fx_recipes_choose(struct fx_recipe_maker *maker, const struct fx_session_config *config)
{
	if (fx_terms_choose(config) || maker->has_values)
		maker_replace(maker, fx_functions_with(config->functions, maker->functions, "^"));
}

void fx_recipes_add(struct fx_recipe_maker *maker, const char *lines)
{
	if (maker->functions)
		maker_replace(maker, fx_functions_with(maker->functions, lines, "^"));
}

void fx_recipes_destroy(struct fx_recipe_maker *maker)
{
	maker_clear(maker);
	fx_loader_stop(maker->loader);
	maker->loader = NULL;
}

/* --- A provider's book ------------------------------------------------------------------------ */

static struct fx_recipe_book *book_of(const struct fx_provider *p)
{
	return (struct fx_recipe_book *)((char *)p->control + fx_control_size(&p->drain.layout));
}

static const struct fx_view *view_of(const struct fx_provider *p)
{
	return p->origin ? &p->origin->view : NULL;
}

/* The process that waits goes on. */
static void book_say(const struct fx_recipe_maker *maker, struct fx_provider *p)
{
	struct fx_recipe_book *book = book_of(p);

	fx_store_relaxed(&book->version, maker->version);
	fx_store_relaxed(&book->first, p->recipes.first);
	fx_store_relaxed(&book->used, p->recipes.used);
	/* release: the modules and their tables stand. Both pair with fx_recipes_look(). */
	fx_store_release(&book->count, p->recipes.count);
	fx_store_release(&book->serial, ++p->recipes.serial);
	fx_syscall3(SYS_futex, &book->serial, FUTEX_WAKE, INT_MAX);
}

void fx_recipes_begin(const struct fx_recipe_maker *maker, struct fx_provider *p)
{
	if (!p->recipes.has_book)
		return;
	p->recipes.used = FX_ALIGN_UP((uint32_t)sizeof(struct fx_recipe_book), 8u);
	if (!maker->has_values)
		book_say(maker, p);
}

/* What a child has copied of its parent's book. That it may say anything harms itself alone. */
void fx_recipes_inherit(const struct fx_recipe_maker *maker, struct fx_provider *p)
{
	const struct fx_recipe_book *book = book_of(p);
	uint32_t first, count, used;

	if (!maker->patterns || !p->recipes.has_book) {
		fx_recipes_begin(maker, p);
		return;
	}
	p->recipes.used = FX_ALIGN_UP((uint32_t)sizeof(struct fx_recipe_book), 8u);
	first = fx_load_relaxed(&book->first);
	count = fx_load_relaxed(&book->count);
	used = fx_load_relaxed(&book->used);
	if (first > count || count > FX_RECIPE_MODULES || used < p->recipes.used || used % 8 ||
	    used > FX_RECIPE_SPACE)
		return;
	p->recipes.first = first;
	p->recipes.count = count;
	p->recipes.used = used;
	p->recipes.serial = fx_load_relaxed(&book->serial);
	p->recipes.inherited = true;
	/* The list has changed since its parent was told. */
	if (fx_load_relaxed(&book->version) != maker->version)
		fx_recipes_change(p);
}

void fx_recipes_renew(const struct fx_recipe_maker *maker, struct fx_provider *p)
{
	if (!p->recipes.has_book)
		return;
	fx_recipes_end(p);
	p->recipes.first = p->recipes.count;
	p->recipes.at = 0;
	p->recipes.inherited = p->recipes.changed = false;
	if (!maker->has_values)
		book_say(maker, p);
}

void fx_recipes_change(struct fx_provider *p)
{
	if (!p->recipes.has_book)
		return;
	fx_recipes_end(p);
	p->recipes.first = p->recipes.count;
	p->recipes.at = 0;
	p->recipes.inherited = false;
	p->recipes.changed = true;
}

void fx_recipes_end(struct fx_provider *p)
{
	struct fx_recipe_owner *owner;

	/* (The files are gone before, if the session is.) */
	while ((owner = p->recipes.owners)) {
		p->recipes.owners = owner->next;
		free(owner);
	}
	for (unsigned i = 0; i < p->recipes.code_count; i++) {
		if (p->recipes.codes[i].file)
			p->recipes.codes[i].file->users--;
	}
	free(p->recipes.codes);
	p->recipes.codes = NULL;
	p->recipes.code_count = p->recipes.code_room = p->recipes.waiting = 0;
	p->recipes.owner_count = 0;
}

/* Appends a table. False: there is no room. */
static bool book_add(struct fx_provider *p, const struct fx_recipe_code *code,
		     const struct fx_recipes *recipes)
{
	struct fx_recipe_book *book = book_of(p);
	uint32_t at = p->recipes.used;

	if (p->recipes.count == FX_RECIPE_MODULES || recipes->size > FX_RECIPE_SPACE - at)
		return false;
	memcpy((char *)book + at, recipes->table, recipes->size);
	book->modules[p->recipes.count++] = (struct fx_recipe_module){
	    .start = code->start,
	    .end = code->end,
	    .bias = code->bias,
	    .offset = at,
	    .size = recipes->size,
	};
	p->recipes.used = at + FX_ALIGN_UP(recipes->size, 8u);
	return true;
}

/* --- Its modules ------------------------------------------------------------------------------ */

struct taking {
	struct fx_recipe_maker *maker;
	struct fx_provider *p;
};

static struct fx_recipe_owner *owner_find(const struct fx_provider *p, uint16_t id)
{
	struct fx_recipe_owner *owner = p->recipes.owners;

	while (owner && owner->id != id)
		owner = owner->next;
	return owner;
}

static void owner_take(struct fx_provider *p, const struct fxt_profiler *r)
{
	struct fx_recipe_owner *owner;

	if (r->build_id.size > FX_BUILD_ID_MAX || p->recipes.owner_count == OWNERS_MAX ||
	    owner_find(p, r->module))
		return;
	owner = calloc(1, sizeof(*owner) + r->name.length + 1);
	if (!owner)
		return;
	owner->id = r->module;
	owner->build_id_size = r->build_id.size;
	memcpy(owner->build_id, r->build_id.data, r->build_id.size);
	memcpy(owner->path, r->name.data, r->name.length);
	owner->next = p->recipes.owners;
	p->recipes.owners = owner;
	p->recipes.owner_count++;
}

/* Whether the book has it already, as a child's has it from its parent. */
static bool book_has(const struct fx_provider *p, const struct fx_recipe_code *code)
{
	const struct fx_recipe_book *book = book_of(p);

	for (uint32_t i = p->recipes.first; p->recipes.inherited && i < p->recipes.count; i++) {
		if (book->modules[i].start == code->start && book->modules[i].end == code->end)
			return true;
	}
	return false;
}

static struct fx_recipe_code *code_new(struct fx_provider *p)
{
	unsigned room = p->recipes.code_room ? 2 * p->recipes.code_room : 16;
	struct fx_recipe_code *codes;

	if (p->recipes.code_count == CODES_MAX)
		return NULL;
	if (p->recipes.code_count == p->recipes.code_room) {
		codes = realloc(p->recipes.codes, room * sizeof(*codes));
		if (!codes)
			return NULL;
		p->recipes.codes = codes;
		p->recipes.code_room = room;
	}
	return &p->recipes.codes[p->recipes.code_count++];
}

static void code_take(struct taking *t, const struct fxt_profiler *r)
{
	const struct fx_recipe_owner *owner = owner_find(t->p, r->module);
	struct fx_recipe_code code = {
	    .start = r->start, .end = r->start + r->range, .bias = r->start - r->vaddr};
	struct fx_recipe_code *to;

	if (!owner || code.end <= code.start || owner->path[0] != '/' || book_has(t->p, &code))
		return;
	to = code_new(t->p);
	if (!to)
		return;
	code.file = fx_recipe_file_use(t->maker, owner, view_of(t->p));
	t->p->recipes.waiting += code.file != NULL;
	*to = code;
}

/* What of a mapping is code. */
#define EXECUTABLE 1u

static void record_take(void *opaque, const uint64_t *words, size_t count)
{
	struct taking *t = opaque;
	struct fxt_record record;

	if (fxt_record_decode(words, count, &record, NULL) <= 0)
		return;
	if (record.kind == FXT_KIND_MODULE)
		owner_take(t->p, &record.profiler);
	else if (record.kind == FXT_KIND_MMAP && (record.profiler.flags & EXECUTABLE))
		code_take(t, &record.profiler);
}

/* Puts into the book what is ready. */
static bool codes_settle(struct fx_recipe_maker *maker, struct fx_provider *p)
{
	bool added = false;

	for (unsigned i = 0; p->recipes.waiting && i < p->recipes.code_count; i++) {
		struct fx_recipe_code *code = &p->recipes.codes[i];

		if (!code->file || !fx_recipe_file_is_settled(maker, code->file, view_of(p)))
			continue;
		if (code->file->state == FX_RECIPE_FILE_READY && code->file->recipes.table) {
			if (book_add(p, code, &code->file->recipes))
				added = true;
			else
				maker->is_cut = true;
		}
		code->file->users--;
		code->file = NULL;
		p->recipes.waiting--;
	}
	fx_recipe_files_thin(maker);
	return added;
}

bool fx_recipes_turn(struct fx_recipe_maker *maker, struct fx_provider *p)
{
	struct taking taking = {maker, p};
	bool first = p->recipes.serial == 0;

	if (!maker->patterns || !p->recipes.has_book || p->phase != FX_PROVIDER_LIVE ||
	    !fx_drain_is_attached(&p->drain))
		return false;
	fx_drain_modules(&p->drain, &p->recipes.at, record_take, &taking);
	p->recipes.added = codes_settle(maker, p) || p->recipes.added;
	if (p->recipes.waiting)
		return true;
	/* A process tells of its modules in one go, behind its attachment: before that it has none. */
	if (!p->recipes.owners || (!first && !p->recipes.added && !p->recipes.changed))
		return first;
	book_say(maker, p);
	p->recipes.added = p->recipes.changed = false;
	if (!first)
		fx_provider_notify(p);
	return false;
}
