/* SPDX-License-Identifier: MIT */
/* Requests, from what began them to the call that finds them over; and messages that were found and not received yet. */
#include "mpi/internal.h"

#include <string.h>

#pragma weak PMPI_Error_class
#ifdef OPEN_MPI
#pragma weak ompi_request_null
#pragma weak ompi_message_null
#pragma weak ompi_message_no_proc
#endif

/* What is known of a handle. */
struct fx_mpi_request {
	struct fx_receive *receive; /* that is under way; NULL: none */
	uint64_t channel;	    /* of what it sends; 0: nothing */
	/* Of one that is made once and started again and again: */
	bool is_persistent, receives;
	struct fx_mpi_comm *comm;
	int peer, tag;
};

static struct fx_numbered requests_table, requests_found; /* found: messages */
static struct fx_pool requests_pool = {.size = sizeof(struct fx_mpi_request)};

/* Nobody will say when it is over. */
static void requests_forget(struct fx_receive *receive)
{
	struct fx_match *match = receive->match;

	fx_match_forget(receive);
	fx_mpi_comm_release(match);
}

/* A new one in the place of one that has been over long since. NULL: no memory. Locked. */
static struct fx_mpi_request *requests_add(MPI_Request handle)
{
	struct fx_mpi_request *request;

	if (handle == MPI_REQUEST_NULL)
		return NULL;
	request = fx_numbered_take(&requests_table, FX_MPI_HANDLE(handle));
	if (request) {
		if (request->receive)
			requests_forget(request->receive);
		memset(request, 0, sizeof(*request));
	} else {
		request = fx_pool_take(&requests_pool);
	}
	if (!request || fx_numbered_put(&requests_table, FX_MPI_HANDLE(handle), request))
		return request;
	fx_pool_give(&requests_pool, request);
	return NULL;
}

static struct fx_mpi_request *requests_find(MPI_Request handle)
{
	return fx_numbered_find(&requests_table, FX_MPI_HANDLE(handle));
}

static void requests_drop(MPI_Request handle)
{
	struct fx_mpi_request *request = fx_numbered_take(&requests_table, FX_MPI_HANDLE(handle));

	if (request)
		fx_pool_give(&requests_pool, request);
}

void fx_mpi_request_receives(MPI_Request handle, struct fx_receive *receive)
{
	struct fx_mpi_request *request = requests_add(handle);

	if (request)
		request->receive = receive;
	else
		requests_forget(receive);
}

void fx_mpi_isent(struct fx_mpi_call *call, int r, MPI_Request handle)
{
	struct fx_mpi_request *request;

	if (r != MPI_SUCCESS || !call->sending.channel)
		return;
	fx_mpi_lock();
	request = requests_add(handle);
	if (request)
		request->channel = call->sending.channel;
	fx_mpi_unlock();
}

/* --- Persistent ones ---------------------------------------------------------------------------------- */

static void requests_init(struct fx_mpi_call *call, MPI_Comm comm, int peer, int tag, int r,
			  MPI_Request handle, bool receives)
{
	struct fx_mpi_request *request;

	fx_mpi_about(call, comm);
	if (call->scope.events) {
		fx_mpi_arg(call, receives ? "from" : "to",
			   receives ? fx_mpi_or_any(peer, MPI_ANY_SOURCE) : TA_INT32(peer));
		fx_mpi_arg(call, "tag", receives ? fx_mpi_or_any(tag, MPI_ANY_TAG) : TA_INT32(tag));
	}
	if (r != MPI_SUCCESS || !call->comm || peer == MPI_PROC_NULL)
		return;
	fx_mpi_lock();
	request = requests_add(handle);
	if (request) {
		request->is_persistent = true;
		request->receives = receives;
		request->comm = call->comm;
		call->comm->is_kept = true;
		request->peer = receives ? fx_mpi_asked_source(peer) : peer;
		request->tag = receives ? fx_mpi_asked_tag(tag) : tag;
	}
	fx_mpi_unlock();
}

void fx_mpi_send_init(struct fx_mpi_call *call, MPI_Comm comm, int dest, int tag, int r,
		      MPI_Request request)
{
	requests_init(call, comm, dest, tag, r, request, false);
}

void fx_mpi_recv_init(struct fx_mpi_call *call, MPI_Comm comm, int source, int tag, int r,
		      MPI_Request request)
{
	requests_init(call, comm, source, tag, r, request, true);
}

void fx_mpi_start(struct fx_mpi_call *call, int count, const MPI_Request *requests)
{
	if (call->scope.events)
		fx_mpi_arg(call, "requests", TA_INT32(count));
	for (int i = 0; i < count; i++) {
		struct fx_sending sending = {0};
		struct fx_mpi_request *request;

		fx_mpi_lock();
		request = requests_find(requests[i]);
		if (!request || !request->is_persistent) {
			fx_mpi_unlock();
			continue;
		}
		call->comm = request->comm;
		if (request->receives) {
			request->receive = fx_match_post(&request->comm->match, request->peer,
							 request->tag, fx_mpi_tid());
		} else {
			fx_match_send(&request->comm->match, request->peer, request->tag, false,
				      &sending);
			request->channel = sending.channel;
		}
		call->dest = request->peer;
		call->tag = request->tag;
		fx_mpi_unlock();
		if (sending.has_number)
			fx_mpi_tell_sent(call, &sending, call->dest, call->tag, fx_mpi_ticks(call));
	}
}

void fx_mpi_started(struct fx_mpi_call *call, int r, int count, const MPI_Request *requests)
{
	(void)call, (void)r;
	fx_mpi_lock();
	for (int i = 0; i < count; i++) {
		struct fx_mpi_request *request = requests_find(requests[i]);

		if (request && request->receive)
			fx_match_posted(request->receive);
	}
	fx_mpi_unlock();
}

/* --- What is over ------------------------------------------------------------------------------------- */

/* What is known of a request goes on without being in the table. */
static void requests_borrow(struct fx_mpi_many *many)
{
	fx_mpi_lock();
	for (int i = 0; i < many->count; i++)
		many->known[i] =
		    fx_numbered_take(&requests_table, FX_MPI_HANDLE(many->requests[i]));
	fx_mpi_unlock();
}

void fx_mpi_many_take(struct fx_mpi_many *many, int count, const MPI_Request *requests,
		      MPI_Status *statuses)
{
	size_t n = count > 0 ? (size_t)count : 0;

	many->count = (int)n;
	many->pages = NULL;
	many->requests = many->few_requests;
	many->statuses = many->few_statuses;
	many->known = many->few_known;
	if (n > FX_MPI_FEW) {
		many->size =
		    n * (sizeof(*many->known) + sizeof(*many->requests) + sizeof(*many->statuses));
		many->pages = fx_mpi_map(many->size);
		many->known = many->pages;
		many->requests = many->known ? (MPI_Request *)(void *)(many->known + n) : NULL;
		many->statuses = many->known ? (MPI_Status *)(void *)(many->requests + n) : NULL;
	}
	if (statuses != MPI_STATUSES_IGNORE && statuses != MPI_STATUS_IGNORE)
		many->statuses = statuses;
	if (!many->requests)
		return;
	memcpy(many->requests, requests, n * sizeof(*requests));
	if (fx_mpi_is_shared)
		requests_borrow(many);
}

void fx_mpi_many_give(struct fx_mpi_many *many)
{
	if (fx_mpi_is_shared && many->requests) {
		fx_mpi_lock();
		for (int i = 0; i < many->count; i++) {
			if (many->known[i] &&
			    !fx_numbered_put(&requests_table, FX_MPI_HANDLE(many->requests[i]),
					     many->known[i]) &&
			    many->known[i]->receive)
				requests_forget(many->known[i]->receive);
		}
		fx_mpi_unlock();
	}
	if (many->pages)
		fx_mpi_unmap(many->pages, many->size);
}

/* Of several that failed the status says which did. */
static int requests_result(int r, const MPI_Status *status)
{
	int class = r;

	if (r != MPI_SUCCESS)
		PMPI_Error_class(r, &class);
	return class == MPI_ERR_IN_STATUS ? status->MPI_ERROR : r;
}

static void requests_over(struct fx_mpi_call *call, struct fx_mpi_many *many, int at, int r,
			  const MPI_Status *status)
{
	MPI_Request handle = many->requests[at];
	struct fx_mpi_request *request = fx_mpi_is_shared ? many->known[at] : requests_find(handle);

	if (!request)
		return;
	r = requests_result(r, status);
	if (r == MPI_ERR_PENDING)
		return;
	if (request->receive)
		fx_mpi_receive_over(call, request->receive, r, status);
	request->receive = NULL;
	request->channel = 0;
	if (request->is_persistent)
		return;
	if (fx_mpi_is_shared) {
		many->known[at] = NULL;
		fx_pool_give(&requests_pool, request);
	} else {
		requests_drop(handle);
	}
}

void fx_mpi_over(struct fx_mpi_call *call, int r, struct fx_mpi_many *many, const int *at,
		 const MPI_Status *statuses, int over)
{
	fx_mpi_lock();
	for (int i = 0; i < over && many->requests; i++) {
		int which = at ? at[i] : i;

		if (which >= 0 && which < many->count)
			requests_over(call, many, which, r, &statuses[i]);
	}
	fx_mpi_unlock();
	if (!call->scope.events && !call->begun)
		return;
	fx_mpi_arg(call, "requests", TA_INT32(many->count));
	fx_mpi_arg(call, "over", TA_INT32(over));
	fx_mpi_arg(call, "received", TA_UINT64(call->received));
	fx_mpi_arg(call, "bytes", TA_UINT64(call->received_bytes));
}

void fx_mpi_cancel(struct fx_mpi_call *call, MPI_Request handle)
{
	struct fx_mpi_request *request;

	(void)call;
	fx_mpi_lock();
	request = requests_find(handle);
	if (request && request->receive)
		fx_match_cancelling(request->receive);
	else if (request && request->channel)
		fx_match_unsend(request->channel);
	fx_mpi_unlock();
}

void fx_mpi_free(struct fx_mpi_call *call, MPI_Request handle)
{
	struct fx_mpi_request *request;

	(void)call;
	fx_mpi_lock();
	request = requests_find(handle);
	if (request && request->receive)
		requests_forget(request->receive);
	requests_drop(handle);
	fx_mpi_unlock();
}

/* --- Messages that were found --------------------------------------------------------------------------- */

void fx_mpi_mprobed(struct fx_mpi_call *call, int r, MPI_Message message, const MPI_Status *status)
{
	fx_mpi_probed(call, r, status);
	if (!call->receive)
		return;
	fx_mpi_lock();
	if (r != MPI_SUCCESS || message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC) {
		fx_match_none(call->receive, fx_mpi_tell_received);
	} else {
		fx_match_found(call->receive, status->MPI_SOURCE, status->MPI_TAG,
			       fx_mpi_tell_received);
		if (!fx_numbered_put(&requests_found, FX_MPI_HANDLE(message), call->receive))
			requests_forget(call->receive);
	}
	fx_mpi_unlock();
}

void fx_mpi_mreceive(struct fx_mpi_call *call, MPI_Message message)
{
	fx_mpi_lock();
	call->receive = fx_numbered_take(&requests_found, FX_MPI_HANDLE(message));
	fx_mpi_unlock();
}
