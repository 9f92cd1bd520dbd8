/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/stepper.h"
#include "report/kinds.h"
#include "why/computing.h"
#include "why/words.h"

struct computing_call {
	uint8_t kind; /* enum fx_why_kind */
	uint32_t name, object;
};

struct computer {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	struct fx_why_path *path;
	const struct fx_why_ready *ready;
	uint32_t thread; /* the one at hand */
	FX_VECTOR(struct computing_call) open;
	uint64_t done;	/* what lies before has been given to somebody */
	uint32_t piece; /* the first that is not over: number + 1; 0: none */
};

static struct computer *computer_of(struct fx_exporter *exporter)
{
	return (struct computer *)exporter;
}

static struct fx_why_piece *computing_piece(const struct computer *computer)
{
	return computer->piece ? &computer->path->pieces.items[computer->piece - 1] : NULL;
}

/* The innermost call has had what lies between, as far as it is on the way. */
static void computing_give(struct computer *computer, uint64_t until)
{
	struct fx_why_tree *tree = &computer->path->tree;
	struct fx_why_what what = {.kind = FX_WHY_COMPUTING};
	const struct fx_why_piece *piece;

	if (computer->open.count > 0) {
		const struct computing_call *call = &computer->open.items[computer->open.count - 1];

		what.kind = call->kind;
		what.name = call->name;
		what.object = call->object;
	}
	while ((piece = computing_piece(computer)) && piece->begin < until) {
		uint64_t begin = piece->begin > computer->done ? piece->begin : computer->done;
		uint64_t end = piece->end < until ? piece->end : until;

		if (begin < end)
			fx_why_ready_add(computer->ready, tree, piece->node, &what,
					 computer->thread, begin, end);
		if (piece->end > until)
			break;
		computer->piece = piece->next;
	}
	if (until > computer->done)
		computer->done = until;
}

/* Whether any of the time from then on until then is on the way. */
static bool computing_wants(const struct computer *computer, uint64_t begin, uint64_t end)
{
	const struct fx_why_piece *piece = computing_piece(computer);

	while (piece && piece->end <= begin)
		piece = piece->next ? &computer->path->pieces.items[piece->next - 1] : NULL;
	return piece && piece->begin < end;
}

static void computing_name_call(struct computer *computer, const struct fx_event *event,
				struct computing_call *call)
{
	enum fx_call_kind kind = fx_call_kind_of(event->category->data);

	call->kind = FX_WHY_COMPUTING;
	call->name = event->name->serial;
	if (kind != FX_CALL_SYSCALL && kind != FX_CALL_STDIO)
		return;
	call->object = fx_why_words_file(computer->exporter.timeline, event);
	if (call->object)
		call->kind = FX_WHY_FILE;
	else if (kind == FX_CALL_SYSCALL)
		call->kind = FX_WHY_SYSTEM;
}

static void computing_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct computer *computer = computer_of(exporter);
	struct computing_call call = {0};

	computing_give(computer, event->ts);
	if (computing_wants(computer, event->ts, event->end))
		computing_name_call(computer, event, &call);
	if (fx_vector_reserve(&computer->open, 1) < 0)
		exporter->error = -ENOMEM;
	else
		computer->open.items[computer->open.count++] = call;
}

static void computing_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
				uint64_t ts)
{
	struct computer *computer = computer_of(exporter);

	(void)thread;
	computing_give(computer, ts);
	/* Empty only where memory has run out. */
	if (computer->open.count > 0)
		computer->open.count--;
}

static void computing_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	(void)exporter;
	(void)event;
}

static void computing_counter(struct fx_exporter *exporter, const struct fx_event *event,
			      uint64_t id)
{
	(void)exporter;
	(void)event;
	(void)id;
}

static void computing_log(struct fx_exporter *exporter, const struct fx_event *event,
			  const struct fxt_string *message)
{
	(void)exporter;
	(void)event;
	(void)message;
}

static const struct fx_exporter_ops computing_ops = {
    .slice_begin = computing_slice_begin,
    .slice_end = computing_slice_end,
    .instant = computing_instant,
    .counter = computing_counter,
    .log = computing_log,
};

static int computing_thread(struct computer *computer, struct fx_stepper *stepper,
			    struct fx_thread *thread)
{
	int r = fx_stepper_begin(stepper, thread, NULL);

	computer->open.count = 0;
	computer->done = 0;
	computer->thread = thread->number;
	computer->piece = computer->path->first[thread->number];
	while (r >= 0 && computer->piece && computer->exporter.error == 0 &&
	       (r = fx_stepper_next(stepper)) > 0)
		;
	/* Calls that did not finish last as long as there is something to give. */
	if (r >= 0)
		fx_stepper_end_slices(stepper);
	fx_stepper_end(stepper);
	computing_give(computer, UINT64_MAX);
	return r < 0 ? r : computer->exporter.error;
}

int fx_why_computing(struct fx_why_path *path, const struct fx_why_ready *ready,
		     struct fx_timeline *timeline, struct fx_flows *flows)
{
	struct computer computer = {
	    .exporter = {.ops = &computing_ops, .timeline = timeline},
	    .path = path,
	    .ready = ready,
	};
	struct fx_stepper *stepper = malloc(sizeof(*stepper));
	int r = fx_flows_seek(flows, 0, 0);

	if (!stepper)
		return -ENOMEM;
	memset(stepper, 0, sizeof(*stepper));
	stepper->exporter = &computer.exporter;
	stepper->flows = flows;
	for (size_t i = 0; i < timeline->threads.count && r == 0; i++) {
		if (path->first[i])
			r = computing_thread(&computer, stepper, timeline->threads.items[i]);
	}
	free(stepper);
	fx_vector_free(&computer.open);
	return r;
}
