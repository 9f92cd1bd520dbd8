/* SPDX-License-Identifier: MIT */
#include "kernel/texts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/call-table.h"
#include "kernel/texts-program.h"

/* Threads that are watched at once. The one that is idle for longest makes room for another. */
#define TASKS_MAX 16384u

/* Numbers of system calls are below. */
#define CALLS_MAX 1024u

/* The first pid namespace's number (the kernel's PROC_PID_INIT_INO). BPF knows threads by their numbers there. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

struct fx_texts {
	struct fx_texts_maps maps;
	int fds[6]; /* three programs, and the events that they are run by */
	unsigned count;
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

static int program_load(const struct fx_texts_code *code)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	attr.insns = (uintptr_t)code->insns;
	attr.insn_cnt = code->count;
	attr.license = (uintptr_t) "Dual MIT/GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* It is run whenever the tracepoint is passed, as long as there is an event of it: one of this process, which is never switched on. */
static int program_attach(int program, uint32_t tracepoint)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(attr),
	    .config = tracepoint,
	    .sample_period = 1,
	    .disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

static int texts_keep(struct fx_texts *texts, int fd)
{
	if (fd >= 0)
		texts->fds[texts->count++] = fd;
	return fd < 0 ? fd : 0;
}

static int texts_run(struct fx_texts *texts, const struct fx_texts_code *code, uint32_t tracepoint)
{
	int program = program_load(code);
	int r = texts_keep(texts, program);

	return r < 0 ? r : texts_keep(texts, program_attach(program, tracepoint));
}

static int maps_create(struct fx_texts_maps *maps)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	maps->tasks = map_create(BPF_MAP_TYPE_LRU_HASH, 4, 4, TASKS_MAX);
	maps->calls = map_create(BPF_MAP_TYPE_ARRAY, 4, 4, CALLS_MAX);
	maps->late = map_create(BPF_MAP_TYPE_LRU_HASH, 4, 16, TASKS_MAX);
	maps->scratch = map_create(BPF_MAP_TYPE_PERCPU_ARRAY, 4, FX_TEXTS_HEAD + FX_TEXT_MAX, 1);
	maps->events = map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, (uint32_t)cpus);
	if (maps->tasks < 0)
		return maps->tasks;
	return maps->calls < 0 || maps->late < 0 || maps->scratch < 0 || maps->events < 0 ? -EINVAL
											  : 0;
}

static int maps_fill(const struct fx_texts_maps *maps, pid_t pid)
{
	int r = map_put(maps->tasks, (uint32_t)pid, 1);

	for (uint32_t i = 0; r == 0 && i < CALLS_MAX; i++) {
		uint32_t texts = fx_call_texts(i);

		if (texts)
			r = map_put(maps->calls, i, texts);
	}
	return r;
}

static bool is_first_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == FIRST_PID_NAMESPACE;
}

static int texts_prepare(struct fx_texts *texts, pid_t pid, const struct fx_tracepoints *points)
{
	struct fx_texts_code code;
	int r = maps_create(&texts->maps);

	if (r == 0)
		r = maps_fill(&texts->maps, pid);
	if (r == 0) {
		fx_texts_code_fork(&texts->maps, points, &code);
		r = texts_run(texts, &code, points->numbers[FX_TRACEPOINT_FORK]);
	}
	if (r == 0) {
		fx_texts_code_enter(&texts->maps, points, &code);
		r = texts_run(texts, &code, points->numbers[FX_TRACEPOINT_ENTER]);
	}
	if (r == 0) {
		fx_texts_code_exit(&texts->maps, &code);
		r = texts_run(texts, &code, points->numbers[FX_TRACEPOINT_EXIT]);
	}
	return r;
}

int fx_texts_open(pid_t pid, const struct fx_tracepoints *points, struct fx_texts **ret)
{
	struct fx_texts *texts;
	int r;

	if (!is_first_pid_namespace())
		return -ENOTSUP;
	texts = calloc(1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	r = texts_prepare(texts, pid, points);
	if (r < 0)
		fx_texts_close(texts);
	else
		*ret = texts;
	return r;
}

void fx_texts_close(struct fx_texts *texts)
{
	if (!texts)
		return;
	while (texts->count)
		close(texts->fds[--texts->count]);
	for (unsigned i = 0; i < 5; i++) {
		int map = (const int[]){texts->maps.tasks, texts->maps.calls, texts->maps.late,
					texts->maps.scratch, texts->maps.events}[i];

		if (map >= 0)
			close(map);
	}
	free(texts);
}

int fx_texts_direct(const struct fx_texts *texts, uint32_t cpu, int fd)
{
	return map_put(texts->maps.events, cpu, (uint32_t)fd);
}

bool fx_text_read(const uint8_t *bytes, size_t size, struct fx_text_found *ret)
{
	uint16_t numbers[2]; /* none of a tracepoint, and the argument */
	uint32_t length;     /* with its end */
	uint64_t address;

	if (size < FX_TEXTS_HEAD)
		return false;
	memcpy(numbers, bytes, sizeof(numbers));
	memcpy(&length, bytes + 4, sizeof(length));
	memcpy(&address, bytes + 8, sizeof(address));
	if (numbers[0] != 0 || !length || length > size - FX_TEXTS_HEAD)
		return false;
	*ret = (struct fx_text_found){
	    .argument = numbers[1] & (FX_TEXTS_AT_END - 1),
	    .at_end = numbers[1] & FX_TEXTS_AT_END,
	    .address = address,
	    .data = (const char *)bytes + FX_TEXTS_HEAD,
	    .length = length - 1,
	};
	return ret->argument < FX_CALL_ARGS;
}
