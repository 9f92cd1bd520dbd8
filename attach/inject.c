/* SPDX-License-Identifier: MIT */
#include "attach/inject.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attach/libc.h"
#include "attach/memory.h"
#include "attach/open.h"
#include "attach/point.h"
#include "base/fault.h"
#include "base/late.h"

/* A stack for the calls, and behind it what they are given. */
#define SCRATCH_BYTES (512u << 10)
#define RED_ZONE      128u

/* How long calls may take: the process registers with a manager that may be busy, and waits for the dynamic linker's lock. */
#define CALL_MS 60000u

/* At the scratch memory's end. */
struct scratch_data {
	struct fx_late late;
	int32_t errno_before;
	uint32_t pad;
	struct iovec from, to; /* errno is put back */
	char library[PATH_MAX];
};

struct injection {
	struct fx_target target;
	struct fx_point point;
	uint64_t scratch; /* where it begins; 0: there is none */
	struct scratch_data data;
	char *why;
};

static uint64_t data_at(const struct injection *in)
{
	return in->scratch + SCRATCH_BYTES - sizeof(struct scratch_data);
}

/* A system call of the thread, on its own stack, below what is in use. */
static int call_kernel(struct injection *in, const struct fx_chain_call *call, int64_t *ret)
{
	uint64_t end = (in->point.state.registers.rsp - RED_ZONE) & ~UINT64_C(63);

	return fx_chain_make(&in->target, &in->point.held, &in->point.state, end, call, 1, CALL_MS,
			     ret);
}

static int scratch_make(struct injection *in)
{
	const struct fx_chain_call call = {in->target.syscall,
					   SYS_mmap,
					   {0, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX,
					    0}};
	int64_t result;
	int r = call_kernel(in, &call, &result);

	if (r == 0 && result < 0)
		r = (int)result;
	if (r == 0)
		in->scratch = (uint64_t)result;
	return r;
}

static void scratch_drop(struct injection *in)
{
	const struct fx_chain_call call = {
	    in->target.syscall, SYS_munmap, {in->scratch, SCRATCH_BYTES}};
	int64_t result;

	if (in->scratch)
		call_kernel(in, &call, &result);
	in->scratch = 0;
}

static int call_library(struct injection *in, const struct fx_chain_call *calls, unsigned count)
{
	int64_t result;

	if (!fx_memory_write(in->target.pid, data_at(in), &in->data, sizeof(in->data)))
		return -EFAULT;
	return fx_chain_make(&in->target, &in->point.held, &in->point.state, data_at(in), calls,
			     count, CALL_MS, &result);
}

/* The thread's errno, as the program left it. */
static int errno_keep(struct injection *in)
{
	uint64_t at = in->point.state.registers.fs_base + (uint64_t)in->target.errno_offset;
	struct scratch_data *data = &in->data;
	uint64_t copy = data_at(in) + offsetof(struct scratch_data, errno_before);

	data->from = (struct iovec){(void *)(uintptr_t)copy, sizeof(int32_t)};
	data->to = (struct iovec){(void *)(uintptr_t)at, sizeof(int32_t)};
	return fx_memory_read(in->target.pid, at, &data->errno_before, sizeof(data->errno_before))
		   ? 0
		   : -EFAULT;
}

/* dlopen() of the process's own, and errno as it was. */
static int library_load(struct injection *in)
{
	const uint64_t data = data_at(in);
	const struct fx_chain_call calls[] = {
	    {in->target.dlopen,
	     0,
	     {data + offsetof(struct scratch_data, library), RTLD_NOW | RTLD_LOCAL}},
	    {in->target.syscall,
	     SYS_process_vm_readv,
	     {(uint64_t)in->target.pid, data + offsetof(struct scratch_data, to), 1,
	      data + offsetof(struct scratch_data, from), 1, 0}}};
	int r = errno_keep(in);

	if (r == 0)
		r = call_library(in, calls, 2);
	FX_FAULT(late_loaded);
	return r == 0 ? fx_target_look(&in->target) : r;
}

static int say(struct injection *in, int error, const char *what)
{
	snprintf(in->why, FX_TARGET_WHY, "%s%s%s", what, error ? ": " : "",
		 error ? strerror(-error) : "");
	return error ? error : -ENOTSUP;
}

static int late_call(struct injection *in, const char *name)
{
	struct fx_chain_call call = {.at =
					 fx_target_function_of(&in->target, in->target.ours, name),
				     .args = {data_at(in) + offsetof(struct scratch_data, late)}};
	int r;

	if (!call.at)
		return say(in, 0,
			   "the libfxtrace.so in it is of a release that cannot be attached");
	in->data.late.size = sizeof(in->data.late);
	in->data.late.result = FX_LATE_PENDING;
	r = call_library(in, &call, 1);
	FX_FAULT(late_called);
	if (r == 0 &&
	    !fx_memory_read(in->target.pid, call.args[0], &in->data.late, sizeof(in->data.late)))
		r = -EFAULT;
	return r < 0 ? say(in, r, "the call in it has failed") : in->data.late.result;
}

static int point_find(struct injection *in, unsigned patience)
{
	int r = fx_point_find(&in->target, patience, &in->point);

	if (r == -EAGAIN)
		return say(in, 0,
			   "none of its threads came to a place where it may be used; they sleep, "
			   "or are inside the C library");
	if (r == -EPERM)
		return say(
		    in, 0,
		    "it may not be traced: it is another user's, or kernel.yama.ptrace_scope "
		    "keeps it from all but its parents; root may");
	if (r == -ESRCH)
		return say(in, 0, "it has ended"), r;
	if (r < 0)
		return say(in, r, "its threads cannot be held");
	FX_FAULT(late_held);
	r = scratch_make(in);
	return r < 0 ? say(in, r, "it gives no memory") : 0;
}

static int begin_result(struct injection *in, int r)
{
	switch (r) {
	case -EINVAL:
		return say(in, 0,
			   "it has been started with libfxtrace.so: a running manager records it "
			   "(fxtrace record)");
	case -EALREADY:
		return say(in, 0, "it is being traced already");
	case -EBUSY:
		return say(in, 0, "it brings a tracer of its own (libfxtrace-provider)");
	default:
		return r < 0 && !in->why[0] ? say(in, r, "it could not register") : r;
	}
}

/* Whether the process finds the same file there. */
static bool library_is_seen(pid_t pid, const char *library)
{
	char path[PATH_MAX];
	struct stat here, there;

	return snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library) <
		   (int)sizeof(path) &&
	       stat(library, &here) == 0 && stat(path, &there) == 0 &&
	       here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

/* The path by which the library knows that it comes late. */
static bool library_name(struct injection *in, const char *library)
{
	const char *slash = strrchr(library, '/');

	return slash && snprintf(in->data.library, sizeof(in->data.library), "%.*s%s%s",
				 (int)(slash - library), library, FX_LATE_MARK,
				 slash + 1) < (int)sizeof(in->data.library);
}

static int inject_begin(struct injection *in, const char *socket)
{
	int r = 0;

	snprintf(in->data.late.socket, sizeof(in->data.late.socket), "%s", socket);
	if (!in->target.ours) {
		r = library_load(in);
		if (r < 0)
			return say(in, r, "libfxtrace.so could not be loaded");
		if (!in->target.ours)
			return say(
			    in, 0,
			    "its dynamic linker does not load libfxtrace.so: there is no room "
			    "left for its thread-local storage, or it may not be read");
	}
	return begin_result(in, late_call(in, FX_LATE_BEGIN));
}

static struct injection *injection_new(pid_t pid, char why[FX_TARGET_WHY], int *error)
{
	struct injection *in = calloc(1, sizeof(*in));

	*error = in ? 0 : -ENOMEM;
	if (!in) {
		snprintf(why, FX_TARGET_WHY, "%s", strerror(ENOMEM));
		return NULL;
	}
	in->why = why;
	*error = fx_target_open(pid, &in->target, why);
	if (*error < 0) {
		free(in);
		return NULL;
	}
	return in;
}

static void injection_end(struct injection *in, struct fx_injected *ret, int r)
{
	*ret = (struct fx_injected){0};
	if (r == 0)
		*ret = (struct fx_injected){in->data.late.words, in->data.late.left};
	fx_target_close(&in->target);
	free(in);
}

int fx_inject_begin(pid_t pid, const char *library, const char *socket, unsigned patience,
		    struct fx_injected *ret, char why[FX_TARGET_WHY])
{
	struct injection *in;
	int r;

	in = injection_new(pid, why, &r);
	if (!in)
		return r;
	if (!library_name(in, library))
		r = say(in, -ENAMETOOLONG, library);
	else if (!in->target.ours && !library_is_seen(pid, library))
		r = say(in, 0, "it does not see libfxtrace.so where it lies: it has other mounts");
	else
		r = point_find(in, patience);
	if (r == 0) {
		r = inject_begin(in, socket);
		scratch_drop(in);
		fx_held_end(&in->point.held);
	}
	injection_end(in, ret, r);
	return r;
}

int fx_inject_end(pid_t pid, unsigned patience, struct fx_injected *ret, char why[FX_TARGET_WHY])
{
	struct injection *in;
	int r;

	in = injection_new(pid, why, &r);
	if (!in)
		return r;
	r = in->target.ours ? point_find(in, patience)
			    : (say(in, 0, "libfxtrace.so is not in it"), -ENOENT);
	if (r == 0) {
		r = late_call(in, FX_LATE_END);
		scratch_drop(in);
		fx_held_end(&in->point.held);
	}
	injection_end(in, ret, r);
	return r;
}
