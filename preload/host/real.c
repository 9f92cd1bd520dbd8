/* SPDX-License-Identifier: MIT */
#include "preload/host/real.h"

#include <dlfcn.h>
#include <errno.h>

#include "engine/provider/engine.h"
#include "preload/host/find-object.h"
#include "preload/host/lookup.h"
#include "preload/host/self.h"

/* What a function returns that this libc does not have; by the RESULT of wrappers.tbl. */
enum missing_kind {
	FX_MISSING_sys,
	FX_MISSING_status,
	FX_MISSING_ptr,
	FX_MISSING_map,
	FX_MISSING_object,
	FX_MISSING_text,
	FX_MISSING_handler,
	FX_MISSING_eai,
	FX_MISSING_errnum,
	FX_MISSING_value,
	FX_MISSING_mode,
	FX_MISSING_void,
};

static const struct real_name {
	char name[32];	  /* empty: nobody calls it */
	char version[12]; /* empty: the default one */
	enum missing_kind missing;
} names[FX_REAL_COUNT] = {
#include "preload/real-names.inc"
};

union fx_real_table fx_real FX_LARGE;

/* The modules are known, and what is called first is looked up. */
static bool ready;

/* The thread is inside dlsym(), which may call malloc and whatever malloc calls. */
static __thread bool resolving;

/* Not NULL once this library is relocated. An IFUNC resolver of another library can call us before:
 * then not even dlsym() can be called. */
static void *const volatile relocated = &fx_real;

static long missing_sys(void)
{
	errno = ENOSYS;
	return -1;
}

static void *missing_ptr(void)
{
	errno = ENOSYS;
	return NULL;
}

static long missing_errnum(void)
{
	return ENOSYS;
}

static long missing_value(void)
{
	return 0;
}

static void *missing(enum missing_kind kind)
{
	switch (kind) {
	case FX_MISSING_sys:
	case FX_MISSING_status:
	case FX_MISSING_map:
	case FX_MISSING_handler:
	case FX_MISSING_eai:
		return (void *)missing_sys;
	case FX_MISSING_ptr:
	case FX_MISSING_object:
	case FX_MISSING_text:
		return (void *)missing_ptr;
	case FX_MISSING_errnum:
		return (void *)missing_errnum;
	default:
		return (void *)missing_value;
	}
}

static const void *library_of(void *function)
{
	struct dl_find_object o;
	Dl_info info;

	if (_dl_find_object)
		return _dl_find_object(function, &o) == 0 ? o.dlfo_link_map : NULL;
	return dladdr(function, &info) ? info.dli_fbase : NULL;
}

bool fx_real_is_ours(void *function)
{
	return library_of(function) == library_of((void *)missing);
}

bool fx_real_is_of_libc(void *function)
{
	return library_of(function) == library_of(fx_lookup("_exit", ""));
}

/* Before glibc 2.36 a plain dlsym() may return the oldest version of a symbol, not the default. */
static void *ask_linker(const struct real_name *n)
{
	/* One that came later has nobody behind it, and all before it. */
	void *scope = fx_self_is_late() ? RTLD_DEFAULT : RTLD_NEXT;
	void *p = n->version[0] ? dlvsym(scope, n->name, n->version) : NULL;

	if (!p)
		p = dlsym(scope, n->name);
	if (!p)
		dlerror(); /* the program must not find our failure there */
	return p && !fx_real_is_ours(p) ? p : NULL;
}

static void *lookup(const struct real_name *n)
{
	void *p = fx_lookup(n->name, n->version);

	return p ? p : ask_linker(n);
}

static void real_resolve(enum fx_real_index i)
{
	void *p = names[i].name[0] ? lookup(&names[i]) : NULL;

	fx_store_relaxed(&fx_real.slot[i], p ? p : missing(names[i].missing));
}

/* An allocator that replaces malloc but not malloc_usable_size: libc's would misread its blocks. */
static void match_usable_size(void)
{
	if (library_of(fx_real.slot[FX_REAL_malloc]) !=
	    library_of(fx_real.slot[FX_REAL_malloc_usable_size]))
		fx_store_relaxed(&fx_real.slot[FX_REAL_malloc_usable_size], missing_value);
}

/* Functions that an allocator must not meet half way: free() never looks anything up. */
static const enum fx_real_index first[] = {
    FX_REAL_free,
    FX_REAL_malloc,
    FX_REAL_calloc,
    FX_REAL_realloc,
    FX_REAL_reallocarray,
    FX_REAL_posix_memalign,
    FX_REAL_memalign,
    FX_REAL_aligned_alloc,
    FX_REAL_valloc,
    FX_REAL_pvalloc,
    FX_REAL_malloc_usable_size,
    FX_REAL__exit, /* most forked children call nothing else, and would each look it up */
};

/* The others are looked up when they are called. Before glibc 2.35 parts of libc are libraries of their own,
 * and the linker knows better where: then all are, now. */
static void resolve_first(void)
{
	bool can_wait = fx_lookup_init() && _dl_find_object;

	fx_touch(&fx_real);
	for (unsigned i = 0; i < FX_ARRAY_LEN(first); i++)
		if (!fx_load_relaxed(&fx_real.slot[first[i]]))
			real_resolve(first[i]);
	for (unsigned i = 0; i < FX_REAL_COUNT && !can_wait; i++)
		if (!fx_load_relaxed(&fx_real.slot[i]))
			real_resolve((enum fx_real_index)i);
}

bool fx_real_can_begin(void)
{
	return relocated != NULL;
}

bool fx_real_init(void)
{
	int saved;

	if (!relocated || resolving)
		return false;
	if (ready)
		return true;
	saved = errno;
	resolving = true;
	resolve_first();
	match_usable_size();
	ready = true;
	resolving = false;
	errno = saved;
	return true;
}

/* Inside dlsym(): an allocator of the program's own, called from there, maps its memory by a wrapper. */
static void *resolve_inside(enum fx_real_index i)
{
	void *p = fx_lookup(names[i].name, names[i].version);

	return p ? p : missing(names[i].missing);
}

fx_cold void *fx_real_resolve(enum fx_real_index i)
{
	int saved;
	void *p;

	if (ready && fx_engine_is_stranger())
		return resolve_inside(i); /* not even errno is ours to write */
	saved = errno;
	if (!fx_real_init())
		return resolving ? resolve_inside(i) : missing(names[i].missing);
	p = fx_load_relaxed(&fx_real.slot[i]);
	if (p)
		return p;
	resolving = true;
	real_resolve(i);
	resolving = false;
	errno = saved;
	return fx_load_relaxed(&fx_real.slot[i]);
}
