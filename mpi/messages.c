/* SPDX-License-Identifier: MIT */
/* Sends and receives: their numbers, and what is shown of them. */
#include "mpi/internal.h"

#include "base/syscall.h"

#pragma weak PMPI_Error_class
#pragma weak PMPI_Get_elements_x
#pragma weak PMPI_Test_cancelled
#ifdef OPEN_MPI
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_comm_null
#endif

static uint64_t messages_bytes(const MPI_Status *status)
{
	MPI_Count count = 0;

	return PMPI_Get_elements_x(status, MPI_BYTE, &count) == MPI_SUCCESS && count > 0
		   ? (uint64_t)count
		   : 0;
}

uint64_t fx_mpi_tid(void)
{
	static __thread uint64_t tid;

	if (!tid)
		tid = (uint64_t)fx_gettid();
	return tid;
}

/* --- Sends ------------------------------------------------------------------------------------------ */

/* Without the arguments. Other threads may send meanwhile: then it is known when the call is over whether the number is right. */
static void messages_send(struct fx_mpi_call *call, int dest, int tag, bool is_shared)
{
	call->dest = dest;
	call->tag = tag;
	if (!call->comm || dest == MPI_PROC_NULL)
		return;
	fx_mpi_lock();
	fx_match_send(&call->comm->match, dest, tag, is_shared, &call->sending);
	fx_mpi_unlock();
	if (!call->sending.has_number)
		return;
	call->sent_at = fx_mpi_ticks(call);
	if (!is_shared)
		fx_mpi_tell_sent(call, &call->sending, dest, tag, call->sent_at);
}

static void messages_sent(struct fx_mpi_call *call, bool is_shared, bool failed)
{
	if (!call->sending.channel)
		return;
	fx_mpi_lock();
	fx_match_sent(&call->comm->match, &call->sending, is_shared, failed);
	fx_mpi_unlock();
	if (is_shared && !failed && call->sending.has_number && !call->sending.is_unsure)
		fx_mpi_tell_sent(call, &call->sending, call->dest, call->tag, call->sent_at);
}

void fx_mpi_send(struct fx_mpi_call *call, MPI_Comm comm, int dest, int tag)
{
	fx_mpi_about(call, comm);
	messages_send(call, dest, tag, fx_mpi_is_shared);
}

static void messages_show_sent(struct fx_mpi_call *call, int dest, int tag, uint64_t bytes)
{
	if (!call->scope.events)
		return;
	fx_mpi_arg(call, "to", TA_INT32(dest));
	fx_mpi_arg(call, "tag", TA_INT32(tag));
	fx_mpi_arg(call, "bytes", TA_UINT64(bytes));
}

void fx_mpi_sent(struct fx_mpi_call *call, int r, uint64_t bytes)
{
	messages_sent(call, fx_mpi_is_shared, r != MPI_SUCCESS);
	/* of both at once fx_mpi_sendrecv() tells */
	if (!call->receive)
		messages_show_sent(call, call->dest, call->tag, bytes);
}

/* --- Receives --------------------------------------------------------------------------------------- */

static void messages_receive(struct fx_mpi_call *call, int source, int tag)
{
	if (!call->comm || source == MPI_PROC_NULL)
		return;
	fx_mpi_lock();
	call->receive = fx_match_post(&call->comm->match, fx_mpi_asked_source(source),
				      fx_mpi_asked_tag(tag), fx_mpi_tid());
	fx_mpi_unlock();
}

void fx_mpi_receive(struct fx_mpi_call *call, MPI_Comm comm, int source, int tag)
{
	if (!call->comm)
		fx_mpi_about(call, comm);
	messages_receive(call, source, tag);
}

void fx_mpi_receive_over(struct fx_mpi_call *call, struct fx_receive *receive, int r,
			 const MPI_Status *status)
{
	struct fx_match *match = receive->match;
	int cancelled = 0, class = r;

	/* One that is too long is taken, as far as there is room. */
	if (r != MPI_SUCCESS && PMPI_Error_class(r, &class) == MPI_SUCCESS &&
	    class == MPI_ERR_TRUNCATE)
		r = MPI_SUCCESS;
	if (r == MPI_SUCCESS && receive->is_cancelling)
		PMPI_Test_cancelled(status, &cancelled);
	if (r != MPI_SUCCESS || cancelled) {
		fx_match_none(receive, fx_mpi_tell_received);
	} else {
		uint64_t bytes = messages_bytes(status);
		struct fx_match_when when = {.ticks = fx_mpi_ticks(call), .tid = fx_mpi_tid()};

		call->received++;
		call->received_bytes += bytes;
		fx_match_over(receive, status->MPI_SOURCE, status->MPI_TAG, bytes, when,
			      fx_mpi_tell_received);
	}
	fx_mpi_comm_release(match);
}

static void messages_show_received(struct fx_mpi_call *call, const MPI_Status *status)
{
	if (!call->scope.events && !call->begun)
		return;
	fx_mpi_arg(call, "from", TA_INT32(status->MPI_SOURCE));
	fx_mpi_arg(call, "tag", TA_INT32(status->MPI_TAG));
	fx_mpi_arg(call, "bytes", TA_UINT64(messages_bytes(status)));
}

void fx_mpi_received(struct fx_mpi_call *call, int r, const MPI_Status *status)
{
	if (call->receive) {
		fx_mpi_lock();
		fx_mpi_receive_over(call, call->receive, r, status);
		fx_mpi_unlock();
	}
	if (r == MPI_SUCCESS && !call->sending.channel)
		messages_show_received(call, status);
}

void fx_mpi_ireceived(struct fx_mpi_call *call, int r, MPI_Request request)
{
	struct fx_receive *receive = call->receive;

	if (!receive)
		return;
	fx_mpi_lock();
	if (r != MPI_SUCCESS) {
		struct fx_match *match = receive->match;

		fx_match_none(receive, fx_mpi_tell_received);
		fx_mpi_comm_release(match);
	} else {
		fx_match_posted(receive);
		fx_mpi_request_receives(request, receive);
	}
	fx_mpi_unlock();
}

void fx_mpi_sendrecv(struct fx_mpi_call *call, int dest, int sendtag, int source, int recvtag,
		     uint64_t bytes)
{
	if (!call->scope.events)
		return;
	call->scope.count = 1; /* the communicator */
	fx_mpi_arg(call, "to", TA_INT32(dest));
	fx_mpi_arg(call, "tag", TA_INT32(sendtag));
	fx_mpi_arg(call, "bytes", TA_UINT64(bytes));
	fx_mpi_arg(call, "from", fx_mpi_or_any(source, MPI_ANY_SOURCE));
	fx_mpi_arg(call, "tag of it", fx_mpi_or_any(recvtag, MPI_ANY_TAG));
	fx_mpi_arg(call, "bytes of it", TA_UINT64(call->received_bytes));
}

/* --- Probes ----------------------------------------------------------------------------------------- */

void fx_mpi_probe(struct fx_mpi_call *call, MPI_Comm comm)
{
	fx_mpi_about(call, comm);
}

void fx_mpi_probed(struct fx_mpi_call *call, int r, const MPI_Status *status)
{
	if (r == MPI_SUCCESS)
		messages_show_received(call, status);
}
