/* SPDX-License-Identifier: MIT */
#include "kernel/follow.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "kernel/call-table.h"
#include "kernel/follow-code.h"
#include "kernel/follow-point.h"
#include "kernel/tasks.h"
#include "lists/vector.h"
#include "protocol/kernel-ready.h"

/* Threads in calls whose texts are yet to be copied. The one that is idle for longest makes room for another. */
#define LATE_MAX 4096u

/* Numbers of system calls are below. */
#define CALLS_MAX 1024u

/* The first pid namespace's number (the kernel's PROC_PID_INIT_INO). BPF knows threads by their numbers there. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

/* The least that a thread has as its stack in the kernel; where pages are larger, it is one of them. */
#define STACK_LEAST 16384

/* Programs that have to do with one another run both or not at all. */
static const struct follow_pair {
	uint32_t set;
	enum fx_tracepoint programs[2];
} follow_pairs[] = {
    {FX_KERNEL_WAKEUPS, {FX_TRACEPOINT_SWITCH, FX_TRACEPOINT_WAKING}},
    {FX_KERNEL_CALLS, {FX_TRACEPOINT_ENTER, FX_TRACEPOINT_EXIT}},
};
#define PAIR_COUNT (sizeof(follow_pairs) / sizeof(follow_pairs[0]))

/* A program that has a tracepoint's records told as they are. */
struct follow_point {
	uint32_t number;
	int link, program;
};

struct fx_follow {
	struct fx_follow_terms terms;
	/* A program runs as long as its link is open; -1: it does not. */
	int links[FX_TRACEPOINT_COUNT];
	int programs[FX_TRACEPOINT_COUNT];
	FX_VECTOR(struct follow_point) points;
	uint64_t untold;     /* as it was asked last */
	uint64_t unfollowed; /* threads of processes that run that there was no room for */
};

/* A look at a process's threads. */
struct follow_more {
	const struct fx_follow *follow;
	unsigned added, refused;
};

static int follow_run(struct fx_follow *follow, enum fx_tracepoint which)
{
	struct fx_insns code;
	int r = fx_follow_code(&follow->terms, which, &code), program;

	if (r < 0)
		return r;
	program = fx_bpf_program(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
	if (program < 0)
		return program;
	r = fx_bpf_link_raw(program, fx_tracepoint_name(which));
	if (r < 0) {
		close(program);
		return r;
	}
	follow->links[which] = r;
	follow->programs[which] = program;
	return 0;
}

static void follow_stop(struct fx_follow *follow, enum fx_tracepoint which)
{
	if (follow->links[which] < 0)
		return;
	close(follow->links[which]);
	close(follow->programs[which]);
	follow->links[which] = -1;
}

static int follow_run_pair(struct fx_follow *follow, const struct follow_pair *pair)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < 2; i++)
		r = follow_run(follow, pair->programs[i]);
	for (unsigned i = 0; r < 0 && i < 2; i++)
		follow_stop(follow, pair->programs[i]);
	return r;
}

static int maps_create(struct fx_follow_maps *maps)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	maps->tasks = fx_bpf_map(BPF_MAP_TYPE_HASH, 4, 4, FX_FOLLOW_THREADS_MAX);
	maps->calls = fx_bpf_map(BPF_MAP_TYPE_ARRAY, 4, 4, CALLS_MAX);
	maps->late = fx_bpf_map(BPF_MAP_TYPE_LRU_HASH, 4, 16, LATE_MAX);
	maps->scratch =
	    fx_bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, FX_FOLLOW_RECORD_MAX, FX_FOLLOW_ROOMS);
	maps->events = fx_bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, (uint32_t)cpus);
	maps->counts = fx_bpf_map(BPF_MAP_TYPE_ARRAY, 4, 8, FX_FOLLOW_COUNTS);
	if (maps->tasks < 0)
		return maps->tasks;
	return maps->calls < 0 || maps->late < 0 || maps->scratch < 0 || maps->events < 0 ||
		       maps->counts < 0
		   ? -EINVAL
		   : 0;
}

static int maps_fill(const struct fx_follow_maps *maps)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < CALLS_MAX; i++) {
		uint32_t texts = fx_call_texts(i);

		if (texts)
			r = fx_bpf_map_put(maps->calls, i, texts);
	}
	return r;
}

/* In a namespace other than the first, the process's number is not the one that BPF knows it by. */
static int follow_begin(struct fx_follow *follow, pid_t pid)
{
	struct fx_follow_terms *terms = &follow->terms;
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return -errno;
	if (st.st_ino == FIRST_PID_NAMESPACE)
		return fx_bpf_map_put(terms->maps.tasks, (uint32_t)pid, 1);
	terms->device = st.st_dev;
	terms->inode = st.st_ino;
	terms->pid = (uint32_t)pid;
	return 0;
}

/* Who is not followed any more is to be known before the first is. */
static int follow_begin_lives(struct fx_follow *follow, pid_t pid)
{
	int r = follow_run(follow, FX_TRACEPOINT_FREE);

	if (r == 0)
		r = follow_run(follow, FX_TRACEPOINT_FORK);
	return r == 0 && pid ? follow_begin(follow, pid) : r;
}

/* Whether BPF knows threads by the numbers that they have here. */
static bool is_first_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_PID_NAMESPACE;
}

/* Where libfxtrace.so finds the manager: by its path, or the name that it has beside that. */
static int sockets_fill(struct fx_follow_maps *maps, const char *manager)
{
	struct fx_follow_socket by_path, beside;
	const size_t at = offsetof(struct sockaddr_un, sun_path), length = strlen(manager);
	const sa_family_t family = AF_UNIX;
	int r;

	memset(&by_path, 0, sizeof(by_path));
	memset(&beside, 0, sizeof(beside));
	if (at + length + 1 > sizeof(by_path.address))
		return -ENAMETOOLONG;
	by_path.length = sizeof(by_path.address); /* as preload/attach/attach.c has it */
	memcpy(by_path.address, &family, sizeof(family));
	memcpy(by_path.address + at, manager, length);
	beside.length = (uint16_t)(at + 1 + length);
	memcpy(beside.address, &family, sizeof(family));
	memcpy(beside.address + at + 1, manager, length);
	maps->sockets = fx_bpf_map(BPF_MAP_TYPE_HASH, sizeof(by_path), 4, 2);
	r = maps->sockets < 0 ? maps->sockets : fx_bpf_map_put_bytes(maps->sockets, &by_path, 1);
	return r < 0 ? r : fx_bpf_map_put_bytes(maps->sockets, &beside, 1);
}

static int follow_prepare(struct fx_follow *follow, pid_t pid, const char *manager)
{
	struct fx_follow_terms *terms = &follow->terms;
	int r = maps_create(&terms->maps);

	if (r == 0)
		r = fx_task_layout_read(&terms->task);
	if (r == 0)
		r = maps_fill(&terms->maps);
	terms->everyone = manager && !is_first_namespace();
	if (r == 0 && manager && !terms->everyone)
		r = sockets_fill(&terms->maps, manager);
	return r == 0 && !terms->everyone ? follow_begin_lives(follow, pid) : r;
}

int fx_follow_create(pid_t pid, const char *manager, const struct fx_tracepoints *points,
		     struct fx_follow **ret)
{
	struct fx_follow *follow = calloc(1, sizeof(*follow));
	long page = sysconf(_SC_PAGESIZE);
	int r;

	*ret = NULL;
	if (!follow)
		return -ENOMEM;
	follow->terms.maps = (struct fx_follow_maps){-1, -1, -1, -1, -1, -1, -1};
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++)
		follow->links[i] = -1;
	follow->terms.points = points;
	follow->terms.stack_bytes = page > STACK_LEAST ? (uint32_t)page : STACK_LEAST;
	r = follow_prepare(follow, pid, manager);
	if (r < 0)
		fx_follow_destroy(follow);
	else
		*ret = follow;
	return r;
}

static void thread_follow(void *opaque, uint32_t tid)
{
	struct follow_more *more = opaque;
	int r = fx_bpf_map_add(more->follow->terms.maps.tasks, tid, 1);

	more->added += r == 0;
	more->refused += r < 0 && r != -EEXIST;
}

/* What threads that are followed make is followed; what others made meanwhile another look finds. */
void fx_follow_process(struct fx_follow *follow, uint32_t pid)
{
	struct follow_more more;

	if (follow->terms.everyone)
		return;
	do {
		more = (struct follow_more){.follow = follow};
		fx_tasks_each_of(pid, thread_follow, &more);
	} while (more.added);
	follow->unfollowed += more.refused;
}

/* Where calls themselves are not asked for, and processes register while others are followed. */
static int follow_arrivals(struct fx_follow *follow)
{
	int r;

	if (follow->terms.maps.sockets < 0 || follow->links[FX_TRACEPOINT_ENTER] >= 0)
		return 0;
	follow->terms.arrivals = true;
	r = follow_run(follow, FX_TRACEPOINT_ENTER);
	follow->terms.arrivals = false;
	return r;
}

/* Each pair by itself: kernels before 5.18 tell no states of threads that are switched away. */
int fx_follow_sets(struct fx_follow *follow, uint32_t sets)
{
	int r = 0;

	sets &= follow->terms.points->sets;
	for (unsigned i = 0; i < PAIR_COUNT; i++) {
		int pair =
		    sets & follow_pairs[i].set ? follow_run_pair(follow, &follow_pairs[i]) : 0;

		if (follow_pairs[i].set == FX_KERNEL_CALLS)
			r = pair;
	}
	return r == 0 ? follow_arrivals(follow) : r;
}

/* --- Tracepoints as they are ---------------------------------------------------------------------- */

static int point_run(const struct fx_follow *follow, const struct fx_point_shape *shape,
		     struct follow_point *point)
{
	struct fx_insns code;
	int r = fx_follow_point_code(&follow->terms, point->number, shape, &code);

	if (r < 0)
		return r;
	point->program = fx_bpf_program(BPF_PROG_TYPE_TRACEPOINT, &code);
	if (point->program < 0)
		return point->program;
	point->link = fx_bpf_link_point(point->program, point->number);
	if (point->link < 0)
		close(point->program);
	return point->link < 0 ? point->link : 0;
}

int fx_follow_point(struct fx_follow *follow, uint32_t number, const char *group, const char *name)
{
	struct follow_point point = {.number = number};
	struct fx_point_shape shape;
	int r = fx_vector_reserve(&follow->points, 1);

	if (r == 0)
		r = fx_point_shape_read(group, name, &shape);
	if (r == 0)
		r = point_run(follow, &shape, &point);
	if (r == 0)
		follow->points.items[follow->points.count++] = point;
	return r;
}

/* --- The end, and what is counted ------------------------------------------------------------------- */

void fx_follow_destroy(struct fx_follow *follow)
{
	if (!follow)
		return;
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++)
		follow_stop(follow, i);
	for (size_t i = 0; i < follow->points.count; i++) {
		close(follow->points.items[i].link);
		close(follow->points.items[i].program);
	}
	for (unsigned i = 0; i < 7; i++) {
		const struct fx_follow_maps *maps = &follow->terms.maps;
		int map = (const int[]){maps->tasks,  maps->calls,  maps->late,	  maps->scratch,
					maps->events, maps->counts, maps->sockets}[i];

		if (map >= 0)
			close(map);
	}
	fx_vector_free(&follow->points);
	free(follow);
}

uint64_t fx_follow_missed(const struct fx_follow *follow)
{
	uint64_t missed = 0;

	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (follow->links[i] >= 0)
			missed += fx_bpf_missed(follow->programs[i]);
	}
	for (size_t i = 0; i < follow->points.count; i++)
		missed += fx_bpf_missed(follow->points.items[i].program);
	return missed;
}

uint64_t fx_follow_untold(struct fx_follow *follow)
{
	uint64_t now = fx_bpf_map_get(follow->terms.maps.counts, FX_FOLLOW_UNTOLD);
	uint64_t more = now - follow->untold;

	follow->untold = now;
	return more;
}

uint64_t fx_follow_unfollowed(const struct fx_follow *follow)
{
	return fx_bpf_map_get(follow->terms.maps.counts, FX_FOLLOW_UNFOLLOWED) + follow->unfollowed;
}

bool fx_follow_tells(const struct fx_follow *follow, uint32_t number)
{
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
		if (follow->links[i] >= 0 && follow->terms.points->numbers[i] == number)
			return true;
	}
	return false;
}

int fx_follow_direct(const struct fx_follow *follow, uint32_t cpu, int fd)
{
	return fx_bpf_map_put(follow->terms.maps.events, cpu, (uint32_t)fd);
}
