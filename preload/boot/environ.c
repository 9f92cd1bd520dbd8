/* SPDX-License-Identifier: MIT */
/* The environment that a program is given: what is remembered in the constructor, and put back. */
#include "preload/boot/environ.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/loadable.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/boot/environ-memory.h"
#include "preload/host/find-object.h" /* without it the first environment alone is changed */
#include "preload/host/peek.h"
#include "preload/host/self.h"
#include "preload/host/variables.h"
#include "preload/call/untraced.h"

#define PRELOAD	   "LD_PRELOAD="
#define OURS	   "FXTRACE_"
#define NO_FOLLOW  "FXTRACE_NO_FOLLOW="
#define OURS_MAX   48u
#define OURS_BYTES 8192u

static struct {
	bool follows;
	unsigned count;
	const char *path;	    /* of this library, in text; NULL: not known */
	const char *ours[OURS_MAX]; /* "FXTRACE_NAME=VALUE", in text */
	size_t used;
	char text[OURS_BYTES +
		  FX_ENVIRON_PATH_BYTES]; /* as a rule, of all of this one page is touched */
} self FX_LARGE;

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* As the client reads the variables of options that take no argument. */
static bool environ_is_on(const char *value)
{
	return value[0] && strcmp(value, "0") != 0;
}

/* Bytes of "NAME=" in "NAME=VALUE". */
static size_t environ_name_length(const char *variable)
{
	return strcspn(variable, "=") + 1;
}

static size_t count_strings(fx_strings s)
{
	size_t n = 0;

	while (s && s[n])
		n++;
	return n;
}

/* --- In the constructor ----------------------------------------------------------------------- */

/* Absolute, since a child may start elsewhere. */
static void remember_path(void)
{
	const char *path = fx_self_path();
	char *own = self.text + self.used;
	size_t directory = 0, length;

	if (!path)
		return;
	length = strlen(path);
	if (path[0] != '/') {
		long n = fx_syscall2(SYS_getcwd, own, FX_ENVIRON_PATH_BYTES);

		if (n <= 1 || own[0] != '/')
			n = 0;
		directory = n > 2 ? (size_t)n : 1; /* the NUL becomes the slash */
		own[directory - 1] = '/';
	}
	if (directory + length >= FX_ENVIRON_PATH_BYTES)
		return;
	memcpy(own + directory, path, length + 1);
	self.path = own;
	self.used += directory + length + 1;
}

static void remember_variable(const char *variable)
{
	size_t size = strlen(variable) + 1;

	const size_t room = OURS_BYTES + (self.path ? FX_ENVIRON_PATH_BYTES : 0);

	if (self.count == OURS_MAX || self.used + size > room)
		return;
	self.ours[self.count++] = memcpy(self.text + self.used, variable, size);
	self.used += size;
}

/* LD_PRELOAD without this library, in place; false if nothing is left. */
static bool preload_strip(char *variable)
{
	char *out = variable + strlen(PRELOAD);
	const char *e = out;
	size_t length, kept = 0;

	for (e = fx_self_next(e, &length); e; e = fx_self_next(e + length, &length)) {
		if (fx_self_is(e, length))
			continue;
		if (kept++)
			*out++ = ':';
		memmove(out, e, length);
		out += length;
	}
	*out = 0;
	return kept != 0;
}

static void environ_strip(void)
{
	char **out = (char **)(uintptr_t)fx_environ_now();

	for (fx_strings e = out; *e; e++) {
		if (starts_with(*e, OURS))
			continue;
		if (starts_with(*e, PRELOAD) && !preload_strip(*e))
			continue;
		*out++ = *e;
	}
	*out = NULL;
}

void fx_environ_forget(void)
{
	if (fx_environ_now())
		environ_strip();
}

/* Made at run time, by the kernel, malloc() or the program; and no constant of a module's. */
static bool is_writable(const void *p)
{
	struct dl_find_object found;

	if (!_dl_find_object)
		return fx_environ_is_first(fx_environ_now());
	return _dl_find_object((void *)(uintptr_t)p, &found) != 0;
}

void fx_environ_confine(void)
{
	fx_strings now = fx_environ_now();

	if (!self.follows || !now || !is_writable(now))
		return;
	for (fx_strings e = now; *e; e++)
		if (starts_with(*e, PRELOAD) && !is_writable(*e))
			return;
	environ_strip();
}

void fx_environ_init(void)
{
	bool follows = true;

	fx_touch(&self);
	remember_path();
	if (!fx_environ_now() || !self.path || !self.path[0])
		return;
	for (fx_strings e = fx_environ_now(); *e; e++) {
		if (starts_with(*e, NO_FOLLOW))
			follows = !environ_is_on(*e + strlen(NO_FOLLOW));
		if (starts_with(*e, OURS))
			remember_variable(*e);
	}
	self.follows = follows;
	if (!follows)
		environ_strip();
}

void fx_environ_add(const char *variable)
{
	remember_variable(variable);
}

bool fx_environ_follows(void)
{
	return self.follows;
}

const char *fx_environ_library(void)
{
	return self.path ? self.path : "";
}

/* --- For a child ------------------------------------------------------------------------------ */

static bool names_variable(fx_strings envp, const char *variable)
{
	size_t length = environ_name_length(variable);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, variable, length) == 0)
			return true;
	return false;
}

/* LD_PRELOAD as it stands there; NULL without. The dynamic linker believes the last of several. */
static const char *preload_variable(fx_strings envp)
{
	const char *variable = NULL;

	for (; envp && *envp; envp++)
		if (starts_with(*envp, PRELOAD))
			variable = *envp;
	return variable;
}

static bool misses_ours(fx_strings envp)
{
	for (unsigned i = 0; i < self.count; i++)
		if (!names_variable(envp, self.ours[i]))
			return true;
	return false;
}

/* --- An environment --------------------------------------------------------------------------- */

/*
 * Another thread may change the program's environment meanwhile: what is counted is not what is found afterwards.
 * So the pointers are copied first, as many as there is room for, and the rest is done on the copy.
 */
struct room {
	char **strings;
	size_t count, capacity; /* of strings, NULL and what is added included */
	char *text;		/* of LD_PRELOAD, behind them */
	size_t text_size;
	struct fx_environ_memory memory; /* of it all */
};

#define SPARE 16u /* strings that may come meanwhile */
#define TRIES 8u

static bool room_take(struct room *r, fx_strings envp)
{
	const char *preload = preload_variable(envp);

	r->count = 0;
	r->capacity = count_strings(envp) + OURS_MAX + 2 + SPARE;
	r->text_size = strlen(PRELOAD) + strlen(self.path) + 2 + (preload ? strlen(preload) : 0);
	if (!fx_environ_memory_take(&r->memory, r->capacity * sizeof(char *) + r->text_size))
		return false;
	r->strings = r->memory.at;
	r->text = (char *)(r->strings + r->capacity);
	return true;
}

/* Leaves room for what is to be added. False: there are more by now. */
static bool room_copy(struct room *r, fx_strings envp)
{
	char *variable;

	while (envp && (variable = fx_load_relaxed(&envp[r->count]))) {
		if (r->count == r->capacity - OURS_MAX - 2)
			return false;
		r->strings[r->count++] = variable;
	}
	r->strings[r->count] = NULL;
	return true;
}

/* Without each LD_PRELOAD. */
static void room_drop_preload(struct room *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (!starts_with(r->strings[i], PRELOAD))
			r->strings[kept++] = r->strings[i];
	r->count = kept;
}

/* LD_PRELOAD as it stands there, once more: it may have changed. Returns its length; SIZE_MAX if there is no room. */
static size_t text_copy(struct room *r, size_t at, const char *s)
{
	size_t length = strlen(s);

	if (at + length >= r->text_size)
		return SIZE_MAX;
	memcpy(r->text + at, s, length);
	r->text[at + length] = 0;
	return length;
}

/* "LD_PRELOAD=us", or "LD_PRELOAD=us:theirs". */
static bool preload_join(struct room *r, const char *theirs)
{
	size_t at = strlen(PRELOAD), own = strlen(self.path);

	memcpy(r->text, PRELOAD, at);
	memcpy(r->text + at, self.path, own + 1);
	at += own;
	if (!theirs || !theirs[0])
		return true;
	r->text[at++] = ':';
	return text_copy(r, at, theirs) != SIZE_MAX;
}

/* With an LD_PRELOAD that has this library, or has it not; false if that has become too long. */
static bool room_change_preload(struct room *r, bool strip)
{
	const char *preload = preload_variable(r->strings);
	const char *list = preload ? preload + strlen(PRELOAD) : NULL;

	if ((list && fx_self_is_in(list)) != strip)
		return true;
	if (strip ? text_copy(r, 0, preload) == SIZE_MAX : !preload_join(r, list))
		return false;
	room_drop_preload(r);
	if (!strip || preload_strip(r->text))
		r->strings[r->count++] = r->text;
	r->strings[r->count] = NULL;
	return true;
}

static void room_add_ours(struct room *r)
{
	for (unsigned i = 0; i < self.count; i++) {
		if (names_variable(r->strings, self.ours[i]))
			continue;
		r->strings[r->count++] = (char *)self.ours[i];
		r->strings[r->count] = NULL;
	}
}

static bool room_build(struct room *r, fx_strings envp, bool strip)
{
	if (!room_copy(r, envp) || !room_change_preload(r, strip))
		return false;
	if (!strip)
		room_add_ours(r);
	return true;
}

/* Whether what a program is given is what it needs. */
static bool is_right(fx_strings envp, bool strip)
{
	const char *preload = preload_variable(envp);

	return (preload && fx_self_is_in(preload + strlen(PRELOAD))) != strip &&
	       (strip || !misses_ours(envp));
}

static void see_sanitizer(struct fx_environ *e, fx_strings envp)
{
	const char *preload = preload_variable(envp);

	if (e->strip || !preload || !fx_loadable_names_sanitizer(preload + strlen(PRELOAD)))
		return;
	e->strip = true;
	e->traced = false;
	fx_untraced_note(preload, FX_LOADABLE_SANITIZER_NAMED);
}

void fx_environ_make(struct fx_environ *e, fx_strings envp)
{
	struct room r;

	e->envp = envp;
	e->mapped = 0;
	/* A bad environment is the kernel's to refuse. A process that may not ask believes in it. */
	if (!self.follows || (envp && fx_engine_may(FX_ASK_START) && !fx_peek_strings(envp)))
		return;
	see_sanitizer(e, envp);
	if (is_right(envp, e->strip))
		return;
	for (unsigned i = 0; i < TRIES && room_take(&r, envp); i++) {
		if (room_build(&r, envp, e->strip)) {
			e->envp = r.strings;
			e->mapped = fx_environ_memory_keep(&r.memory);
			return;
		}
		fx_environ_memory_give(&r.memory);
	}
}

void fx_environ_release(const struct fx_environ *e)
{
	fx_environ_memory_release(e->envp, e->mapped);
}
