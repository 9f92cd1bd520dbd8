/* SPDX-License-Identifier: MIT */
#include "manager/door/provider.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/syscall.h"
#include "manager/settings/terms.h"
#include "manager/settings/wanted.h"
#include "preload/strings.h"

/* What a session decides. */
static void control_configure(struct fx_provider *p, const struct fx_provider_terms *terms)
{
	struct fx_control *c = p->control;

	p->mode = terms->mode;
	p->on_full = terms->on_full;
	p->nests = terms->nests;
	p->clock = terms->clock_kind;
	c->buffering_mode = terms->mode;
	c->on_full = terms->on_full;
	c->half_enough = terms->mode == FX_MODE_STREAMING ? fx_layout_enough(&p->drain.layout) : 0;
	c->max_depth = terms->max_depth;
	c->min_duration = terms->min_duration;
	c->stack_categories = terms->stack_categories;
	c->stack_duration = terms->stack_duration;
	c->patch = terms->patch;
}

static void provider_control_fill(struct fx_provider *p, const struct fx_provider_terms *terms)
{
	struct fx_control *c = p->control;

	p->is_kernel = terms->is_kernel; /* it stays so in all sessions */
	c->version = FX_LAYOUT_VERSION;
	c->clock_kind = terms->clock_kind;
	c->tick_step = terms->tick_step;
	control_configure(p, terms);
	c->layout = p->drain.layout;
	c->categories_offset = fx_control_wanted(&p->drain.layout);
	c->builtin_id = fx_builtin.id;
	c->recipes_offset = p->recipes.has_book ? fx_control_size(&p->drain.layout) : 0;
	c->stash_offset = p->drain.stash_offset;
	p->drain.builtin = &fx_builtin;
	/* A child that brings its page has gone by its pid till now. */
	fx_store_relaxed(&c->provider_id, p->id);
}

static int provider_memory_take(struct fx_provider *p, const struct fx_layout *layout,
				struct fx_prepared *prepared, int ret_fds[2])
{
	const struct fx_memory_shape shape = {
	    .control_size = fx_control_size_with(layout, p->recipes.has_book),
	    .buffer_size = layout->total_size,
	    .list_offset = fx_control_wanted(layout),
	};
	struct fx_memory memory;
	int r = fx_prepared_take(prepared, &shape, &memory);

	if (r < 0)
		return r;
	p->control_size = shape.control_size;
	p->buffer_size = shape.buffer_size;
	p->control = memory.control;
	p->buffer = memory.buffer;
	ret_fds[0] = memory.control_fd;
	ret_fds[1] = memory.buffer_fd;
	return 0;
}

/* Whether the process may not map as much as it likes. */
static bool provider_is_limited(pid_t pid)
{
	struct rlimit space, data;

	return (prlimit(pid, RLIMIT_AS, NULL, &space) == 0 && space.rlim_cur != RLIM_INFINITY) ||
	       (prlimit(pid, RLIMIT_DATA, NULL, &data) == 0 && data.rlim_cur != RLIM_INFINITY);
}

static uint64_t provider_reserve_of(const struct fx_provider_terms *terms)
{
	return terms->resident ? terms->reserve : terms->buffer_size;
}

/* Nothing but what is known of it, and the layout that its memory has. 0 or -errno. */
static int provider_begin(const struct fx_provider_terms *terms, uint32_t id, pid_t pid,
			  const char *name, struct fx_layout *ret_layout, struct fx_provider **ret)
{
	const uint64_t reserve = provider_reserve_of(terms);
	struct fx_provider *p;
	int r = fx_layout_compute(ret_layout, reserve,
				  terms->resident ? FX_MODE_STREAMING : terms->mode);

	if (r < 0)
		return r;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->id = id;
	p->pid = pid;
	p->born = fx_boottime_ns();
	p->pidfd = p->buffer_fd = -1;
	p->limited = provider_is_limited(pid);
	p->reserve = reserve;
	p->recipes.has_book = terms->recipes;
	p->stash_offset = terms->recipes ? fx_layout_add_stash(ret_layout) : 0;
	memcpy(p->name, name, strnlen(name, sizeof(p->name) - 1));
	*ret = p;
	return 0;
}

static int provider_drain_init(struct fx_provider *p, const struct fx_layout *layout)
{
	int r = fx_drain_init(&p->drain, layout, p->buffer, p->control);

	p->drain.stash_offset = p->stash_offset;
	return r;
}

static uint64_t state_of(const struct fx_provider *p, const struct fx_provider_terms *terms)
{
	return (uint64_t)terms->epoch << 32 | (terms->running ? p->wanted : 0);
}

int fx_provider_create(const struct fx_provider_terms *terms, uint32_t id, pid_t pid,
		       const char *name, struct fx_prepared *prepared, struct fx_provider **ret,
		       int ret_fds[2])
{
	struct fx_provider *p;
	struct fx_layout layout;
	int r = provider_begin(terms, id, pid, name, &layout, &p);

	if (r < 0)
		return r;
	r = provider_memory_take(p, &layout, prepared, ret_fds);
	if (r == 0) {
		r = provider_drain_init(p, &layout);
		if (r < 0) {
			close(ret_fds[0]);
			close(ret_fds[1]);
		}
	}
	if (r < 0) {
		fx_provider_destroy(p);
		return r;
	}
	provider_control_fill(p, terms);
	if (terms->running) {
		p->stage = FX_PHASE_STARTED;
		p->control->phase = FX_PHASE_COUNT | FX_PHASE_STARTED;
	}
	if (terms->resident)
		fx_provider_join(p, terms, NULL);
	else if (terms->mode == FX_MODE_ONESHOT)
		fx_provider_refill(p);
	fx_provider_want(p, terms->config);
	p->state = state_of(p, terms);
	/* release: all of the page stands. Pairs with the provider's first look. */
	fx_store_release(&p->control->state, p->state);
	fx_store_release(&p->control->magic, FX_CONTROL_MAGIC);
	*ret = p;
	return 0;
}

/* What a child has copied from its parent's page, if that was of the same start. */
static bool is_of_start(const struct fx_provider *p, const struct fx_provider_terms *terms)
{
	return fx_load_relaxed(&p->control->state) >> 32 == terms->epoch;
}

/* The list stands in its page, as in its parent's. */
static void want_as_before(struct fx_provider *p, const struct fx_session_config *config)
{
	char list[FX_WANTED_SIZE];

	p->wanted = fx_terms_bits(config, fx_wanted_write(config, p->name, list));
}

/* The page is as its maker left it, which may be in any state. What was recorded since another start is forgotten. */
static int control_take_on(struct fx_provider *p, const struct fx_provider_terms *terms)
{
	if (is_of_start(p, terms)) {
		p->stage = FX_PHASE_OF(fx_load_relaxed(&p->control->phase));
		want_as_before(p, terms->config);
	} else {
		int r;

		fx_store_release(&p->control->state, 0);
		r = terms->resident ? fx_provider_join(p, terms, NULL) : -EINVAL;
		if (r < 0)
			return r;
	}
	provider_control_fill(p, terms);
	if (terms->running)
		fx_provider_start(p, terms->epoch);
	else
		fx_provider_stop(p, terms->epoch, 0);
	return 0;
}

int fx_provider_adopt(const struct fx_provider_terms *terms, uint32_t id, pid_t pid,
		      const char *name, const struct fx_foreign *brought, struct fx_provider **ret)
{
	struct fx_provider *p;
	struct fx_layout layout;
	int r = provider_begin(terms, id, pid, name, &layout, &p);

	if (r < 0)
		return r;
	if (brought->born_ns && brought->born_ns < p->born)
		p->born = brought->born_ns;
	p->control_size = fx_control_size_with(&layout, p->recipes.has_book);
	r = fx_foreign_map(brought, &layout, p->control_size, &p->control, &p->buffer);
	if (r == 0) {
		p->buffer_size = layout.total_size;
		r = provider_drain_init(p, &layout);
	}
	if (r == 0) {
		if (terms->resident)
			p->drain.share = fx_layout_share(&layout, terms->buffer_size);
		r = control_take_on(p, terms);
	}
	if (r < 0)
		fx_provider_destroy(p);
	else
		*ret = p;
	return r;
}

uint64_t fx_provider_excess(const struct fx_provider *p)
{
	struct stat st;
	uint64_t used;

	if (p->buffer_fd < 0 || fstat(p->buffer_fd, &st) < 0)
		return 0;
	used = (uint64_t)st.st_blocks * 512;
	return used > p->reserve ? used - p->reserve : 0;
}

struct fx_inlet *fx_provider_enlist(const struct fx_provider *p, struct fx_writer *w, bool exec)
{
	struct fx_newcomer who = {.id = p->id,
				  .pid = p->pid,
				  .born = p->born,
				  .name = p->name,
				  .is_kernel = p->is_kernel,
				  .origin = p->origin,
				  .exec = exec};

	return fx_writer_inlet(w, &who);
}

void fx_provider_destroy(struct fx_provider *p)
{
	while (p->look) {
		struct fx_block *next = p->look->next;

		free(p->look);
		p->look = next;
	}
	if (p->buffer)
		munmap(p->buffer, p->buffer_size);
	if (p->control)
		munmap(p->control, p->control_size);
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->buffer_fd >= 0)
		close(p->buffer_fd);
	fx_origin_release(p->origin);
	fx_drain_destroy(&p->drain);
	free(p);
}

/* Tells the threads in the process that wait for it. */
static void phase_enter(struct fx_provider *p, enum fx_phase phase)
{
	uint32_t word = fx_load_relaxed(&p->control->phase);

	if (p->stage == phase)
		return;
	p->stage = phase;
	word = (word & ~FX_PHASE_MASK) + FX_PHASE_COUNT;
	fx_store_release(&p->control->phase, word | phase); /* pairs with observer.c */
	fx_syscall3(SYS_futex, &p->control->phase, FUTEX_WAKE, INT_MAX);
}

void fx_provider_set_stopped(struct fx_provider *p)
{
	phase_enter(p, FX_PHASE_STOPPED);
}

void fx_provider_want(struct fx_provider *p, const struct fx_session_config *config)
{
	char *list = (char *)p->control + fx_control_wanted(&p->drain.layout);

	p->wanted = fx_terms_bits(config, fx_wanted_write(config, p->name, list));
	if (p->is_kernel)
		p->wanted |= FX_CAT_USER;
}

static void state_set(struct fx_provider *p, uint64_t state)
{
	p->state = state;
	/* release: the configuration stands. Pairs with the load at adoption in thread.c. */
	fx_store_release(&p->control->state, state);
	/* Lossless writers that wait for space must see it. */
	fx_add_relaxed(&p->control->space_word, 1);
	fx_syscall3(SYS_futex, &p->control->space_word, FUTEX_WAKE, INT_MAX);
}

void fx_provider_start(struct fx_provider *p, uint32_t epoch)
{
	/* Before the state: a thread that finds that changed finds the phase too. */
	phase_enter(p, FX_PHASE_STARTED);
	state_set(p, (uint64_t)epoch << 32 | p->wanted | (p->wanted ? p->news : 0));
}

void fx_provider_want_anew(struct fx_provider *p, const struct fx_session_config *config)
{
	uint64_t epoch = p->state >> 32 << 32;

	fx_provider_want(p, config);
	p->news = (p->news + FX_STATE_NEWS_ONE) & FX_STATE_NEWS;
	if (p->stage == FX_PHASE_STARTED)
		state_set(p, epoch | p->wanted | (p->wanted ? p->news : 0));
}

void fx_provider_notify(struct fx_provider *p)
{
	p->news = (p->news + FX_STATE_NEWS_ONE) & FX_STATE_NEWS;
	/* Threads that find it stopped look when it starts. */
	if (p->stage == FX_PHASE_STARTED && p->wanted)
		state_set(p, (p->state & ~(uint64_t)FX_STATE_NEWS) | p->news);
}

void fx_provider_stop(struct fx_provider *p, uint32_t epoch, uint32_t notice)
{
	if (p->stage == FX_PHASE_STARTED)
		phase_enter(p, FX_PHASE_STOPPING);
	state_set(p, (uint64_t)epoch << 32 | notice);
}

/* --- Sessions that a resident provider lives through ----------------------------------------- */

int fx_provider_join(struct fx_provider *p, const struct fx_provider_terms *terms,
		     struct fx_inlet *inlet)
{
	uint32_t share = fx_layout_share(&p->drain.layout, terms->buffer_size);
	int r = p->drain.broken ? -EBADMSG : fx_drain_restart(&p->drain, share);

	if (r < 0)
		return r;
	control_configure(p, terms);
	fx_provider_want(p, terms->config);
	p->first_serial = fx_drain_next_serial(&p->drain);
	p->inlet = inlet;
	p->heap_bytes = p->heap_blocks = 0;
	p->settled = p->wrapped = false;
	/* In a buffer that serves any mode, oneshot is a limit. */
	if (terms->mode == FX_MODE_ONESHOT)
		fx_provider_refill(p);
	else
		fx_store_relaxed(&p->control->serial_limit, 0);
	return 0;
}

void fx_provider_refill(struct fx_provider *p)
{
	uint64_t limit = fx_drain_next_serial(&p->drain) + p->drain.chunk_count;

	fx_store_relaxed(&p->control->serial_limit, limit);
}

void fx_provider_pause(struct fx_provider *p, uint64_t ticks)
{
	p->end_ticks = ticks;
	p->settled = false;
}
