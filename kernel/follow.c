/* SPDX-License-Identifier: MIT */
#include "kernel/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/call-table.h"
#include "kernel/follow-code.h"
#include "protocol/kernel-ready.h"

/* Threads that are followed at once. The one that is idle for longest makes room for another. */
#define TASKS_MAX 65536u

/* Threads in calls whose texts are yet to be copied; likewise. */
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

struct fx_follow {
	struct fx_follow_terms terms;
	int links
	    [FX_TRACEPOINT_COUNT]; /* a program runs as long as its link is open; -1: it does not */
};

static int bpf(int command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int map_create(uint32_t type, uint32_t key, uint32_t value, uint32_t entries)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = entries;
	return bpf(BPF_MAP_CREATE, &attr);
}

static int map_put(int map, uint32_t key, uint32_t value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	attr.flags = BPF_ANY;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

static int program_load(const struct fx_insns *code)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uintptr_t)code->list;
	attr.insn_cnt = code->count;
	attr.license = (uintptr_t) "Dual MIT/GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* A link, which has the program. */
static int program_link(int program, const char *tracepoint)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)tracepoint;
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int follow_run(struct fx_follow *follow, enum fx_tracepoint which)
{
	struct fx_insns code;
	int r = fx_follow_code(&follow->terms, which, &code), program;

	if (r < 0)
		return r;
	program = program_load(&code);
	if (program < 0)
		return program;
	r = program_link(program, fx_tracepoint_name(which));
	close(program);
	follow->links[which] = r;
	return r < 0 ? r : 0;
}

static void follow_stop(struct fx_follow *follow, enum fx_tracepoint which)
{
	if (follow->links[which] >= 0)
		close(follow->links[which]);
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

	maps->tasks = map_create(BPF_MAP_TYPE_LRU_HASH, 4, 4, TASKS_MAX);
	maps->calls = map_create(BPF_MAP_TYPE_ARRAY, 4, 4, CALLS_MAX);
	maps->late = map_create(BPF_MAP_TYPE_LRU_HASH, 4, 16, LATE_MAX);
	maps->scratch =
	    map_create(BPF_MAP_TYPE_PERCPU_ARRAY, 4, FX_FOLLOW_RECORD_MAX, FX_FOLLOW_ROOMS);
	maps->events = map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, (uint32_t)cpus);
	if (maps->tasks < 0)
		return maps->tasks;
	return maps->calls < 0 || maps->late < 0 || maps->scratch < 0 || maps->events < 0 ? -EINVAL
											  : 0;
}

static int maps_fill(const struct fx_follow_maps *maps)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < CALLS_MAX; i++) {
		uint32_t texts = fx_call_texts(i);

		if (texts)
			r = map_put(maps->calls, i, texts);
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
		return map_put(terms->maps.tasks, (uint32_t)pid, 1);
	terms->device = st.st_dev;
	terms->inode = st.st_ino;
	terms->pid = (uint32_t)pid;
	return 0;
}

static int follow_prepare(struct fx_follow *follow, pid_t pid)
{
	struct fx_follow_terms *terms = &follow->terms;
	int r = maps_create(&terms->maps);

	if (r == 0)
		r = fx_task_layout_read(&terms->task);
	if (r == 0)
		r = maps_fill(&terms->maps);
	if (r == 0)
		r = follow_begin(follow, pid);
	if (r == 0)
		r = follow_run(follow, FX_TRACEPOINT_FORK);
	return r;
}

int fx_follow_open(pid_t pid, const struct fx_tracepoints *points, uint32_t sets,
		   struct fx_follow **ret)
{
	struct fx_follow *follow = calloc(1, sizeof(*follow));
	long page = sysconf(_SC_PAGESIZE);
	unsigned had = 0;
	int r, told;

	*ret = NULL;
	if (!follow)
		return -ENOMEM;
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++)
		follow->links[i] = -1;
	follow->terms.points = points;
	follow->terms.stack_bytes = page > STACK_LEAST ? (uint32_t)page : STACK_LEAST;
	r = told = follow_prepare(follow, pid);
	sets &= points->sets;
	/* Each pair by itself: kernels before 5.18 tell no states of threads that are switched away. */
	for (unsigned i = 0; r == 0 && i < PAIR_COUNT; i++) {
		int pair;

		if (!(sets & follow_pairs[i].set))
			continue;
		pair = follow_run_pair(follow, &follow_pairs[i]);
		had += pair == 0;
		if (follow_pairs[i].set == FX_KERNEL_CALLS || !(sets & FX_KERNEL_CALLS))
			told = pair;
	}
	if (had)
		*ret = follow;
	else
		fx_follow_close(follow);
	return told;
}

void fx_follow_close(struct fx_follow *follow)
{
	if (!follow)
		return;
	for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++)
		follow_stop(follow, i);
	for (unsigned i = 0; i < 5; i++) {
		const struct fx_follow_maps *maps = &follow->terms.maps;
		int map = (const int[]){maps->tasks, maps->calls, maps->late, maps->scratch,
					maps->events}[i];

		if (map >= 0)
			close(map);
	}
	free(follow);
}

bool fx_follow_tells(const struct fx_follow *follow, uint32_t number)
{
	for (unsigned i = 0; follow && i < FX_TRACEPOINT_COUNT; i++) {
		if (follow->links[i] >= 0 && follow->terms.points->numbers[i] == number)
			return true;
	}
	return false;
}

int fx_follow_direct(const struct fx_follow *follow, uint32_t cpu, int fd)
{
	return map_put(follow->terms.maps.events, cpu, (uint32_t)fd);
}
