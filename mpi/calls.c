/* SPDX-License-Identifier: MIT */
/* Slices, and when this library does anything at all. */
#include "mpi/internal.h"

#include <string.h>

#pragma weak PMPI_Query_thread
#pragma weak PMPI_Type_size_x

TRACE_CATEGORY(FX_MPI_CATEGORY,
	       "calls of MPI: messages, with arrows to who gets them, and collectives");

bool fx_mpi_is_up;
bool fx_mpi_is_shared;

/* Calls in a row of this thread that asked and found nothing. */
static __thread uint64_t calls_in_vain;

static const struct fxtrace_events *calls_events(void)
{
	/* relaxed: settled before the program runs */
	return __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED);
}

/* --- Slices --------------------------------------------------------------------------------------- */

void fx_mpi_begin(struct fx_mpi_call *call, struct fx_mpi_site *site)
{
	memset(call, 0, offsetof(struct fx_mpi_call, args));
	memset(&call->site, 0,
	       offsetof(struct fx_mpi_call, comm_name) - offsetof(struct fx_mpi_call, site));
	call->site = site;
	call->scope.events = fxtrace_on(&site->opening, FX_MPI_CATEGORY);
	if (call->scope.events)
		fxtrace_scope_open(&call->scope, &site->opening, FX_MPI_CATEGORY, site->name,
				   call->args, 0);
}

void fx_mpi_end(struct fx_mpi_call *call)
{
	call->scope.place = &call->site->closing;
	fxtrace_scope_close(&call->scope);
}

void fx_mpi_ask(struct fx_mpi_call *call, struct fx_mpi_site *site)
{
	const struct fxtrace_events *events;

	memset(call, 0, offsetof(struct fx_mpi_call, args));
	memset(&call->site, 0,
	       offsetof(struct fx_mpi_call, comm_name) - offsetof(struct fx_mpi_call, site));
	call->site = site;
	events = fxtrace_on(&site->opening, FX_MPI_CATEGORY);
	call->begun = events ? events->ticks() : 0;
}

void fx_mpi_asked(struct fx_mpi_call *call, bool found)
{
	const struct fxtrace_events *events = fxtrace_on(&call->site->opening, FX_MPI_CATEGORY);
	struct fxtrace_past past = {.ticks = call->begun};

	if (!found) {
		calls_in_vain++;
		return;
	}
	fx_mpi_arg(call, "in vain before", TA_UINT64(calls_in_vain));
	calls_in_vain = 0;
	if (events && call->begun)
		events->write_past(&past, FXTRACE_DURATION_COMPLETE_EVENT, FX_MPI_CATEGORY,
				   call->site->name, events->ticks(), call->args,
				   call->scope.count);
}

/* The clock's steps may be longer than what lies between two readings of it; and what has the time of a slice's beginning
 * might lie before it. */
#define CALLS_INSIDE 4

uint64_t fx_mpi_ticks(const struct fx_mpi_call *call)
{
	const struct fxtrace_events *events = calls_events();
	uint64_t begun = call->scope.events && call->scope.frame ? call->scope.start : call->begun;
	uint64_t now = events->ticks();

	return now && now < begun + CALLS_INSIDE ? begun + CALLS_INSIDE : now;
}

uint64_t fx_mpi_bytes(MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = 0;

	if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

/* --- Arrows --------------------------------------------------------------------------------------- */

#define ARROW_NAME "message"

void fx_mpi_tell_sent(const struct fx_mpi_call *call, const struct fx_sending *sending, int dest,
		      int tag, uint64_t ticks)
{
	static struct fxtrace_place place;
	const struct fxtrace_events *events = fxtrace_on(&place, FX_MPI_CATEGORY);
	const struct fx_match *match = &call->comm->match;
	struct fxtrace_past past = {.ticks = ticks};

	if (events && ticks)
		events->write_past(
		    &past, FXTRACE_FLOW_BEGIN_EVENT, FX_MPI_CATEGORY, ARROW_NAME,
		    fx_match_arrow(match->id, match->rank, dest, tag, sending->number), NULL, 0);
}

void fx_mpi_tell_received(const struct fx_receive *receive, uint32_t number)
{
	static struct fxtrace_place place;
	const struct fxtrace_events *events = fxtrace_on(&place, FX_MPI_CATEGORY);
	const struct fx_match *match = receive->match;
	const struct fxtrace_past past = {.ticks = receive->when.ticks, .tid = receive->when.tid};
	const struct fxtrace_arg args[] = {
	    {"from", TA_INT32(receive->source)},
	    {"tag", TA_INT32(receive->tag)},
	    {"bytes", TA_UINT64(receive->bytes)},
	};

	if (!events || !past.ticks)
		return;
	/* An instant that the arrow ends at: else it would end at whatever call was over last on this thread. */
	events->write_past(&past, FXTRACE_INSTANT_EVENT, FX_MPI_CATEGORY, ARROW_NAME,
			   TRACE_SCOPE_THREAD, args, sizeof(args) / sizeof(args[0]));
	events->write_past(
	    &past, FXTRACE_FLOW_END_EVENT, FX_MPI_CATEGORY, ARROW_NAME,
	    fx_match_arrow(match->id, receive->source, match->rank, receive->tag, number), NULL, 0);
}

/* --- Beginning and end ---------------------------------------------------------------------------- */

unsigned char fx_mpi_is_ours;

#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
static bool calls_is_this_mpi(void)
{
	return (const void *)MPI_COMM_WORLD != NULL;
}
#else
#pragma weak PMPI_Init
extern char ompi_mpi_comm_world[] __attribute__((weak));
static bool calls_is_this_mpi(void)
{
	/* Compilers take it for granted that an array is somewhere. */
	char *volatile other = ompi_mpi_comm_world;

	return PMPI_Init && !other;
}
#endif

__attribute__((constructor)) static void calls_begin(void)
{
	fx_mpi_is_ours = calls_events() && calls_is_this_mpi();
}

void fx_mpi_init(struct fx_mpi_call *call)
{
	const struct fxtrace_events *events = calls_events();
	int level = MPI_THREAD_SINGLE;
	struct fx_mpi_comm *world;

	if (fx_mpi_is_up || !FXTRACE_HAS(events, write_past))
		return;
	PMPI_Query_thread(&level);
	fx_mpi_is_shared = level == MPI_THREAD_MULTIPLE;
	if (fx_mpi_is_shared)
		fx_mpi_lock_matters();
	fx_mpi_comms_begin();
	world = fx_mpi_comm_find(MPI_COMM_WORLD);
	if (!world)
		return;
	fx_mpi_arg(call, "rank", TA_INT32(world->match.rank));
	fx_mpi_arg(call, "ranks", TA_INT32(world->size));
	/* relaxed: other threads that call MPI begin later */
	__atomic_store_n(&fx_mpi_is_up, true, __ATOMIC_RELAXED);
}

void fx_mpi_finalize(struct fx_mpi_call *call)
{
	(void)call;
	/* relaxed: no other thread may call MPI any more */
	__atomic_store_n(&fx_mpi_is_up, false, __ATOMIC_RELAXED);
}
