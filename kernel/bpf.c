/* SPDX-License-Identifier: MIT */
#include "kernel/bpf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf(int command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

int fx_bpf_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = entries;
	return bpf(BPF_MAP_CREATE, &attr);
}

static int map_update(int map, const void *key, uint32_t value, uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)&value;
	attr.flags = flags;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int fx_bpf_map_put(int map, uint32_t key, uint32_t value)
{
	return map_update(map, &key, value, BPF_ANY);
}

int fx_bpf_map_put_bytes(int map, const void *key, uint32_t value)
{
	return map_update(map, key, value, BPF_ANY);
}

int fx_bpf_map_add(int map, uint32_t key, uint32_t value)
{
	return map_update(map, &key, value, BPF_NOEXIST);
}

uint64_t fx_bpf_map_get(int map, uint32_t key)
{
	union bpf_attr attr;
	uint64_t value = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	return bpf(BPF_MAP_LOOKUP_ELEM, &attr) < 0 ? 0 : value;
}

int fx_bpf_program(uint32_t type, const struct fx_insns *code)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)code->list;
	attr.insn_cnt = code->count;
	attr.license = (uintptr_t) "Dual MIT/GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

int fx_bpf_link_raw(int program, const char *tracepoint)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)tracepoint;
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

/* The event is of this thread alone and never counts; programs run for all threads as long as there is one. */
int fx_bpf_link_point(int program, uint32_t number)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(attr),
	    .config = number,
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

uint64_t fx_bpf_missed(int program)
{
	/* Older headers do not have it (Linux 5.12): it stands behind what they have. */
	enum { MISSED_AT = offsetof(struct bpf_prog_info, run_cnt) + 8 };
	_Alignas(8) uint8_t info[MISSED_AT + 8] = {0};
	uint64_t missed;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)program;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0)
		return 0;
	memcpy(&missed, info + MISSED_AT, sizeof(missed));
	return missed;
}
