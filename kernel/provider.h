/* SPDX-License-Identifier: MIT */
/*
 * This process as a provider: how it registers (doc/PROTOCOL.md), and the records that it writes, all by the one thread that
 * has registered. Records are of threads of other processes, which they name by the kernel's numbers; times are
 * CLOCK_BOOTTIME in nanoseconds.
 */
#ifndef FX_KERNEL_PROVIDER_H
#define FX_KERNEL_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread of some process. */
struct fx_task {
	uint32_t pid;
	uint32_t tid;
};

/* Registers with the manager that listens at `path`. 0 or -errno. */
int fx_kernel_register(const char *path);

/* A name of a category, and what it is; before registering. Both must be literals. */
void fx_kernel_knows(const char *category, const char *description);

/* Whether tracing runs. */
bool fx_kernel_is_on(void);

/* A thread was found in this stack: functions in lines, the innermost first. It stands for `period' ns. */
void fx_kernel_sample(struct fx_task thread, uint64_t ns, uint32_t period, const char *stack,
		      size_t length);

/* The thread was given the processor, or had it taken away. */
enum fx_kernel_switch {
	FX_SWITCH_IN,
	FX_SWITCH_WAITS,   /* it gave it up */
	FX_SWITCH_STOPPED, /* by a signal or a debugger */
	FX_SWITCH_ENDS,
	FX_SWITCH_PREEMPTED, /* it would have gone on */
};
void fx_kernel_switch(struct fx_task thread, uint64_t ns, uint32_t cpu, enum fx_kernel_switch what);

/* A system call. */
#define FX_CALL_ARGS 6u

enum fx_call_end {
	FX_CALL_RETURNS,
	FX_CALL_NEVER_RETURNS, /* its thread has ended in it */
	FX_CALL_UNFINISHED,    /* it was still open */
};

struct fx_call_arg {
	const char *name, *kind; /* literals; as kernel/shown.h has it */
};

struct fx_kernel_call {
	struct fx_task task;
	uint64_t begin_ns, end_ns;
	int64_t number;
	const char *name; /* "": only the number is known */
	const uint64_t *args;
	const struct fx_call_arg *how; /* NULL: nothing is known of them */
	unsigned count;
	enum fx_call_end end;
	int64_t result; /* if it returns: a negative errno is one from -4095 on */
};
void fx_kernel_record_call(const struct fx_kernel_call *call);

/* A thread has woken another one, or an interrupt on its processor has (waker 0), which is to run on that processor. */
void fx_kernel_wakeup(uint32_t tid, uint64_t ns, uint32_t cpu, uint32_t waker);

/* The name of a thread; of a process, if it is that one's first thread and `is_new_program`. */
void fx_kernel_name(struct fx_task thread, const char *name, bool is_new_program);

/* So many of the kernel's records did not come. */
void fx_kernel_lost(uint64_t count);

/* Nothing more will be recorded. */
void fx_kernel_leave(void);

#endif
