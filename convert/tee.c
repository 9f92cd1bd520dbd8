/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/tee.h"

/* What both have to have. */
#define TEE_BOTH(exporter, op, ...)                                                                \
	do {                                                                                       \
		struct fx_tee *tee = (struct fx_tee *)(exporter);                                  \
                                                                                                   \
		tee->first->ops->op(tee->first, ##__VA_ARGS__);                                    \
		tee->second->ops->op(tee->second, ##__VA_ARGS__);                                  \
	} while (0)

/* What either may lack. */
#define TEE_EITHER(exporter, op, ...)                                                              \
	do {                                                                                       \
		struct fx_tee *tee = (struct fx_tee *)(exporter);                                  \
                                                                                                   \
		if (tee->first->ops->op)                                                           \
			tee->first->ops->op(tee->first, ##__VA_ARGS__);                            \
		if (tee->second->ops->op)                                                          \
			tee->second->ops->op(tee->second, ##__VA_ARGS__);                          \
	} while (0)

static void tee_begin(struct fx_exporter *exporter)
{
	TEE_BOTH(exporter, begin);
}

static void tee_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	TEE_BOTH(exporter, process, process);
}

static void tee_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	TEE_BOTH(exporter, thread, thread);
}

static void tee_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	TEE_EITHER(exporter, enter_thread, thread);
}

static void tee_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	TEE_BOTH(exporter, slice_begin, event);
}

static void tee_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread, uint64_t ts)
{
	TEE_EITHER(exporter, slice_end, thread, ts);
}

static void tee_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	TEE_BOTH(exporter, instant, event);
}

static void tee_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	TEE_BOTH(exporter, counter, event, id);
}

static void tee_log(struct fx_exporter *exporter, const struct fx_event *event,
		    const struct fxt_string *message)
{
	TEE_BOTH(exporter, log, event, message);
}

static void tee_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	TEE_BOTH(exporter, note, note);
}

/* Of what only one has a place for, the other leaves something out. */
static void tee_count_misfit(struct fx_exporter *exporter)
{
	exporter->timeline->misfits[FX_MISFIT_OTHER_FORMAT]++;
}

static void tee_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	TEE_EITHER(exporter, sched_switch, sched);
	if (!((struct fx_tee *)exporter)->second->ops->sched_switch)
		tee_count_misfit(exporter);
}

static void tee_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	TEE_EITHER(exporter, sched_wakeup, wakeup);
	if (!((struct fx_tee *)exporter)->second->ops->sched_wakeup)
		tee_count_misfit(exporter);
}

static void tee_finish(struct fx_exporter *exporter)
{
	struct fx_tee *tee = (struct fx_tee *)exporter;

	tee->first->ops->finish(tee->first);
	if (tee->between)
		tee->between(tee->opaque);
	tee->second->ops->finish(tee->second);
}

/* Asynchronous operations and packets of another format are nobody's. */
static const struct fx_exporter_ops tee_ops = {
    .begin = tee_begin,
    .process = tee_process,
    .thread = tee_thread,
    .enter_thread = tee_enter_thread,
    .slice_begin = tee_slice_begin,
    .slice_end = tee_slice_end,
    .instant = tee_instant,
    .counter = tee_counter,
    .log = tee_log,
    .note = tee_note,
    .sched_switch = tee_switch,
    .sched_wakeup = tee_wakeup,
    .finish = tee_finish,
};

void fx_tee_init(struct fx_tee *tee, struct fx_exporter *first, struct fx_exporter *second)
{
	*tee = (struct fx_tee){
	    .exporter = {.ops = &tee_ops, .timeline = first->timeline},
	    .first = first,
	    .second = second,
	};
}
