/* SPDX-License-Identifier: MIT */
#include "preload/real.h"

#include <dlfcn.h>
#include <errno.h>

/* What a function returns that this libc does not have; by the RESULT of wrappers.tbl. */
enum missing_kind {
	FX_MISSING_sys,
	FX_MISSING_ptr,
	FX_MISSING_map,
	FX_MISSING_object,
	FX_MISSING_text,
	FX_MISSING_handler,
	FX_MISSING_eai,
	FX_MISSING_errnum,
	FX_MISSING_value,
	FX_MISSING_void,
};

static const struct real_name {
	char name[32];	  /* empty: nobody calls it */
	char version[12]; /* empty: the default one */
	enum missing_kind missing;
} names[FX_REAL_COUNT] = {
#include "preload/real-names.inc"
};

union fx_real_table fx_real;

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

/* Before glibc 2.36 a plain dlsym() may return the oldest version of a symbol, not the default. */
static void *lookup(const struct real_name *n)
{
	void *p = n->version[0] ? dlvsym(RTLD_NEXT, n->name, n->version) : NULL;

	return p ? p : dlsym(RTLD_NEXT, n->name);
}

/* Returns false if libc lacks the function. */
static bool resolve(enum fx_real_index i)
{
	void *p = names[i].name[0] ? lookup(&names[i]) : NULL;

	fx_store_relaxed(&fx_real.slot[i], p ? p : missing(names[i].missing));
	return p || !names[i].name[0];
}

#pragma weak _dl_find_object /* glibc 2.35 */

static const void *library_of(void *function)
{
	struct dl_find_object o;
	Dl_info info;

	if (_dl_find_object)
		return _dl_find_object(function, &o) == 0 ? o.dlfo_link_map : NULL;
	return dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* An allocator that replaces malloc but not malloc_usable_size: libc's would misread its blocks. */
static void match_usable_size(void)
{
	if (library_of(fx_real.slot[FX_REAL_malloc]) !=
	    library_of(fx_real.slot[FX_REAL_malloc_usable_size]))
		fx_store_relaxed(&fx_real.slot[FX_REAL_malloc_usable_size], missing_value);
}

bool fx_real_init(void)
{
	bool all = true;
	int saved;

	if (!relocated || resolving)
		return false;
	saved = errno;
	resolving = true;
	for (unsigned i = 0; i < FX_REAL_COUNT; i++)
		if (!fx_load_relaxed(&fx_real.slot[i]))
			all &= resolve((enum fx_real_index)i);
	match_usable_size();
	if (!all)
		dlerror(); /* the program must not find our failures there */
	resolving = false;
	errno = saved;
	return true;
}

fx_cold void *fx_real_resolve(enum fx_real_index i)
{
	void *p;

	if (!fx_real_init())
		return missing(names[i].missing);
	p = fx_load_relaxed(&fx_real.slot[i]);
	return p ? p : missing(names[i].missing);
}
