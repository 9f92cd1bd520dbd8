/* SPDX-License-Identifier: MIT */
/*
 * A program with MPI whose ranks say of each message, by its number, that they have sent or got it, in the order in which they
 * did: log.RANK has lines "S THREAD NUMBER" and "R THREAD NUMBER", and first "pid PID".
 *
 *	mpi_talk [ROUNDS [threads]]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MANY = 12 };

static FILE *record;
static int rank, size;
static long long numbers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct letter {
	long long number;
	char more
	    [4096]; /* of some there is so much that they are not sent before somebody wants them */
};

static void say(char what, long long number)
{
	pthread_mutex_lock(&lock);
	fprintf(record, "%c %ld %lld\n", what, (long)syscall(SYS_gettid), number);
	pthread_mutex_unlock(&lock);
}

static struct letter *letter(struct letter *l)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_lock(&lock);
	l->number = (long long)rank << 32 | ++numbers;
	pthread_mutex_unlock(&lock);
	say('S', l->number);
	return l;
}

static int length_of(int i)
{
	return i % 3 == 0 ? (int)sizeof(struct letter) : (int)sizeof(long long);
}

static void got(const struct letter *l)
{
	say('R', l->number);
}

/* --- One after the other ------------------------------------------------------------------------------------- */

static void blocking(MPI_Comm comm)
{
	static char space[1 << 16];
	struct letter l;
	int me, n, size_of_space = sizeof(space);
	void *buffer;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	if (n < 2)
		return;
	MPI_Buffer_attach(space, size_of_space);
	for (int way = 0; way < 3; way++) {
		int next = (me + 1) % n, last = (me + n - 1) % n;

		for (int turn = 0; turn < 2; turn++) {
			if (turn == me % 2) {
				if (way == 0)
					MPI_Send(letter(&l), length_of(way), MPI_BYTE, next, way,
						 comm);
				else if (way == 1)
					MPI_Bsend(letter(&l), length_of(way), MPI_BYTE, next, way,
						  comm);
				else
					MPI_Send(letter(&l), length_of(way), MPI_BYTE, next, way,
						 comm);
			} else {
				MPI_Recv(&l, sizeof(l), MPI_BYTE, way == 1 ? MPI_ANY_SOURCE : last,
					 way == 2 ? MPI_ANY_TAG : way, comm, MPI_STATUS_IGNORE);
				got(&l);
			}
		}
		MPI_Barrier(comm);
	}
	MPI_Buffer_detach(&buffer, &size_of_space);
	for (int i = 0; i < 3; i++) {
		struct letter in;

		MPI_Sendrecv(letter(&l), length_of(i), MPI_BYTE, (me + 1) % n, 7, &in, sizeof(in),
			     MPI_BYTE, (me + n - 1) % n, i == 1 ? MPI_ANY_TAG : 7, comm,
			     MPI_STATUS_IGNORE);
		got(&in);
		MPI_Sendrecv_replace(letter(&l), length_of(i), MPI_BYTE, (me + 1) % n, 8,
				     i == 1 ? MPI_ANY_SOURCE : (me + n - 1) % n, 8, comm,
				     MPI_STATUS_IGNORE);
		got(&l);
		MPI_Barrier(comm);
	}
	MPI_Send(&l, 1, MPI_BYTE, MPI_PROC_NULL, 3, comm);
	MPI_Recv(&l, 1, MPI_BYTE, MPI_PROC_NULL, 3, comm, MPI_STATUS_IGNORE);
}

/* --- All at once --------------------------------------------------------------------------------------------- */

/* Each rank sends MANY letters to the next two; how they are received differs. */
static void at_once(MPI_Comm comm, int way)
{
	static struct letter out[2 * MANY], in[2 * MANY];
	MPI_Request sends[2 * MANY], receives[2 * MANY];
	int me, n, count = 0, left, which[2 * MANY], some;
	MPI_Status statuses[2 * MANY];

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	if (n < 3)
		return;
	for (int i = 0; i < MANY; i++) {
		for (int from = 1; from <= 2; from++, count++) {
			/* Any of these gets a message, whichever the others get. */
			int source = way & 1 ? MPI_ANY_SOURCE : (me + n - from) % n;
			int tag = (way & 2) && i % 3 != 1 ? MPI_ANY_TAG : 5;

			MPI_Irecv(&in[count], sizeof(in[count]), MPI_BYTE, source, tag, comm,
				  &receives[count]);
		}
	}
	count = 0;
	for (int i = 0; i < MANY; i++)
		for (int to = 1; to <= 2; to++, count++) {
			if (i % 4 == 3)
				MPI_Issend(letter(&out[count]), length_of(i), MPI_BYTE,
					   (me + to) % n, 5, comm, &sends[count]);
			else
				MPI_Isend(letter(&out[count]), length_of(i), MPI_BYTE,
					  (me + to) % n, 5, comm, &sends[count]);
		}
	switch (way >> 2) {
	case 0: /* all */
		MPI_Waitall(count, receives, MPI_STATUSES_IGNORE);
		for (int i = 0; i < count; i++)
			got(&in[i]);
		break;
	case 1: /* whichever comes */
		for (left = count; left; left--) {
			int at;

			MPI_Waitany(count, receives, &at, MPI_STATUS_IGNORE);
			got(&in[at]);
		}
		break;
	case 2: /* from the last one, whose number depends on all before */
		for (left = count; left--;) {
			MPI_Wait(&receives[left], MPI_STATUS_IGNORE);
			got(&in[left]);
		}
		break;
	case 3: /* by asking */
		for (left = count; left;) {
			int at, flag;

			MPI_Testany(count, receives, &at, &flag, MPI_STATUS_IGNORE);
			if (flag) {
				left--;
				got(&in[at]);
			}
		}
		break;
	case 4: /* some at a time */
		for (left = count; left; left -= some) {
			MPI_Waitsome(count, receives, &some, which, statuses);
			for (int i = 0; i < some; i++)
				got(&in[which[i]]);
		}
		break;
	case 5:
		for (left = count; left; left -= some) {
			MPI_Testsome(count, receives, &some, which, MPI_STATUSES_IGNORE);
			for (int i = 0; i < some; i++)
				got(&in[which[i]]);
		}
		break;
	case 6: { /* the even ones, then all */
		int flag;

		for (int i = 0; i < count; i += 2) {
			do
				MPI_Test(&receives[i], &flag, MPI_STATUS_IGNORE);
			while (!flag);
			got(&in[i]);
		}
		do
			MPI_Testall(count, receives, &flag, statuses);
		while (!flag);
		for (int i = 1; i < count; i += 2)
			got(&in[i]);
		break;
	}
	}
	MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
	/* What is received from anybody must not be a letter of what follows. */
	MPI_Barrier(comm);
}

/* --- Again and again ----------------------------------------------------------------------------------------- */

static void persistent(MPI_Comm comm)
{
	static struct letter out[4], in[4];
	MPI_Request requests[8];
	int me, n;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < 4; i++) {
		MPI_Recv_init(&in[i], sizeof(in[i]), MPI_BYTE,
			      i == 1 ? MPI_ANY_SOURCE : (me + n - 1) % n, i < 2 ? 4 : 5 + i, comm,
			      &requests[i]);
		if (i == 2)
			MPI_Ssend_init(&out[i], length_of(i), MPI_BYTE, (me + 1) % n, 5 + i, comm,
				       &requests[4 + i]);
		else
			MPI_Send_init(&out[i], length_of(i), MPI_BYTE, (me + 1) % n,
				      i < 2 ? 4 : 5 + i, comm, &requests[4 + i]);
	}
	for (int round = 0; round < 5; round++) {
		MPI_Startall(4, requests);
		for (int i = 0; i < 4; i++)
			letter(&out[i]);
		MPI_Startall(3, requests + 4);
		MPI_Start(&requests[7]);
		MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 4; i++)
			got(&in[i]);
		MPI_Barrier(comm);
	}
	for (int i = 0; i < 8; i++)
		MPI_Request_free(&requests[i]);
}

/* --- Found before they are received -------------------------------------------------------------------------- */

static void probed(MPI_Comm comm)
{
	static struct letter out[4], in;
	MPI_Request requests[4], request;
	int me, n, flag = 0;
	MPI_Message message, later;
	MPI_Status status;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < 4; i++)
		MPI_Isend(letter(&out[i]), length_of(i), MPI_BYTE, (me + 1) % n, 2, comm,
			  &requests[i]);
	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
	MPI_Recv(&in, sizeof(in), MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
		 MPI_STATUS_IGNORE);
	got(&in);
	while (!flag)
		MPI_Iprobe(MPI_ANY_SOURCE, 2, comm, &flag, &status);
	MPI_Recv(&in, sizeof(in), MPI_BYTE, status.MPI_SOURCE, 2, comm, &status);
	got(&in);
	MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, MPI_STATUS_IGNORE);
	/* the next one of the same sender, which is received first */
	for (flag = 0; !flag;)
		MPI_Improbe((me + n - 1) % n, 2, comm, &flag, &later, &status);
	MPI_Imrecv(&in, sizeof(in), MPI_BYTE, &later, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	got(&in);
	MPI_Mrecv(&in, sizeof(in), MPI_BYTE, &message, MPI_STATUS_IGNORE);
	got(&in);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* --- Given up ------------------------------------------------------------------------------------------------ */

static void cancelled(MPI_Comm comm)
{
	static struct letter out, in[3];
	MPI_Request requests[3], send;
	int me, n, was;
	MPI_Status status;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < 3; i++)
		MPI_Irecv(&in[i], sizeof(in[i]), MPI_BYTE,
			  i == 1 ? MPI_ANY_SOURCE : (me + n - 1) % n, 9, comm, &requests[i]);
	MPI_Barrier(comm);
	for (int i = 0; i < 2; i++) {
		MPI_Cancel(&requests[i]);
		MPI_Wait(&requests[i], &status);
		MPI_Test_cancelled(&status, &was);
		if (!was)
			exit(3);
	}
	MPI_Barrier(comm);
	MPI_Isend(letter(&out), length_of(0), MPI_BYTE, (me + 1) % n, 9, comm, &send);
	MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
	got(&in[2]);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* --- All together -------------------------------------------------------------------------------------------- */

static void collectives(MPI_Comm comm)
{
	int me, n, one = 1, sum, all[1024];
	MPI_Request request;

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	if (me == 1)
		usleep(20000); /* comes last */
	MPI_Barrier(comm);
	MPI_Bcast(&one, 1, MPI_INT, n - 1, comm);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, comm);
	if (sum != n || n > 1024)
		exit(3);
	MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
	MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void everything(MPI_Comm comm)
{
	int n;

	MPI_Comm_size(comm, &n);
	if (n < 3)
		return;
	blocking(comm);
	for (int way = 0; way < 28; way++)
		at_once(comm, way);
	persistent(comm);
	MPI_Barrier(comm);
	probed(comm);
	MPI_Barrier(comm);
	cancelled(comm);
	collectives(comm);
}

/* --- Communicators and threads --------------------------------------------------------------------------------- */

static void communicators(void)
{
	int dims[1] = {size}, periods[1] = {1}, few[3] = {0, 1, 2};
	MPI_Comm half, twin, ring, later, first;
	MPI_Group group, three;
	MPI_Request request;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	MPI_Comm_dup(MPI_COMM_WORLD, &twin);
	MPI_Comm_set_name(twin, "twin");
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
	MPI_Comm_idup(half, &later, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	at_once(half, 5);
	at_once(twin, 6);
	blocking(ring);
	everything(later);
	if (rank < 3) {
		MPI_Comm_group(MPI_COMM_WORLD, &group);
		MPI_Group_incl(group, 3, few, &three);
		for (int i = 0; i < 2; i++) {
			MPI_Comm_create_group(MPI_COMM_WORLD, three, 11, &first);
			at_once(first, 9);
			MPI_Comm_free(&first);
		}
		MPI_Group_free(&three);
		MPI_Group_free(&group);
	}
	MPI_Comm_free(&half);
	MPI_Comm_free(&twin);
	MPI_Comm_free(&ring);
	MPI_Comm_free(&later);
}

static void *thread_main(void *number)
{
	int tag = 100 + (int)(size_t)number;
	struct letter out, in;
	MPI_Request request;

	for (int i = 0; i < 50; i++) {
		MPI_Irecv(&in, sizeof(in), MPI_BYTE,
			  i % 2 ? MPI_ANY_SOURCE : (rank + size - 1) % size, tag, MPI_COMM_WORLD,
			  &request);
		MPI_Send(letter(&out), length_of(i), MPI_BYTE, (rank + 1) % size, tag,
			 MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		got(&in);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, provided;
	pthread_t threads[3];
	char name[32];

	MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof(name), "log.%d", rank);
	record = fopen(name, "w");
	if (!record)
		return 3;
	fprintf(record, "pid %d\n", (int)getpid());
	for (int i = 0; i < rounds; i++) {
		everything(MPI_COMM_WORLD);
		communicators();
	}
	if (argc > 2 && provided == MPI_THREAD_MULTIPLE) {
		for (size_t i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, thread_main, (void *)i);
		for (size_t i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	}
	fclose(record);
	MPI_Finalize();
	return 0;
}
