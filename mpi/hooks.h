/* SPDX-License-Identifier: MIT */
/*
 * What the wrappers of MPI's calls do around them (wrappers.c, made of calls.tbl): a slice of category `mpi' with what the call is
 * about; the ends of arrows from sends to receives (match.h). All functions take the call first.
 *
 * Nothing is said to other processes: what the ends of a message have in common, each computes by itself. So a traced
 * rank and one that is not get along. Ranks count from MPI_Init() on, whether tracing runs or not, so that it may begin later.
 */
#ifndef FX_MPI_HOOKS_H
#define FX_MPI_HOOKS_H

#include <mpi.h>

#include <fxtrace/event.h>

#include "mpi/match.h"

#define FX_MPI_ARGS 8

/* A wrapper's own: what its events are called. */
struct fx_mpi_site {
	struct fxtrace_place opening;
	struct fxtrace_place
	    closing; /* never known: which arguments there are depends on the call */
	const char *name;
};

/* A communicator's name, or else its number. */
#define FX_MPI_NAME_MAX 40

struct fx_mpi_comm {
	struct fx_match match; /* id and rank of it */
	int size;
	uint32_t collectives; /* so many were called */
	uint32_t groups;      /* communicators that some of its ranks made */
	char name[FX_MPI_NAME_MAX];
	bool is_gone; /* freed, but not all its receives are over */
	bool is_kept; /* persistent requests may know it */
};

/* A call that goes on, on the wrapper's stack. */
struct fx_mpi_call {
	struct fxtrace_scope scope;
	struct fxtrace_arg args[FX_MPI_ARGS];
	struct fx_mpi_site *site;
	uint64_t begun;		  /* of calls that are recorded once they are over */
	struct fx_mpi_comm *comm; /* NULL: none that is known */
	struct fx_sending sending;
	int dest, tag;
	uint64_t sent_at; /* ticks */
	struct fx_receive *receive;
	uint64_t requests, received, received_bytes, polls;
	char comm_name[FX_MPI_NAME_MAX];
};

/*
 * The requests of a call. Where other threads call too, what is known of them is taken away before, for a handle that is over may
 * be another thread's new one when the call returns; and what goes on is put back.
 */
#define FX_MPI_FEW 32

struct fx_mpi_request;

struct fx_mpi_many {
	MPI_Request few_requests[FX_MPI_FEW];
	MPI_Status few_statuses[FX_MPI_FEW];
	struct fx_mpi_request *few_known[FX_MPI_FEW];
	int count;
	MPI_Request *requests; /* as they were; NULL: no memory, and the call is not looked at */
	struct fx_mpi_request **known;
	MPI_Status *statuses; /* what the call writes: the program's or ours */
	void *pages;	      /* if there are more; NULL: none */
	size_t size;	      /* of them */
};

/* There is a tracer, and this library is for the MPI that is there: settled before the program runs. */
extern unsigned char fx_mpi_is_ours;

/* That, between MPI_Init() and MPI_Finalize(). */
extern bool fx_mpi_is_up;

FXTRACE_INLINE bool fx_mpi_is_on(void)
{
	/* relaxed: by the thread that has called MPI_Init(), before others call MPI */
	return __atomic_load_n(&fx_mpi_is_up, __ATOMIC_RELAXED);
}

/* --- Every call ------------------------------------------------------------------------------------- */

void fx_mpi_begin(struct fx_mpi_call *call, struct fx_mpi_site *site);
void fx_mpi_end(struct fx_mpi_call *call);

/* The same of calls that ask, again and again as a rule: one that finds nothing is only counted. */
void fx_mpi_ask(struct fx_mpi_call *call, struct fx_mpi_site *site);
void fx_mpi_asked(struct fx_mpi_call *call, bool found);

/* So many bytes; of success alone, for else the type may be none. */
uint64_t fx_mpi_bytes(MPI_Count count, MPI_Datatype type);

/* --- MPI itself --------------------------------------------------------------------------------------- */

void fx_mpi_init(struct fx_mpi_call *call);
void fx_mpi_finalize(struct fx_mpi_call *call);

/* --- Messages ----------------------------------------------------------------------------------------- */

void fx_mpi_send(struct fx_mpi_call *call, MPI_Comm comm, int dest, int tag);
void fx_mpi_sent(struct fx_mpi_call *call, int r, uint64_t bytes);
/* and in the end, if the request goes on: */
void fx_mpi_isent(struct fx_mpi_call *call, int r, MPI_Request request);

void fx_mpi_receive(struct fx_mpi_call *call, MPI_Comm comm, int source, int tag);
void fx_mpi_received(struct fx_mpi_call *call, int r, const MPI_Status *status);
void fx_mpi_ireceived(struct fx_mpi_call *call, int r, MPI_Request request);

/* Both at once: instead of the arguments of either. */
void fx_mpi_sendrecv(struct fx_mpi_call *call, int dest, int sendtag, int source, int recvtag,
		     uint64_t bytes);

void fx_mpi_send_init(struct fx_mpi_call *call, MPI_Comm comm, int dest, int tag, int r,
		      MPI_Request request);
void fx_mpi_recv_init(struct fx_mpi_call *call, MPI_Comm comm, int source, int tag, int r,
		      MPI_Request request);
void fx_mpi_start(struct fx_mpi_call *call, int count, const MPI_Request *requests);
void fx_mpi_started(struct fx_mpi_call *call, int r, int count, const MPI_Request *requests);

void fx_mpi_probe(struct fx_mpi_call *call, MPI_Comm comm);
void fx_mpi_probed(struct fx_mpi_call *call, int r, const MPI_Status *status);
/* A message that was found belongs to the handle. */
void fx_mpi_mprobed(struct fx_mpi_call *call, int r, MPI_Message message, const MPI_Status *status);
/* It will be received; then it goes on as the call's receive. */
void fx_mpi_mreceive(struct fx_mpi_call *call, MPI_Message message);

/* --- Requests ----------------------------------------------------------------------------------------- */

void fx_mpi_many_take(struct fx_mpi_many *many, int count, const MPI_Request *requests,
		      MPI_Status *statuses);
void fx_mpi_many_give(struct fx_mpi_many *many);

/* Requests `at` (NULL: all, in order) are over, with these statuses. */
void fx_mpi_over(struct fx_mpi_call *call, int r, struct fx_mpi_many *many, const int *at,
		 const MPI_Status *statuses, int over);
void fx_mpi_cancel(struct fx_mpi_call *call, MPI_Request request);
void fx_mpi_free(struct fx_mpi_call *call, MPI_Request request);

/* --- Communicators and collectives -------------------------------------------------------------------- */

#define FX_MPI_NO_ROOT (-1)

void fx_mpi_collective(struct fx_mpi_call *call, MPI_Comm comm, int root);
void fx_mpi_collected(struct fx_mpi_call *call, uint64_t bytes);
void fx_mpi_comm_made(struct fx_mpi_call *call, MPI_Comm comm, int r, MPI_Comm made);
void fx_mpi_comm_made_later(struct fx_mpi_call *call, MPI_Comm comm, int r, MPI_Comm made);
void fx_mpi_comm_made_of_group(struct fx_mpi_call *call, MPI_Comm comm, int tag, int r,
			       MPI_Comm made);
void fx_mpi_comm_free(struct fx_mpi_call *call, MPI_Comm comm);
void fx_mpi_comm_name(struct fx_mpi_call *call, MPI_Comm comm, const char *name);

#endif
