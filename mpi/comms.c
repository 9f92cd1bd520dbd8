/* SPDX-License-Identifier: MIT */
/*
 * Communicators. Its id is common to all ranks of one, and computed by each alone: of the communicator that it was made of, the how
 * manieth of the calls that all ranks of that one make in the same order, and where its first rank is there, which tells
 * those apart that one call makes.
 */
#include "mpi/internal.h"

#include <stdlib.h>
#include <string.h>

#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Comm_group
#pragma weak PMPI_Group_free
#pragma weak PMPI_Group_translate_ranks
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_null
#endif

static struct fx_numbered comms_table;
static struct fx_pool comms_pool = {.size = sizeof(struct fx_mpi_comm)};

struct fx_mpi_comm *fx_mpi_comm_find(MPI_Comm comm)
{
	struct fx_mpi_comm *found;

	fx_mpi_lock();
	found = fx_numbered_find(&comms_table, FX_MPI_HANDLE(comm));
	fx_mpi_unlock();
	return found;
}

static void comms_set_name(struct fx_mpi_comm *comm, const char *name)
{
	size_t length = strnlen(name, sizeof(comm->name) - 1);

	memcpy(comm->name, name, length);
	comm->name[length] = 0;
}

static void comms_add(MPI_Comm handle, uint64_t id, const char *name)
{
	struct fx_mpi_comm *comm;
	int rank, size;

	if (PMPI_Comm_rank(handle, &rank) != MPI_SUCCESS ||
	    PMPI_Comm_size(handle, &size) != MPI_SUCCESS)
		return;
	fx_mpi_lock();
	comm = fx_pool_take(&comms_pool);
	if (comm) {
		fx_match_init(&comm->match, id, rank);
		comm->size = size;
		comms_set_name(comm, name);
		fx_numbered_put(&comms_table, FX_MPI_HANDLE(handle), comm);
	}
	fx_mpi_unlock();
}

/* --- Ids -------------------------------------------------------------------------------------------- */

/* What a job's ranks have in common, as what starts them says. */
static const char *const comms_job[] = {
    "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT",
    "PBS_JOBID",      "LSB_JOBID",    "PALS_APID",
};

static uint64_t comms_job_id(void)
{
	uint64_t id = 1;

	for (size_t i = 0; i < sizeof(comms_job) / sizeof(comms_job[0]); i++) {
		const char *value = getenv(comms_job[i]);

		for (; value && *value; value++)
			id = fx_match_mix(id, (uint64_t)(unsigned char)*value);
		id = fx_match_mix(id, i);
	}
	return id;
}

/* The rank in `comm` of the first one of `made`, which is made of some of it; -1: not known. */
static int comms_first(MPI_Comm comm, MPI_Comm made)
{
	MPI_Group group, inner;
	int zero = 0, first = -1;

	if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
		return -1;
	if (PMPI_Comm_group(made, &inner) == MPI_SUCCESS) {
		if (PMPI_Group_translate_ranks(inner, 1, &zero, group, &first) != MPI_SUCCESS)
			first = -1;
		PMPI_Group_free(&inner);
	}
	PMPI_Group_free(&group);
	return first;
}

static bool comms_is_inner(MPI_Comm comm)
{
	int is_inter = 1;

	return PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter;
}

/* "comm 1a2b3c4d": the same on all ranks. */
static void comms_number_name(uint64_t id, char ret[FX_MPI_NAME_MAX])
{
	static const char digits[] = "0123456789abcdef";

	memcpy(ret, "comm ", 5);
	for (int i = 0; i < 8; i++)
		ret[5 + i] = digits[id >> (28 - 4 * i) & 15];
	ret[13] = 0;
}

static void comms_made(struct fx_mpi_call *call, MPI_Comm handle, uint64_t id)
{
	char name[FX_MPI_NAME_MAX];

	comms_number_name(id, name);
	comms_add(handle, id, name);
	if (!call->scope.events)
		return;
	memcpy(call->comm_name, name, sizeof(name));
	fx_mpi_arg(call, "new", TA_STRING(call->comm_name));
}

void fx_mpi_comms_begin(void)
{
	uint64_t world = comms_job_id();
	int rank = 0;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	comms_add(MPI_COMM_WORLD, world, "MPI_COMM_WORLD");
	comms_add(MPI_COMM_SELF, fx_match_mix(world, UINT64_C(0x5e1f) << 32 | (uint32_t)rank),
		  "MPI_COMM_SELF");
}

void fx_mpi_about(struct fx_mpi_call *call, MPI_Comm comm)
{
	call->comm = fx_mpi_comm_find(comm);
	if (!call->scope.events && !call->begun)
		return;
	if (!call->comm) {
		fx_mpi_arg(call, "comm", TA_NULL());
		return;
	}
	memcpy(call->comm_name, call->comm->name, sizeof(call->comm_name));
	fx_mpi_arg(call, "comm", TA_STRING(call->comm_name));
}

/* --- Collectives -------------------------------------------------------------------------------------- */

/* Kinds of calls that are counted, so that no two have an id in common. */
enum { COMMS_COLLECTIVE = 1, COMMS_MADE = 2, COMMS_OF_GROUP = 3 };

static uint64_t comms_nth(const struct fx_mpi_comm *comm, unsigned kind, uint64_t number)
{
	return fx_match_mix(fx_match_mix(comm->match.id, kind), number);
}

void fx_mpi_collective(struct fx_mpi_call *call, MPI_Comm comm, int root)
{
	uint64_t number = 0;

	fx_mpi_about(call, comm);
	if (call->comm) {
		fx_mpi_lock();
		number = ++call->comm->collectives;
		fx_mpi_unlock();
	}
	if (!call->scope.events)
		return;
	fx_mpi_arg(call, "collective",
		   call->comm ? TA_POINTER(comms_nth(call->comm, COMMS_COLLECTIVE, number))
			      : TA_NULL());
	fx_mpi_arg(call, "ranks", call->comm ? TA_INT32(call->comm->size) : TA_NULL());
	fx_mpi_arg(call, "rank", call->comm ? TA_INT32(call->comm->match.rank) : TA_NULL());
	fx_mpi_arg(call, "root", root == FX_MPI_NO_ROOT ? TA_NULL() : TA_INT32(root));
}

void fx_mpi_collected(struct fx_mpi_call *call, uint64_t bytes)
{
	if (call->scope.events)
		fx_mpi_arg(call, "bytes", TA_UINT64(bytes));
}

void fx_mpi_comm_made(struct fx_mpi_call *call, MPI_Comm comm, int r, MPI_Comm made)
{
	int first;

	if (r != MPI_SUCCESS || made == MPI_COMM_NULL || !call->comm || !comms_is_inner(made))
		return;
	first = comms_first(comm, made);
	if (first >= 0)
		comms_made(call, made,
			   fx_match_mix(comms_nth(call->comm, COMMS_MADE, call->comm->collectives),
					(uint64_t)first));
}

/* It has the ranks of the first one, and may not be asked before its request is over. */
void fx_mpi_comm_made_later(struct fx_mpi_call *call, MPI_Comm comm, int r, MPI_Comm made)
{
	(void)comm;
	if (r == MPI_SUCCESS && made != MPI_COMM_NULL && call->comm)
		comms_made(
		    call, made,
		    fx_match_mix(comms_nth(call->comm, COMMS_MADE, call->comm->collectives), 0));
}

/* So many of `made' are translated at a time. */
#define COMMS_RANKS 64

/* The ranks in `comm' of all of `made', in order; 0: not known. */
static uint64_t comms_members(MPI_Comm comm, MPI_Comm made)
{
	int size = 0, ranks[COMMS_RANKS], there[COMMS_RANKS];
	MPI_Group group, inner;
	uint64_t id = 1;

	if (PMPI_Comm_size(made, &size) != MPI_SUCCESS ||
	    PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
		return 0;
	if (PMPI_Comm_group(made, &inner) != MPI_SUCCESS)
		size = 0;
	for (int first = 0; first < size; first += COMMS_RANKS) {
		int count = size - first < COMMS_RANKS ? size - first : COMMS_RANKS;

		for (int i = 0; i < count; i++)
			ranks[i] = first + i;
		PMPI_Group_translate_ranks(inner, count, ranks, group, there);
		for (int i = 0; i < count; i++)
			id = fx_match_mix(id, (uint64_t)(uint32_t)there[i]);
	}
	if (size > 0)
		PMPI_Group_free(&inner);
	PMPI_Group_free(&group);
	return size > 0 ? id : 0;
}

/* Only its own ranks have called: how often just these did, with this tag, is known to all of them. */
void fx_mpi_comm_made_of_group(struct fx_mpi_call *call, MPI_Comm comm, int tag, int r,
			       MPI_Comm made)
{
	static struct fx_numbered counts;
	uint64_t members, number;

	fx_mpi_about(call, comm);
	if (r != MPI_SUCCESS || made == MPI_COMM_NULL || !call->comm || !comms_is_inner(made))
		return;
	members = comms_members(comm, made);
	if (!members)
		return;
	members = fx_match_mix(comms_nth(call->comm, COMMS_OF_GROUP, members), (uint32_t)tag);
	fx_mpi_lock();
	number = (uintptr_t)fx_numbered_find(&counts, members) + 1;
	if (!fx_numbered_put(&counts, members, (void *)(uintptr_t)number))
		number = 0;
	fx_mpi_unlock();
	if (number)
		comms_made(call, made, fx_match_mix(members, number));
}

void fx_mpi_comm_release(struct fx_match *match)
{
	struct fx_mpi_comm *comm = (struct fx_mpi_comm *)(void *)match;

	_Static_assert(offsetof(struct fx_mpi_comm, match) == 0, "the cast");
	if (comm->is_gone && !comm->is_kept && match->receives == 0)
		fx_pool_give(&comms_pool, comm);
}

void fx_mpi_comm_free(struct fx_mpi_call *call, MPI_Comm comm)
{
	struct fx_mpi_comm *gone;

	fx_mpi_about(call, comm);
	fx_mpi_lock();
	gone = fx_numbered_take(&comms_table, FX_MPI_HANDLE(comm));
	if (gone) {
		gone->is_gone = true;
		fx_mpi_comm_release(&gone->match);
	}
	fx_mpi_unlock();
	call->comm = NULL;
}

void fx_mpi_comm_name(struct fx_mpi_call *call, MPI_Comm comm, const char *name)
{
	fx_mpi_about(call, comm);
	fx_mpi_lock();
	if (call->comm && name)
		comms_set_name(call->comm, name);
	fx_mpi_unlock();
}
