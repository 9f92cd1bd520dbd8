/* SPDX-License-Identifier: MIT */
/* What the hooks share. Where the lock is held, the name says so. */
#ifndef FX_MPI_INTERNAL_H
#define FX_MPI_INTERNAL_H

#include "mpi/hooks.h"

#include "mpi/memory.h"

#define FX_MPI_CATEGORY "mpi"

/* Several threads may call MPI at the same time. */
extern bool fx_mpi_is_shared;

/* Handles are pointers, or ints. */
#define FX_MPI_HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

static inline void fx_mpi_arg(struct fx_mpi_call *call, const char *key, struct fxtrace_value value)
{
	struct fxtrace_arg *arg = &call->args[call->scope.count++];

	arg->key = key;
	arg->value = value;
}

/* A source or tag of a receive, which may be any. */
static inline struct fxtrace_value fx_mpi_or_any(int number, int any)
{
	return number == any ? TA_STRING_LITERAL("any") : TA_INT32(number);
}

static inline int fx_mpi_asked_source(int source)
{
	return source == MPI_ANY_SOURCE ? FX_MATCH_ANY : source;
}

static inline int fx_mpi_asked_tag(int tag)
{
	return tag == MPI_ANY_TAG ? FX_MATCH_ANY : tag;
}

/* The call is about this communicator: its first argument. */
void fx_mpi_about(struct fx_mpi_call *call, MPI_Comm comm);

/* The calling thread's number. */
uint64_t fx_mpi_tid(void);

/* What ends of messages are written by: now. Not before the call's own beginning. */
uint64_t fx_mpi_ticks(const struct fx_mpi_call *call);

/* The beginning of a message's arrow, which lies in the call's slice. */
void fx_mpi_tell_sent(const struct fx_mpi_call *call, const struct fx_sending *sending, int dest,
		      int tag, uint64_t ticks);

/* Its end. Locked. */
void fx_mpi_tell_received(const struct fx_receive *receive, uint32_t number);

/* A receive has ended with this status, or failed. Locked. */
void fx_mpi_receive_over(struct fx_mpi_call *call, struct fx_receive *receive, int r,
			 const MPI_Status *status);

/* Communicators that are there from the beginning; all are forgotten. */
void fx_mpi_comms_begin(void);
struct fx_mpi_comm *fx_mpi_comm_find(MPI_Comm comm);
/* One that is gone goes, once no receive of it is left. Locked. */
void fx_mpi_comm_release(struct fx_match *match);

/* A request that is under way. Locked. */
void fx_mpi_request_receives(MPI_Request request, struct fx_receive *receive);

#endif
