/* SPDX-License-Identifier: MIT */
/* What programs call: include/fxtrace/provider.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "engine/layout.h"
#include "engine/provider/turn.h"
#include "preload/events/events.h" /* before what would make a module with events of it */
#include "provider/process.h"
#include <fxtrace/provider.h>

_Static_assert((unsigned)FXTRACE_PROVIDER_MODE_ONESHOT == FX_MODE_ONESHOT &&
		   (unsigned)FXTRACE_PROVIDER_MODE_CIRCULAR == FX_MODE_CIRCULAR &&
		   (unsigned)FXTRACE_PROVIDER_MODE_STREAMING == FX_MODE_STREAMING,
	       "modes are the protocol's");

struct fxtrace_provider {
	struct fxtrace_observer observer; /* first: see provider_changed() */
	bool observes;
	void (*changed)(void *data, enum fxtrace_phase phase);
	void *data;
};

/* Of the thread that creates or destroys, and how many there are. */
static struct fx_turn turn;
static unsigned count;

/* The first ones: a signal handler may have interrupted malloc(). */
static struct {
	struct fxtrace_provider provider;
	bool taken;
} pool[16];

static struct fxtrace_provider *provider_alloc(void)
{
	for (unsigned i = 0; i < FX_ARRAY_LEN(pool); i++)
		if (!__atomic_exchange_n(&pool[i].taken, true,
					 __ATOMIC_ACQUIRE)) { /* pairs with provider_free() */
			memset(&pool[i].provider, 0, sizeof(pool[i].provider));
			return &pool[i].provider;
		}
	return calloc(1, sizeof(struct fxtrace_provider));
}

static void provider_free(struct fxtrace_provider *provider)
{
	for (unsigned i = 0; i < FX_ARRAY_LEN(pool); i++)
		if (provider == &pool[i].provider) {
			fx_store_release(&pool[i].taken, false); /* pairs with provider_alloc() */
			return;
		}
	free(provider);
}

/* The table of the engine that the process has (preload/events/engines.h), which the compiler does not know. */
static const struct fxtrace_events *events_now(void)
{
	const struct fxtrace_events *events = &fx_events_table;

	__asm__("" : "+r"(events));
	return events;
}

/* A handler is called by one thread at a time, which may not wait for one that creates, and waits for that. */
static bool is_in_handler(void)
{
	struct fxtrace_observer nobody = {0};

	return events_now()->unobserve(&nobody) == -EDEADLK;
}

static void provider_changed(struct fxtrace_observer *observer, enum fxtrace_phase phase)
{
	const struct fxtrace_provider *provider = (const struct fxtrace_provider *)observer;

	provider->changed(provider->data, phase);
}

/* Whether a name has 1 to `max` bytes. */
static bool provider_name_fits(const char *name, size_t max)
{
	size_t length = name ? strnlen(name, max + 1) : 0;

	return length && length <= max;
}

static bool options_are_sound(const struct fxtrace_provider_options *o)
{
	if (o->size < sizeof(*o) || o->mode > FXTRACE_PROVIDER_MODE_STREAMING ||
	    (o->name && !provider_name_fits(o->name, FX_PROVIDER_NAME_MAX)) ||
	    (o->category_count && !o->categories))
		return false;
	for (size_t i = 0; i < o->category_count; i++) {
		if (!provider_name_fits(o->categories[i].name, FX_CATEGORY_NAME_MAX))
			return false;
	}
	return true;
}

static int provider_enter(struct fxtrace_provider *provider,
			  const struct fxtrace_provider_options *o)
{
	const struct fx_msg_wish wish = {.buffer_size = o->buffer_size, .mode = o->mode};
	const struct fxtrace_events *events = events_now();
	int r = fx_process_register(o->name ? o->name : program_invocation_short_name, &wish);

	if (r < 0)
		return r;
	for (size_t i = 0; i < o->category_count; i++)
		events->describe(o->categories[i].name, o->categories[i].description);
	if (o->changed) {
		provider->changed = o->changed;
		provider->data = o->data;
		provider->observer.changed = provider_changed;
		r = events->observe(&provider->observer);
		provider->observes = r == 0;
	}
	return r;
}

static int create(struct fxtrace_provider **ret, const struct fxtrace_provider_options *options,
		  bool *ret_started)
{
	static const struct fxtrace_provider_options usual = FXTRACE_PROVIDER_OPTIONS_INIT;
	struct fxtrace_provider *provider;
	int r;

	*ret = NULL;
	if (options && !options_are_sound(options))
		return -EINVAL;
	r = is_in_handler() ? -EDEADLK : fx_process_may_register();
	if (r < 0)
		return r;
	provider = provider_alloc();
	if (!provider)
		return -ENOMEM;
	r = fx_turn_take(&turn);
	if (r == 0) {
		r = provider_enter(provider, options ? options : &usual);
		if (r == 0)
			count++;
		else if (count == 0)
			fx_process_leave();
		*ret_started = r == 0 && events_now()->enabled();
		fx_turn_give(&turn);
	}
	if (r < 0)
		provider_free(provider);
	else
		*ret = provider;
	return r;
}

fx_export int fxtrace_provider_create_synchronously(struct fxtrace_provider **ret,
						    const struct fxtrace_provider_options *options,
						    bool *ret_started)
{
	int before = errno, r;

	*ret_started = false;
	r = create(ret, options, ret_started);
	errno = before;
	return r;
}

fx_export int fxtrace_provider_create(struct fxtrace_provider **ret,
				      const struct fxtrace_provider_options *options)
{
	bool started;

	return fxtrace_provider_create_synchronously(ret, options, &started);
}

fx_export int fxtrace_provider_destroy(struct fxtrace_provider *provider)
{
	int r;

	if (!provider)
		return 0;
	if (is_in_handler())
		return -EDEADLK;
	r = fx_turn_take(&turn);
	if (r < 0)
		return r;
	if (provider->observes)
		events_now()->unobserve(&provider->observer);
	if (--count == 0)
		fx_process_leave();
	fx_turn_give(&turn);
	provider_free(provider);
	return 0;
}
