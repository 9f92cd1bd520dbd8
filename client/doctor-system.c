/* SPDX-License-Identifier: MIT */
#include "client/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/options.h"
#include "manager/process/kernel-rights.h"
#include "manager/process/limits.h"
#include "manager/session/program.h"
#include "manager/settings/clock.h"

#define SYSTEM "this system"

/* A process needs about twice its buffer. */
#define ROOM (UINT64_C(64) << 20)

static bool doctor_system_is_on(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] && strcmp(value, "0") != 0;
}

/* --- The environment --------------------------------------------------------------------------- */

static bool library_is_found(struct fx_doctor *d)
{
	char path[PATH_MAX];
	int r = fx_program_library(path, sizeof(path));

	if (r == -EINVAL)
		fx_doctor_tell(d, SYSTEM, FX_FACT_LIBRARY_PATH, NULL);
	else if (r < 0)
		fx_doctor_tell(d, SYSTEM, FX_FACT_NO_LIBRARY, NULL);
	return r == 0;
}

static bool output_is_writable(void)
{
	return access("fxtrace.fxt", F_OK) == 0 ? access("fxtrace.fxt", W_OK) == 0
						: access(".", W_OK | X_OK) == 0;
}

static void doctor_system_environment(struct fx_doctor *d)
{
	struct rlimit space;

	if (doctor_system_is_on("FXTRACE_DISABLE"))
		fx_doctor_tell(d, SYSTEM, FX_FACT_DISABLED, NULL);
	if (doctor_system_is_on("FXTRACE_NO_FOLLOW"))
		fx_doctor_tell(d, SYSTEM, FX_FACT_NO_FOLLOW, NULL);
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < ROOM)
		fx_doctor_tell(d, SYSTEM, FX_FACT_LITTLE_MEMORY, NULL);
	if (!getenv("FXTRACE_OUTPUT") && !output_is_writable())
		fx_doctor_tell(d, SYSTEM, FX_FACT_OUTPUT, NULL);
}

/* --- The machine ------------------------------------------------------------------------------- */

static bool has_sealed_memory(void)
{
	int fd = memfd_create("fxtrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool sealed = fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE) == 0;

	if (fd >= 0)
		close(fd);
	return sealed;
}

static bool has_wipe_on_fork(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = aligned_alloc(size, size);
	bool wipes = page && madvise(page, size, MADV_WIPEONFORK) == 0;

	if (wipes)
		madvise(page, size, MADV_KEEPONFORK);
	free(page);
	return wipes;
}

static bool has_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void tell_clock(struct fx_doctor *d)
{
	struct fx_clock_choice clock;
	struct fx_options options;
	const char *variable;

	fx_options_init(&options);
	fx_options_environment(&options, &variable); /* a run will say what is wrong there */
	fx_clock_choose(options.config.clock, &clock);
	fx_options_destroy(&options);
	fx_doctor_tell(d, SYSTEM, clock.kind == FX_CLOCK_COUNTER ? FX_FACT_COUNTER : FX_FACT_CLOCK,
		       clock.text);
}

static void tell_events(struct fx_doctor *d)
{
	if (fx_kernel_right(FX_KERNEL_OF_OWN) < 0) {
		fx_doctor_tell(d, SYSTEM, FX_FACT_EVENTS, NULL);
		return;
	}
	if (fx_kernel_right(FX_KERNEL_OF_ITSELF) < 0)
		fx_doctor_tell(d, SYSTEM, FX_FACT_EVENTS_OWN, NULL);
	if (fx_kernel_right(FX_KERNEL_OF_POINTS) < 0)
		fx_doctor_tell(d, SYSTEM, FX_FACT_EVENTS_POINTS, NULL);
}

static void machine(struct fx_doctor *d)
{
	if (!has_sealed_memory())
		fx_doctor_tell(d, SYSTEM, FX_FACT_MEMFD, NULL);
	if (!has_wipe_on_fork())
		fx_doctor_tell(d, SYSTEM, FX_FACT_WIPE, NULL);
	if (!has_pidfd())
		fx_doctor_tell(d, SYSTEM, FX_FACT_PIDFD, NULL);
	tell_events(d);
	tell_clock(d);
}

/* --- A trial ----------------------------------------------------------------------------------- */

/* Traces a program that does nothing. What comes on stderr is why it failed. */
static pid_t trial_start(const char *own, int *ret_stderr)
{
	char nothing[PATH_MAX];
	int ends[2];
	pid_t pid;

	if (fx_program_obstacle("true") != FX_LOADABLE ||
	    fx_program_find("true", nothing, sizeof(nothing)) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		fx_limits_give_back();
		execl(own, "fxtrace", "run", "-q", "-o", "/dev/null", "--", nothing, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	*ret_stderr = ends[0];
	return pid;
}

static void trial(struct fx_doctor *d)
{
	char own[PATH_MAX], said[512];
	ssize_t n;
	int from, status = 0;
	pid_t pid;

	if (fx_program_own(own, sizeof(own)) < 0)
		return;
	pid = trial_start(own, &from);
	if (pid < 0)
		return;
	n = read(from, said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = 0;
	said[strcspn(said, "\n")] = 0;
	close(from);
	waitpid(pid, &status, 0);
	if (status != 0 || said[0])
		fx_doctor_tell(d, SYSTEM, FX_FACT_TRIAL, said[0] ? said : NULL);
}

void fx_doctor_system(struct fx_doctor *d)
{
	unsigned before = d->found[FX_FACT_NOTHING];

	doctor_system_environment(d);
	machine(d);
	if (library_is_found(d) && d->found[FX_FACT_NOTHING] == before)
		trial(d);
}
