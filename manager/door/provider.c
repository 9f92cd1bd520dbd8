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
#include "base/fault.h"
#include "base/syscall.h"
#include "manager/settings/losses.h"
#include "manager/door/memfd.h"
#include "manager/settings/report.h"
#include "manager/settings/terms.h"
#include "manager/settings/wanted.h"

/* One provider may fill so many blocks before another one's turn comes. */
#define BLOCKS_PER_TURN 64u

#define FEW_THREADS	64u
#define FACTS_PERIOD_NS UINT64_C(20000000)

/* What a session decides. */
static void control_configure(struct fx_provider *p, const struct fx_provider_terms *terms)
{
	struct fx_control *c = p->control;

	p->mode = terms->mode;
	p->on_full = terms->on_full;
	c->buffering_mode = terms->mode;
	c->on_full = terms->on_full;
	c->max_depth = terms->max_depth;
	c->min_duration = terms->min_duration;
	c->stack_categories = terms->stack_categories;
	c->stack_duration = terms->stack_duration;
}

static void provider_control_fill(struct fx_provider *p, const struct fx_provider_terms *terms)
{
	struct fx_control *c = p->control;

	c->version = FX_LAYOUT_VERSION;
	c->clock_kind = terms->clock_kind;
	c->tick_step = terms->tick_step;
	control_configure(p, terms);
	c->layout = p->drain.layout;
	c->categories_offset = fx_control_wanted(&p->drain.layout);
	/* A child that brings its page has gone by its pid till now. */
	fx_store_relaxed(&c->provider_id, p->id);
}

/* A memfd, mapped and sealed; its descriptor, or -errno. */
static int shared_create(const char *name, uint64_t size, enum fx_memfd_writer writer, void **ret)
{
	int fd = fx_memfd_create(name, size), r;

	if (fd < 0)
		return fd;
	r = fx_memfd_map_and_seal(fd, size, writer, ret);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static int memory_create(struct fx_provider *p, const struct fx_layout *layout, int ret_fds[2])
{
	int control, buffer;

	p->control_size = fx_control_size(layout);
	p->buffer_size = layout->total_size;
	control =
	    shared_create("fxtrace-control", p->control_size, FX_MEMFD_OURS, (void **)&p->control);
	if (control < 0)
		return control;
	buffer = shared_create("fxtrace-buffer", layout->total_size, FX_MEMFD_THEIRS, &p->buffer);
	if (buffer < 0) {
		close(control);
		return buffer;
	}
	ret_fds[0] = control;
	ret_fds[1] = buffer;
	return 0;
}

/* Whether the process may not map as much as it likes. */
static bool provider_is_limited(pid_t pid)
{
	struct rlimit limit;

	return prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Nothing but what is known of it. */
static struct fx_provider *provider_new(uint32_t id, pid_t pid, const char *name, uint64_t reserve)
{
	struct fx_provider *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->id = id;
	p->pid = pid;
	p->born = fx_boottime_ns();
	p->pidfd = p->buffer_fd = -1;
	p->limited = provider_is_limited(pid);
	p->reserve = reserve;
	memcpy(p->name, name, strnlen(name, sizeof(p->name) - 1));
	return p;
}

static uint64_t provider_reserve_of(const struct fx_provider_terms *terms)
{
	return terms->resident ? terms->reserve : terms->buffer_size;
}

static int layout_of(const struct fx_provider_terms *terms, uint64_t reserve, struct fx_layout *ret)
{
	return fx_layout_compute(ret, reserve, terms->resident ? FX_MODE_STREAMING : terms->mode);
}

static uint64_t state_of(const struct fx_provider *p, const struct fx_provider_terms *terms)
{
	return (uint64_t)terms->epoch << 32 | (terms->running ? p->wanted : 0);
}

int fx_provider_create(const struct fx_provider_terms *terms, uint32_t id, pid_t pid,
		       const char *name, struct fx_provider **ret, int ret_fds[2])
{
	struct fx_provider *p;
	struct fx_layout layout;
	int r = layout_of(terms, provider_reserve_of(terms), &layout);

	if (r < 0)
		return r;
	p = provider_new(id, pid, name, provider_reserve_of(terms));
	if (!p)
		return -ENOMEM;
	r = memory_create(p, &layout, ret_fds);
	if (r == 0) {
		r = fx_drain_init(&p->drain, &layout, p->buffer, p->control);
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
	int r = layout_of(terms, provider_reserve_of(terms), &layout);

	if (r < 0)
		return r;
	p = provider_new(id, pid, name, provider_reserve_of(terms));
	if (!p)
		return -ENOMEM;
	if (brought->born_ns && brought->born_ns < p->born)
		p->born = brought->born_ns;
	p->control_size = brought->control_size;
	r = fx_foreign_map(brought, &layout, &p->control, &p->buffer);
	if (r == 0) {
		p->buffer_size = layout.total_size;
		r = fx_drain_init(&p->drain, &layout, p->buffer, p->control);
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

struct fx_source *fx_provider_enlist(const struct fx_provider *p, struct fx_writer *w, bool exec)
{
	struct fx_newcomer who = {.id = p->id,
				  .pid = p->pid,
				  .born = p->born,
				  .name = p->name,
				  .origin = p->origin,
				  .exec = exec};

	return fx_writer_source(w, &who);
}

void fx_provider_destroy(struct fx_provider *p)
{
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

/* Tells those in the process who wait for it. */
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
	/* Before the state: who finds that changed finds the phase too. */
	phase_enter(p, FX_PHASE_STARTED);
	state_set(p, (uint64_t)epoch << 32 | p->wanted);
}

void fx_provider_stop(struct fx_provider *p, uint32_t epoch, uint32_t notice)
{
	if (p->stage == FX_PHASE_STARTED)
		phase_enter(p, FX_PHASE_STOPPING);
	state_set(p, (uint64_t)epoch << 32 | notice);
}

/* --- Saving ---------------------------------------------------------------------------------- */

/* Adds what `take` finds to the list, in as many blocks as it needs. 0, 1: there is more than
 * `max_blocks`, or -errno. */
static int take_blocks(struct fx_provider *p, struct fx_queue *queue, struct fx_block_list *list,
		       unsigned max_blocks,
		       int (*take)(struct fx_provider *p, struct fx_drain_block *block))
{
	int r = 1;

	while (r == 1 && max_blocks--) {
		struct fx_block *block = fx_queue_block(queue, FX_BLOCK_DATA, p->source);

		if (!block)
			return -ENOMEM;
		block->ticks = p->end_ticks;
		r = take(p, &block->pieces);
		if (block->pieces.used)
			fx_block_list_add(list, block);
		else
			fx_queue_recycle(queue, block);
	}
	return r;
}

static int take_released(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_chunks(&p->drain, false, block);
}

static int take_all(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_chunks(&p->drain, true, block);
}

static int take_history(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_history(&p->drain, block);
}

static bool is_circular(const struct fx_provider *p)
{
	return p->mode == FX_MODE_CIRCULAR;
}

/* Facts of few threads are looked at with every piece of data; of many, from time to time. */
static bool must_look_at_threads(struct fx_provider *p)
{
	uint64_t now;

	if (p->drain.slots_used <= FEW_THREADS || p->drain.over)
		return true;
	now = fx_boottime_ns();
	if (now < p->next_facts)
		return false;
	p->next_facts = now + FACTS_PERIOD_NS;
	return true;
}

static int take_facts(struct fx_provider *p, struct fx_drain_block *block)
{
	/* The area ends some time; facts may change as fast as they are taken, and must not keep it
	 * from a block. */
	int r = fx_drain_durable(&p->drain, block);

	if (r == 0 && must_look_at_threads(p))
		r = fx_drain_threads(&p->drain, block);
	return r;
}

static int take_frames(struct fx_provider *p, struct fx_drain_block *block)
{
	return fx_drain_frames(&p->drain, &p->frames_cursor, block);
}

static void list_append(struct fx_block_list *list, struct fx_block_list *tail)
{
	if (!tail->first)
		return;
	*list->last = tail->first;
	list->last = tail->last;
	fx_block_list_init(tail);
}

static void report_broken(const struct fx_provider *p)
{
	fx_report("%s (%d): its buffer is corrupt (%s); the rest of its trace is lost", p->name,
		  (int)p->pid, p->drain.broken);
}

/*
 * One turn of saving. Names and modules are read after the chunks that use them, so that none is
 * missing, and queued before them, so that none comes too late. 0, 1: there is more, or -errno.
 */
static int save(struct fx_provider *p, struct fx_queue *queue, bool held)
{
	bool was_broken = p->drain.broken != NULL;
	struct fx_block_list list, chunks;
	int r, facts;

	fx_block_list_init(&list);
	fx_block_list_init(&chunks);
	r = take_blocks(p, queue, &chunks, BLOCKS_PER_TURN,
			is_circular(p) ? take_history
			: held	       ? take_all
				       : take_released);
	p->busy = chunks.first != NULL;
	facts = p->busy || held ? take_blocks(p, queue, &list, UINT_MAX, take_facts) : 0;
	list_append(&list, &chunks);
	fx_queue_push(queue, &list);
	if (p->drain.broken && !was_broken)
		report_broken(p);
	return r ? r : facts;
}

/* Lets the provider go on in the half that was saved. */
static void acknowledge(struct fx_provider *p)
{
	FX_FAULT(buffer_copied);
	if (!fx_drain_acknowledge(&p->drain) || p->on_full != FX_ON_FULL_BLOCK)
		return;
	fx_add_relaxed(&p->control->space_word, 1);
	/* No more than there may be room for; the others look from time to time. */
	fx_syscall3(SYS_futex, &p->control->space_word, FUTEX_WAKE, p->drain.share);
}

double fx_provider_poll(struct fx_provider *p, struct fx_queue *queue, bool held)
{
	bool must = fx_drain_must_acknowledge(&p->drain);
	uint64_t before = p->drain.limit;

	/* A circular buffer is saved when it is asked for, and at the end. */
	if (p->phase != FX_PROVIDER_LIVE || !p->source || p->drain.broken || is_circular(p))
		return 0;
	if (!must && !(held && p->drain.watch_count) && !fx_drain_has_news(&p->drain))
		return 0;
	if (!fx_drain_is_attached(&p->drain))
		return 0;
	if (p->origin)
		fx_origin_look(p->origin);
	if (fx_queue_is_full(queue))
		return 1; /* look again soon */
	if (save(p, queue, held || must) == 0 && must)
		acknowledge(p);
	return (double)(p->drain.limit - before) / p->drain.share;
}

/* --- The end --------------------------------------------------------------------------------- */

void fx_provider_end(struct fx_provider *p, uint64_t ticks)
{
	if (p->phase != FX_PROVIDER_LIVE)
		return;
	p->phase = FX_PROVIDER_ENDING;
	p->end_ticks = ticks;
}

static void queue_end(struct fx_provider *p, struct fx_queue *queue)
{
	struct fx_block *block = fx_queue_block(queue, FX_BLOCK_END, p->source);
	struct fx_block_list list;

	if (!block)
		return;
	block->end = (struct fx_stream_end){.ticks = p->end_ticks, .broken = p->drain.broken};
	block->end.wrapped = p->wrapped;
	block->end.ending = p->ending;
	block->end.absent = !fx_drain_is_attached(&p->drain);
	block->end.limited = p->limited;
	if (!block->end.absent) {
		fx_drain_unslotted(&p->drain, block->end.unslotted);
		block->end.unfollowed = fx_drain_unfollowed(&p->drain);
		block->end.heap_bytes = p->heap_bytes;
		block->end.heap_blocks = p->heap_blocks;
	}
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(queue, &list);
}

/* All of the buffer, then the open calls. True once they are queued. */
static bool save_all(struct fx_provider *p, struct fx_queue *queue)
{
	struct fx_block_list frames;
	int r = 1;

	if (!fx_drain_is_attached(&p->drain))
		return true;
	p->drain.over = true;
	if (is_circular(p))
		p->wrapped |=
		    fx_drain_next_serial(&p->drain) - p->drain.floor > p->drain.chunk_count;
	while (r == 1) {
		if (fx_queue_is_full(queue))
			return false;
		r = save(p, queue, true);
	}
	p->frames_cursor = 0;
	fx_block_list_init(&frames);
	take_blocks(p, queue, &frames, UINT_MAX, take_frames);
	fx_queue_push(queue, &frames);
	if (p->wanted & FX_CAT_HEAP)
		fx_drain_heap(&p->drain, &p->heap_bytes, &p->heap_blocks);
	p->drain.over = false;
	return true;
}

bool fx_provider_finish(struct fx_provider *p, struct fx_queue *queue)
{
	if (p->phase == FX_PROVIDER_OVER)
		return true;
	if (p->source) {
		if (!p->settled && !save_all(p, queue))
			return false;
		queue_end(p, queue);
	}
	p->phase = FX_PROVIDER_OVER;
	return true;
}

/* --- Sessions that a resident provider lives through ----------------------------------------- */

int fx_provider_join(struct fx_provider *p, const struct fx_provider_terms *terms,
		     struct fx_source *source)
{
	uint32_t share = fx_layout_share(&p->drain.layout, terms->buffer_size);
	int r = p->drain.broken ? -EBADMSG : fx_drain_restart(&p->drain, share);

	if (r < 0)
		return r;
	control_configure(p, terms);
	fx_provider_want(p, terms->config);
	p->first_serial = fx_drain_next_serial(&p->drain);
	p->source = source;
	p->heap_bytes = p->heap_blocks = 0;
	p->settled = p->wrapped = false;
	/* In a buffer that serves any mode, oneshot is a limit. */
	if (terms->mode == FX_MODE_ONESHOT)
		fx_provider_refill(p);
	else
		fx_store_relaxed(&p->control->serial_limit, 0);
	return 0;
}

bool fx_provider_flush(struct fx_provider *p, struct fx_queue *queue)
{
	int r = 1;

	if (!p->source || p->drain.broken || is_circular(p) || !fx_drain_is_attached(&p->drain))
		return true;
	/* It ends: what is saved gives a provider no room before it is acknowledged. */
	while (r == 1) {
		if (fx_queue_is_full(queue))
			return false;
		r = save(p, queue, true);
	}
	return true;
}

uint64_t fx_provider_dropped(const struct fx_provider *p)
{
	uint64_t unslotted[FX_LOSSES_ROOM], count;

	if (!fx_drain_is_attached(&p->drain))
		return 0;
	count = fx_drain_dropped(&p->drain);
	fx_drain_unslotted(&p->drain, unslotted);
	for (unsigned i = 0; i < FX_LOSSES_ROOM; i++)
		fx_loss_add(&count, unslotted[i]);
	return count;
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

bool fx_provider_settle(struct fx_provider *p, struct fx_queue *queue)
{
	if (p->settled || !p->source)
		return true;
	p->settled = save_all(p, queue);
	/* What is saved of a circular buffer is not to be saved again. */
	if (p->settled && is_circular(p))
		fx_drain_forget(&p->drain);
	return p->settled;
}

void fx_provider_leave(struct fx_provider *p, struct fx_queue *queue)
{
	if (!p->source)
		return;
	queue_end(p, queue);
	fx_provider_set_stopped(p);
	p->source = NULL;
}

int fx_provider_view(const struct fx_provider *p, uint64_t ticks, struct fx_source *source,
		     struct fx_provider *ret)
{
	struct fx_provider view = {
	    .id = p->id,
	    .pid = p->pid,
	    .phase = FX_PROVIDER_ENDING,
	    .control = p->control,
	    .mode = p->mode,
	    .buffer = p->buffer,
	    .source = source,
	    .pidfd = -1,
	    .buffer_fd = -1,
	    .end_ticks = ticks,
	    .wanted = p->wanted,
	};
	int r = fx_drain_init(&view.drain, &p->drain.layout, p->buffer, p->control);

	if (r == 0)
		r = fx_drain_inherit(&view.drain, &p->drain);
	if (r < 0) {
		fx_drain_destroy(&view.drain);
		return r;
	}
	memcpy(view.name, p->name, sizeof(view.name));
	*ret = view;
	return 0;
}

void fx_provider_view_release(struct fx_provider *view)
{
	fx_drain_destroy(&view->drain);
}
