/* SPDX-License-Identifier: MIT */
/*
 * The loop of a single session, from its first turn to the stop, and the end of its program.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "manager/session/single-internal.h"

/* A private session ends when it has had no provider for this long. */
#define PRIVATE_LINGER_NS (200 * MS)

/* The first provider of a private session must show up within this time. */
#define PRIVATE_PATIENCE_NS (5000 * MS)

/* Whether a program that cannot be watched has ended is asked this often. */
#define PROGRAM_LOOK_NS (10 * MS)

/* How long the kernel provider may work on when the program has ended, and how often it is looked whether it does. */
#define COMPANION_PATIENCE_NS (20000 * MS)
#define COMPANION_LOOK_NS     (5 * MS)

/* The program may have ended. */
static void single_program_ready(void *opaque)
{
	struct fx_single *s = opaque;
	struct single_program *program = &s->program;
	pid_t pid;

	if (program->is_foreign && !program->is_watched && kill(program->pid, 0) == 0)
		return;
	pid = waitpid(program->pid, &program->wait_status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	program->has_ended = true;
	program->has_status = pid == program->pid;
	/* How it ended, the kernel may tell its parent alone. */
	for (struct fx_provider *p = s->roster.providers; p && program->has_status; p = p->next) {
		if (p->pid == pid && p->phase == FX_PROVIDER_LIVE && !p->ending.is_death)
			p->ending = (struct fx_ending){.is_death = true,
						       .is_known = true,
						       .wait_status = program->wait_status};
	}
	if (program->is_watched)
		fx_poller_remove(&s->ground.poller, program->pidfd);
}

/*
 * Tells every provider that tracing has stopped; `notice`: as fx_provider_stop() has it. How many there are, and in *ret_programs
 * how many of them are traced programs: the kernel provider is none.
 */
static uint32_t single_stop_providers(struct fx_single *s, uint32_t notice, uint32_t *ret_programs)
{
	uint32_t alive = 0;

	*ret_programs = 0;
	for (struct fx_provider *p = s->roster.providers; p; p = p->next) {
		if (p->phase != FX_PROVIDER_LIVE)
			continue;
		fx_provider_stop(p, s->epoch, notice);
		alive++;
		*ret_programs += !p->is_kernel;
	}
	return alive;
}

void fx_single_stop(struct fx_single *s)
{
	const struct timespec grace = {.tv_nsec = (long)FX_STOP_GRACE_NS};
	const struct timespec nap = {.tv_nsec = (long)MS};
	uint32_t alive, programs, still;

	if (s->stopped)
		return;
	FX_FAULT(session_stop);
	fx_roster_serve(&s->roster);
	fx_roster_read_packets(&s->roster); /* one may ask for a snapshot */
	s->stopped = true;
	alive = single_stop_providers(s, FX_STATE_STOPPING, &programs);
	if (alive)
		nanosleep(&grace, NULL);
	/* Processes that go on are not to look for a stop for ever. */
	single_stop_providers(s, 0, &still);
	if (s->program.has_ended)
		s->left_alive = programs;
	for (struct fx_provider *p = s->roster.providers; p; p = p->next)
		fx_roster_end(&s->roster, p);
	while (!fx_roster_finish_ended(&s->roster))
		nanosleep(&nap, NULL);
}

static void single_await_companion(struct fx_single *s);

/* One turn of the loop, until `deadline` at most. Tracing stops when it is time to. */
static void single_turn(struct fx_single *s, uint64_t deadline)
{
	uint64_t stop_at = s->stopped || !s->stop_at ? UINT64_MAX : s->stop_at;

	if (stop_at < deadline)
		deadline = stop_at;
	fx_roster_turn(&s->roster, true, s->still.next < deadline ? s->still.next : deadline);
	fx_single_watch_standstill(s);
	fx_roster_learn_functions(&s->roster, fx_writer_suppressed(s->writer));
	if (!s->stopped && s->stop_at && fx_monotonic_ns() >= s->stop_at) {
		s->stop_at = 0;
		single_await_companion(s);
		fx_single_stop(s);
	}
}

/* What the kernel said of the program comes after its end. */
static void single_await_companion(struct fx_single *s)
{
	uint64_t deadline = fx_monotonic_ns() + COMPANION_PATIENCE_NS;

	if (!s->companion)
		return;
	fx_companion_finish(s->companion);
	while (!fx_companion_is_over(s->companion) && !s->give_up && !s->stopped &&
	       fx_monotonic_ns() < deadline)
		single_turn(s, fx_monotonic_ns() + COMPANION_LOOK_NS);
	fx_companion_kill(s->companion);
}

void fx_single_watch_program(struct fx_single *s, pid_t pid)
{
	struct single_program *program = &s->program;

	program->pid = pid;
	program->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	program->watch = (struct fx_watch){.ready = single_program_ready, .opaque = s};
	program->is_watched =
	    program->pidfd >= 0 &&
	    fx_poller_add(&s->ground.poller, program->pidfd, &program->watch) == 0;
}

/* What is seen goes into the archive. */
static void single_await_look(struct fx_single *s)
{
	while (s->look.is_on && !s->give_up && !s->stopped)
		single_turn(s, UINT64_MAX);
}

void fx_single_run_program(struct fx_single *s, pid_t pid)
{
	const struct single_program *program = &s->program;

	fx_single_watch_program(s, pid);
	while (!program->has_ended && !s->give_up) {
		single_turn(s,
			    program->is_watched ? UINT64_MAX : fx_monotonic_ns() + PROGRAM_LOOK_NS);
		if (!program->is_watched)
			single_program_ready(s);
	}
	single_await_look(s);
	single_await_companion(s);
	/* Processes that asked to be traced, or died, before the program's end are still served. */
	fx_roster_serve(&s->roster);
}

bool fx_single_run_attached(struct fx_single *s, pid_t helper)
{
	const struct single_program *program = &s->program;
	int status = -1;

	s->stop_at = 0; /* the time begins when it has registered */
	while (!program->has_ended && !s->signal && !s->give_up && !s->stopped) {
		bool polls = helper > 0 || !program->is_watched;

		single_turn(s, polls ? fx_monotonic_ns() + PROGRAM_LOOK_NS : UINT64_MAX);
		if (!program->is_watched)
			single_program_ready(s);
		if (helper > 0 && waitpid(helper, &status, WNOHANG) == helper) {
			helper = 0;
			if (status != 0)
				return false;
			if (s->config->duration_ns)
				s->stop_at = fx_monotonic_ns() + s->config->duration_ns;
		}
	}
	while (helper > 0 && !s->give_up) {
		single_turn(s, fx_monotonic_ns() + PROGRAM_LOOK_NS);
		if (waitpid(helper, &status, WNOHANG) == helper)
			helper = 0;
	}
	fx_roster_serve(&s->roster);
	fx_single_stop(s);
	return helper == 0 && status == 0;
}

void fx_single_run_private(struct fx_single *s, int fd, pid_t pid)
{
	uint64_t deadline = fx_monotonic_ns() + PRIVATE_PATIENCE_NS;
	int r = fx_registry_adopt(&s->roster.registry, fd, pid);

	if (r < 0)
		close(fd);
	while (r == 0 && !s->give_up && fx_monotonic_ns() < deadline) {
		single_turn(s, deadline);
		if (s->roster.providers)
			deadline = fx_monotonic_ns() + PRIVATE_LINGER_NS;
	}
}
