/* SPDX-License-Identifier: MIT */
#include "manager/archive/writer-internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/atomic.h"
#include "manager/settings/functions.h"
#include "manager/settings/terms.h"
#include "manager/settings/wanted.h"
#include "manager/settings/worker.h"
#include "symbols/store.h"

/* Stack for what the demangler may need on top of its own use. */
#define STACK_SIZE (FX_SYMBOL_STACK + (4u << 20))

/* How long blocks may gather. */
#define LINGER_NS UINT64_C(20000000)

/* --- The thread ------------------------------------------------------------------------------- */

/* How long it may sleep when there is nothing to write. */
static uint64_t sleep_max(const struct fx_writer *w)
{
	uint64_t rest = fx_output_rest(w->output);

	if (w->parking.first && rest > FX_LOOK_NS)
		rest = FX_LOOK_NS;
	return rest < w->anchors.period ? rest : w->anchors.period;
}

/* The moment of CLOCK_MONOTONIC that is `ns` from now. */
static struct timespec deadline_in(uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	return t;
}

/* Waits for a block, and first lets some gather. NULL: there was none for a while. */
static struct fx_block *next_block(struct fx_writer *w)
{
	const struct timespec look = {.tv_nsec = FX_LOOK_NS};
	const uint64_t longest = sleep_max(w);
	struct timespec deadline;

	/* Nothing more comes: it waits for names alone. */
	if (fx_queue_is_over(&w->queue)) {
		nanosleep(&look, NULL);
		return NULL;
	}
	deadline = deadline_in(longest < LINGER_NS ? longest : LINGER_NS);
	fx_queue_linger(&w->queue, &deadline);
	deadline = deadline_in(sleep_max(w));
	return fx_queue_take(&w->queue, &deadline);
}

/* Writes what there is; then, before it sleeps, hands it to the system. */
static void write_next(struct fx_writer *w)
{
	const struct timespec at_once = {0, 0};
	struct fx_block *block = fx_queue_take(&w->queue, &at_once);

	if (!block) {
		fx_output_flush(w->output);
		fx_writer_report_error(w);
		block = next_block(w);
	}
	if (block)
		fx_writer_take(w, block);
	if (w->parking.first && fx_monotonic_ns() >= w->next_look)
		fx_writer_look_aside(w);
	fx_anchors_continue(&w->anchors);
}

/* Whether there were processes that did not tell what they did. */
static bool were_untraced(const struct fx_writer *w)
{
	const uint64_t *lost = w->totals.counts.lost;

	return w->excused_count || w->ties.early || w->ties.late || w->ties.refused ||
	       w->shared.untraced.count || w->shared.untraced.others || lost[FX_CAUSE_EARLY] ||
	       lost[FX_CAUSE_LIMITED] || lost[FX_CAUSE_UNFOLLOWED] || lost[FX_CAUSE_GIVEN_UP] ||
	       lost[FX_CAUSE_UNHELD] || lost[FX_CAUSE_INVALID];
}

/* Nothing more will be told of the processes that are missing. */
static void finish_ties(struct fx_writer *w)
{
	bool untraced;

	pthread_mutex_lock(&w->lock);
	untraced = were_untraced(w);
	while (w->excused_count)
		fx_ties_excuse(&w->ties, (uint32_t)w->excused[--w->excused_count]);
	pthread_mutex_unlock(&w->lock);
	fx_ties_finish(&w->ties);
	fx_transfers_finish(&w->transfers, untraced || were_untraced(w));
	w->totals.transfers = w->transfers.drawing.counts;
	fx_shares_finish(&w->shares, untraced || were_untraced(w));
	fx_file_locks_finish(&w->file_locks, untraced || were_untraced(w));
	w->totals.shares = w->shares.counts;
	fx_loss_add(&w->totals.counts.lost[FX_CAUSE_EARLY], w->ties.early);
	fx_loss_add(&w->totals.counts.lost[FX_CAUSE_LATE], w->ties.late);
	fx_loss_add(&w->totals.counts.lost[FX_CAUSE_UNHELD], w->ties.unheld);
}

static void *writer_main(void *opaque)
{
	struct fx_writer *w = opaque;

	fx_anchors_begin(&w->anchors);
	while (w->parking.first || !fx_queue_is_over(&w->queue))
		write_next(w);
	finish_ties(w);
	fx_clocks_read(&w->anchors.clocks, &w->shared.archive);
	w->totals.events = w->shared.archive.events;
	fx_output_complete(w->output);
	fx_writer_report_error(w);
	if (w->done_fd >= 0)
		eventfd_write(w->done_fd, 1);
	return NULL;
}

/* --- From outside ---------------------------------------------------------------------------- */

static void writer_free(struct fx_writer *w)
{
	pthread_mutex_destroy(&w->lock);
	fx_queue_destroy(&w->queue);
	fx_parking_destroy(&w->parking);
	fx_known_destroy(&w->shared.known);
	fx_builtin_names_destroy(&w->shared.builtin);
	fx_timebase_destroy(&w->shared.timebase);
	fx_symbol_cache_destroy(w->shared.symbols);
	free(w->shared.functions.text);
	fx_crowd_destroy(&w->shared.crowd);
	fx_flow_ids_clear(&w->shared.flow_ids);
	fx_loader_stop(w->loader);
	fx_ties_destroy(&w->ties);
	fx_transfers_destroy(&w->transfers);
	fx_kernel_tasks_destroy(&w->shared.kernel_tasks);
	fx_shares_destroy(&w->shares);
	fx_file_locks_destroy(&w->file_locks);
	fx_identities_destroy(&w->ids);
	free(w);
}

/* What depends on what calls lie in may not stand in the archive in the end. */
static bool wants_messages(const struct fx_writer_config *config)
{
	return fx_wanted_bits(config->session) & FX_CAT_MESSAGE &&
	       !fx_functions_nest(config->functions);
}

/* Whatever comes of it, all is there that writer_free() takes away. */
static int writer_init(struct fx_writer *w, const struct fx_writer_config *config)
{
	char folder[FX_STORE_PATH_MAX];
	int r = 0;

	w->output = config->output;
	w->path = config->path;
	w->done_fd = config->done_fd;
	for (unsigned i = 0; i < FX_CAUSES; i++)
		fx_loss_cure(i, config->cures_of, w->shared.cures[i]);
	w->session = config->session;
	if (fx_functions_choose(config->functions)) {
		w->shared.functions.text = strdup(config->functions);
		w->shared.functions.version = 1;
		r = w->shared.functions.text ? 0 : -ENOMEM;
	}
	fx_crowd_init(&w->shared.crowd, w->shared.functions.text);
	if (fx_functions_have_min(w->shared.functions.text)) {
		w->shared.has_min = true;
		w->shared.min_ns = config->cures_of ? config->cures_of->min_duration_ns : 0;
	}
	w->shared.pairs = config->pairs;
	w->shared.shallow = config->cures_of && fx_terms_max_depth(config->cures_of);
	if (config->cures_of && !w->shared.shallow)
		w->shared.max_levels = config->cures_of->max_depth;
	w->shared.last_ns = config->last_ns;
	w->shared.max_strings = config->max_strings ? config->max_strings : FX_DEFAULT_MAX_STRINGS;
	pthread_mutex_init(&w->lock, NULL);
	fx_identities_init(&w->ids);
	w->shared.ids = &w->ids;
	if (fx_queue_init(&w->queue, config->queue_limit) < 0)
		r = -ENOMEM;
	fx_parking_init(&w->parking, FX_PARKING_LIMIT);
	fx_transfers_init(&w->transfers, &w->shared.archive,
			  config->session && wants_messages(config));
	w->clock = config->clock;
	fx_timebase_init(&w->shared.timebase, config->clock->kind, config->first_anchor);
	if (r == 0)
		r = fx_symbol_cache_create(NULL, &w->shared.symbols);
	if (r == 0)
		fx_symbol_cache_limit(w->shared.symbols, config->max_symbols,
				      config->max_user_symbols);
	if (r == 0 && fx_functions_need_sources(w->shared.functions.text))
		fx_symbol_cache_want_sources(w->shared.symbols);
	if (r == 0 && config->lines)
		fx_symbol_cache_want_lines(w->shared.symbols);
	if (r == 0 && fx_store_folder(config->symbol_cache, folder))
		fx_symbol_cache_keep(w->shared.symbols, folder);
	if (r == 0 && fx_loader_start(&w->loader) == 0)
		fx_symbol_cache_load_apart(w->shared.symbols, w->loader);
	return r;
}

int fx_writer_start(const struct fx_writer_config *config, struct fx_writer **ret)
{
	struct fx_writer *w = calloc(1, sizeof(*w));
	int r = w ? writer_init(w, config) : -ENOMEM;

	if (r == 0)
		r = fx_output_begin(config->output);
	if (r == 0) {
		fx_archive_begin(&w->shared.archive, w->output);
		fx_anchors_init(&w->anchors, &w->shared.timebase, &w->shared.archive);
		fx_ties_init(&w->ties, &w->shared.archive);
		w->shared.ties = &w->ties;
		w->shared.transfers = &w->transfers;
		w->shares.arrows = &w->ties.arrows;
		w->shared.shares = &w->shares;
		w->file_locks.arrows = &w->ties.arrows;
		w->file_locks.counts = &w->shares.counts;
		w->shared.file_locks = &w->file_locks;
		r = fx_worker_start(&w->thread, STACK_SIZE, writer_main, w);
	}
	if (r < 0) {
		fx_output_close(config->output, NULL);
		if (w)
			writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

struct fx_queue *fx_writer_queue(struct fx_writer *w)
{
	return &w->queue;
}

struct fx_inlet *fx_writer_inlet(struct fx_writer *w, const struct fx_newcomer *who)
{
	struct fx_inlet *inlet = calloc(1, sizeof(*inlet));
	struct fx_block *block = fx_queue_block_kept(&w->queue, FX_BLOCK_BEGIN, inlet);
	struct fx_block_list list;

	if (!inlet || !block) {
		free(inlet);
		free(block);
		return NULL;
	}
	inlet->id = who->id;
	inlet->pid = (uint32_t)who->pid;
	inlet->exec = who->exec;
	inlet->is_kernel = who->is_kernel;
	inlet->born = who->born;
	inlet->parking = &w->parking;
	inlet->origin = fx_origin_share(who->origin);
	memcpy(inlet->name, who->name, strnlen(who->name, sizeof(inlet->name) - 1));
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(&w->queue, &list);
	return inlet;
}

int fx_writer_choose(struct fx_writer *w, const char *functions)
{
	struct fx_block *block = fx_queue_block_kept(&w->queue, FX_BLOCK_CHOICE, NULL);
	struct fx_block_list list;

	if (!block)
		return -ENOMEM;
	strcpy((char *)block->data, functions);
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(&w->queue, &list);
	return 0;
}

int fx_writer_flush(struct fx_writer *w)
{
	struct fx_block *block = fx_queue_block_kept(&w->queue, FX_BLOCK_FLUSH, NULL);
	struct fx_block_list list;

	if (!block)
		return -ENOMEM;
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(&w->queue, &list);
	w->flushes++;
	return 0;
}

bool fx_writer_flushed(const struct fx_writer *w)
{
	return fx_load_acquire(&w->flushed) == w->flushes;
}

char *fx_writer_suppressed(struct fx_writer *w)
{
	return fx_crowd_news(&w->shared.crowd);
}

int fx_writer_error(const struct fx_writer *w)
{
	return fx_load_relaxed(&w->error);
}

void fx_writer_hurry(struct fx_writer *w, bool hurry)
{
	fx_output_set_patience(w->output, hurry ? FX_OUTPUT_PATIENCE_NS : 0);
}

void fx_writer_close(struct fx_writer *w)
{
	fx_queue_close(&w->queue);
}

void fx_writer_excuse(struct fx_writer *w, pid_t pid)
{
	if (!w || !pid)
		return;
	pthread_mutex_lock(&w->lock);
	if (w->excused_count < FX_EXCUSED_MAX)
		w->excused[w->excused_count++] = pid;
	pthread_mutex_unlock(&w->lock);
}

int fx_writer_finish(struct fx_writer *w, struct fx_totals *ret_totals)
{
	struct fx_symbol_counters counters;
	int error;

	fx_writer_close(w);
	pthread_join(w->thread, NULL);
	error = fx_output_close(w->output, &w->totals.file_size);
	w->totals.untraced = w->shared.untraced;
	fx_kernel_tasks_count(&w->shared.kernel_tasks, &w->ids, &w->totals.kernel_processes,
			      &w->totals.kernel_threads);
	if (w->session && w->totals.processes)
		fx_known_unseen(&w->shared.known, w->session, w->totals.unseen,
				sizeof(w->totals.unseen));
	fx_symbol_cache_count(w->shared.symbols, &counters);
	w->totals.symbol_files = counters.loads;
	w->totals.kept_symbol_files = counters.stored_loads;
	w->totals.kept_symbols = counters.stored_symbols;
	w->totals.sourceless =
	    fx_functions_need_sources(w->shared.functions.text) && counters.sources == 0;
	fx_crowd_tell(&w->shared.crowd, w->totals.suppressed, sizeof(w->totals.suppressed));
	*ret_totals = w->totals;
	writer_free(w);
	return error;
}
