/* SPDX-License-Identifier: MIT */
#include "manager/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "manager/owner.h"
#include "manager/pace.h"
#include "manager/provider.h"
#include "manager/registry.h"
#include "manager/report.h"
#include "manager/snapshot.h"
#include "manager/terms.h"

#define MS UINT64_C(1000000)

/* What waits for the writer, in bytes. */
#define QUEUE_LIMIT (UINT64_C(256) << 20)

/* How long threads get to finish the record that they are writing when tracing stops. */
#define STOP_GRACE_NS (2 * MS)

/* A private session ends when it has had no provider for this long. */
#define PRIVATE_LINGER_NS (200 * MS)

/* The first provider of a private session must show up within this time. */
#define PRIVATE_PATIENCE_NS (5000 * MS)

/* Held chunks and thread names are looked at this often, however little happens. */
#define SLOW_PERIOD_NS (500 * MS)

struct fx_session {
	const struct fx_session_config *config;
	struct fx_output *output; /* until the writer has it */
	struct fx_writer *writer; /* NULL before begin */
	struct fx_poller poller;
	struct fx_owner owner;
	struct fx_registry registry;
	enum fx_clock_kind clock_kind;
	struct fx_anchor first_anchor;
	uint64_t epoch;
	bool stopped; /* tracing has ended for good */
	struct fx_provider *providers;
	struct fx_provider *newcomer; /* between admit() and admitted() */
	bool newcomer_exec;	      /* it was another program before */
	uint32_t next_id;
	uint32_t left_alive;
	uint32_t refused; /* processes that could not be traced */

	struct fx_pace pace;
	uint64_t next_slow; /* CLOCK_MONOTONIC ns */
	uint64_t stop_at;   /* the same; 0: when the program ends */
	bool rang;	    /* a half was full */

	pid_t child; /* 0 none */
	int child_pidfd;
	bool child_ended;
	bool child_status; /* wait_status says how */
	int wait_status;
	int signal_fd;
	sigset_t old_mask;
	bool give_up; /* told twice to end */
	int told;     /* the signal that told once */

	struct fx_snapshots snapshots;
	unsigned snapshot_count;

	struct fx_watch bell_watch, child_watch, signal_watch;
};

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ticks_now(const struct fx_session *s)
{
	return fx_ticks(s->clock_kind);
}

/* --- Snapshots and alerts --------------------------------------------------------------------- */

static void take_snapshot(struct fx_session *s)
{
	if (s->stopped || s->config->mode != FX_MODE_CIRCULAR)
		return;
	fx_snapshot_take_beside(&s->snapshots, s->config, s->clock_kind, s->first_anchor,
				++s->snapshot_count, s->providers);
}

static void alert(struct fx_session *s, const char *name)
{
	switch (fx_terms_trigger(s->config, name)) {
	case FX_TRIGGER_STOP:
		s->stop_at = monotonic_ns();
		break;
	case FX_TRIGGER_SNAPSHOT:
		take_snapshot(s);
		break;
	}
}

static void read_packets(struct fx_session *s, struct fx_provider *p)
{
	char name[FX_ALERT_NAME_MAX + 1];
	struct fx_packet packet;

	for (unsigned i = 0; i < FX_PACKETS && fx_provider_packet(p, &packet); i++) {
		if (packet.request != FX_PACKET_ALERT)
			continue;
		fx_packet_alert_name(&packet, name);
		alert(s, name);
	}
}

/* --- Providers ------------------------------------------------------------------------------- */

/* The provider writes no more. */
static void provider_gone(struct fx_session *s, struct fx_provider *p)
{
	fx_poller_remove(&s->poller, p->pidfd);
	fx_provider_end(p, ticks_now(s));
}

static void death_ready(void *opaque)
{
	struct fx_provider *p = opaque;

	provider_gone(p->owner, p);
	/* Before the rest of it goes into the archive: a snapshot has it too. */
	alert(p->owner, FX_ALERT_DEATH);
}

static int watch_death(struct fx_session *s, struct fx_provider *p)
{
	p->owner = s;
	p->death = (struct fx_watch){.ready = death_ready, .opaque = p};
	return fx_poller_add(&s->poller, p->pidfd, &p->death);
}

/* Goes on with those that have ended. True if none is left of them. */
static bool finish_ended(struct fx_session *s)
{
	struct fx_queue *queue = fx_writer_queue(s->writer);
	struct fx_provider **at = &s->providers;
	bool all = true;

	while (*at) {
		struct fx_provider *p = *at;
		bool ended = p->phase != FX_PROVIDER_LIVE;

		if (ended && fx_provider_finish(p, queue)) {
			*at = p->next;
			fx_provider_destroy(p);
			continue;
		}
		if (ended)
			all = false;
		at = &p->next;
	}
	return all;
}

/* A process that registers again runs another program now: what it was before has ended. False if
 * it was nothing before. */
static bool end_predecessor(struct fx_session *s, pid_t pid)
{
	struct fx_provider *p;
	bool found = false;

	for (p = s->providers; p; p = p->next) {
		if (p->pid != pid || p->phase != FX_PROVIDER_LIVE)
			continue;
		provider_gone(s, p);
		found = true;
	}
	if (found)
		finish_ended(s);
	return found;
}

static void refused(struct fx_session *s, const char *name, pid_t pid, int error)
{
	s->refused++;
	fx_report("%s (%d): cannot be traced: %s", name, (int)pid, strerror(-error));
}

static int admit(void *opaque, const struct fx_applicant *applicant, struct fx_admission *ret)
{
	struct fx_session *s = opaque;
	struct fx_provider_terms terms;
	struct fx_provider *p;
	int fds[2], r;

	if (s->stopped)
		return -ESHUTDOWN;
	if (!s->config->follow && s->child && applicant->pid != s->child)
		return -EPERM;
	s->newcomer_exec = end_predecessor(s, applicant->pid);
	terms = fx_terms_for(s->config, s->clock_kind, s->first_anchor, applicant->name);
	terms.state = s->epoch << 32 | fx_terms_categories(s->config);
	r = fx_provider_create(&terms, s->next_id, applicant->pid, applicant->name, &p, fds);
	if (r < 0) {
		refused(s, applicant->name, applicant->pid, r);
		return r;
	}
	p->pidfd = applicant->pidfd;
	ret->started = 1;
	ret->control_size = p->control_size;
	ret->buffer_size = p->drain.layout.total_size;
	ret->fds[FX_FD_CONTROL] = fds[0];
	ret->fds[FX_FD_COMMON] = s->owner.fd;
	ret->fds[FX_FD_BUFFER] = fds[1];
	s->newcomer = p;
	return 0;
}

static int provider_enter(struct fx_session *s, struct fx_provider *p)
{
	int r;

	p->source = fx_writer_source(s->writer, p->id, (uint32_t)p->pid, p->name, s->newcomer_exec);
	if (!p->source)
		return -ENOMEM;
	r = watch_death(s, p);
	p->next = s->providers;
	s->providers = p;
	if (r < 0)
		fx_provider_end(p, ticks_now(s));
	return 0;
}

static void admitted(void *opaque, struct fx_admission *admission, int result)
{
	struct fx_session *s = opaque;
	struct fx_provider *p = s->newcomer;

	close(admission->fds[FX_FD_CONTROL]);
	close(admission->fds[FX_FD_BUFFER]);
	s->newcomer = NULL;
	if (result == 0)
		result = provider_enter(s, p);
	if (result < 0) {
		fx_report("%s (%d): cannot be traced: %s", p->name, (int)p->pid, strerror(-result));
		fx_provider_destroy(p);
		return;
	}
	s->next_id++;
	if (s->config->verbose)
		fx_report("tracing %s (%d)", p->name, (int)p->pid);
}

/* --- Saving ---------------------------------------------------------------------------------- */

static void poll_providers(struct fx_session *s, uint64_t now)
{
	struct fx_queue *queue = fx_writer_queue(s->writer);
	bool slow = now >= s->next_slow;
	struct fx_provider *p;
	double most = 0;

	for (p = s->providers; p; p = p->next) {
		double part = fx_provider_poll(p, queue, slow);

		read_packets(s, p);
		if (part > most)
			most = part;
	}
	finish_ended(s);
	if (slow) {
		fx_registry_expire(&s->registry);
		s->next_slow = now + SLOW_PERIOD_NS;
	}
	fx_pace_next(&s->pace, now, most, s->rang);
	s->rang = false;
}

/* One turn of the loop: something that became ready, or the time to look at the buffers. */
static void turn(struct fx_session *s, uint64_t until)
{
	uint64_t now = monotonic_ns();
	uint64_t next = s->providers ? s->pace.next : now + SLOW_PERIOD_NS;

	if (next > until)
		next = until;
	fx_poller_wait(&s->poller, next > now ? next - now : 0);
	now = monotonic_ns();
	if (s->rang || now >= s->pace.next)
		poll_providers(s, now);
}

/* --- Signals, the doorbell, the program ------------------------------------------------------ */

static void bell_ready(void *opaque)
{
	struct fx_session *s = opaque;
	eventfd_t count;

	eventfd_read(s->owner.bell_fd, &count);
	s->rang = true;
}

/* From the terminal the program got the signal itself; what was sent to us alone is passed on. Told
 * a second time, we no longer wait for the program. */
static void signal_ready(void *opaque)
{
	struct fx_session *s = opaque;
	struct signalfd_siginfo info;

	if (read(s->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR2) {
		take_snapshot(s);
		return;
	}
	if (info.ssi_code == SI_KERNEL)
		return;
	if (s->told || !s->child)
		s->give_up = true;
	s->told = (int)info.ssi_signo;
	if (s->child && !s->child_ended)
		kill(s->child, (int)info.ssi_signo);
}

static void child_ready(void *opaque)
{
	struct fx_session *s = opaque;

	pid_t pid = waitpid(s->child, &s->wait_status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	s->child_ended = true;
	s->child_status = pid == s->child;
	fx_poller_remove(&s->poller, s->child_pidfd);
}

static int signals_take(struct fx_session *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &s->old_mask);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return -errno;
	s->signal_watch = (struct fx_watch){.ready = signal_ready, .opaque = s};
	return fx_poller_add(&s->poller, s->signal_fd, &s->signal_watch);
}

static void raise_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(resource, &limit);
	}
}

/* --- Life of a session ----------------------------------------------------------------------- */

static int doors_open(struct fx_session *s, const char **ret_what)
{
	const struct fx_registry_owner owner = {.admit = admit, .admitted = admitted, .opaque = s};
	int r;

	*ret_what = "cannot make shared memory";
	r = fx_owner_init(&s->owner);
	if (r < 0)
		return r;
	*ret_what = "cannot poll";
	r = fx_poller_init(&s->poller);
	if (r < 0)
		return r;
	s->bell_watch = (struct fx_watch){.ready = bell_ready, .opaque = s};
	r = fx_poller_add(&s->poller, s->owner.bell_fd, &s->bell_watch);
	if (r < 0)
		return r;
	*ret_what = "cannot listen for providers";
	return fx_registry_init(&s->registry, &s->poller, &owner, NULL);
}

static void session_free(struct fx_session *s)
{
	fx_registry_destroy(&s->registry);
	fx_owner_destroy(&s->owner);
	fx_poller_destroy(&s->poller);
	if (s->child_pidfd >= 0)
		close(s->child_pidfd);
	if (s->signal_fd >= 0) {
		close(s->signal_fd);
		sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
	}
	if (s->output)
		fx_output_close(s->output, NULL);
	free(s);
}

int fx_session_create(const struct fx_session_config *config, struct fx_session **ret,
		      const char **ret_what)
{
	struct fx_session *s = calloc(1, sizeof(*s));
	int r;

	*ret_what = "cannot start";
	if (!s)
		return -ENOMEM;
	s->config = config;
	s->clock_kind = fx_clock_choose();
	s->first_anchor = fx_anchor_take(s->clock_kind);
	s->epoch = 1;
	s->next_id = 1;
	s->registry.listener = s->owner.fd = s->owner.bell_fd = s->poller.fd = -1;
	s->signal_fd = s->child_pidfd = -1;
	fx_snapshots_init(&s->snapshots, &s->poller);
	r = fx_output_open(config->output, &s->output);
	if (r < 0)
		*ret_what = config->output;
	else
		r = doors_open(s, ret_what);
	if (r < 0) {
		session_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

const char *fx_session_socket(const struct fx_session *s)
{
	return s->registry.path;
}

void fx_session_cancel(struct fx_session *s)
{
	session_free(s);
}

int fx_session_begin(struct fx_session *s)
{
	struct fx_writer_config config = {
	    .output = s->output,
	    .path = s->config->output,
	    .clock_kind = s->clock_kind,
	    .first_anchor = s->first_anchor,
	    .queue_limit = QUEUE_LIMIT,
	    .cure = fx_terms_cure(s->config),
	    .pairs = s->config->pairs,
	    .done_fd = -1,
	};
	int r;

	s->output = NULL; /* the writer's from here on, whatever happens */
	r = fx_writer_start(&config, &s->writer);
	if (r < 0)
		return r;
	/* A disk that is full must be an error and not a signal. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	raise_limit(RLIMIT_NOFILE); /* one for each provider, and two more while it registers */
	raise_limit(RLIMIT_FSIZE);  /* shared memory counts as a file */
	r = fx_owner_listen(&s->owner);
	if (r == 0)
		r = signals_take(s);
	fx_pace_init(&s->pace, monotonic_ns());
	if (s->config->duration_ns)
		s->stop_at = monotonic_ns() + s->config->duration_ns;
	return r;
}

/* Tells every provider to stop, waits a moment, and takes what they have. */
static void stop(struct fx_session *s)
{
	const struct timespec grace = {.tv_nsec = (long)STOP_GRACE_NS};
	struct fx_provider *p;
	uint32_t alive = 0;

	if (s->stopped)
		return;
	s->stopped = true;
	for (p = s->providers; p; p = p->next) {
		if (p->phase != FX_PROVIDER_LIVE)
			continue;
		fx_provider_set_state(p, s->epoch << 32);
		alive++;
	}
	if (alive)
		nanosleep(&grace, NULL);
	if (s->child_ended)
		s->left_alive = alive;
	for (p = s->providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE)
			provider_gone(s, p);
	}
	while (!finish_ended(s)) {
		const struct timespec nap = {.tv_nsec = (long)MS};

		nanosleep(&nap, NULL);
	}
}

void fx_session_run_program(struct fx_session *s, pid_t child)
{
	s->child = child;
	s->child_pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	s->child_watch = (struct fx_watch){.ready = child_ready, .opaque = s};
	if (s->child_pidfd >= 0)
		fx_poller_add(&s->poller, s->child_pidfd, &s->child_watch);
	while (!s->child_ended && !s->give_up) {
		uint64_t until = s->stop_at && !s->stopped ? s->stop_at : UINT64_MAX;

		turn(s, until);
		if (!s->stopped && s->stop_at && monotonic_ns() >= s->stop_at)
			stop(s);
	}
	/* Who asked to be registered, or died, before the program's end is still served. */
	while (fx_poller_wait(&s->poller, 0))
		;
}

void fx_session_run_private(struct fx_session *s, int fd, pid_t pid)
{
	uint64_t deadline = monotonic_ns() + PRIVATE_PATIENCE_NS;
	int r = fx_registry_adopt(&s->registry, fd, pid);

	if (r < 0)
		close(fd);
	while (r == 0 && !s->give_up && monotonic_ns() < deadline) {
		turn(s, deadline);
		if (!s->stopped && s->stop_at && monotonic_ns() >= s->stop_at)
			stop(s);
		if (s->providers)
			deadline = monotonic_ns() + PRIVATE_LINGER_NS;
	}
}

void fx_session_finish(struct fx_session *s, struct fx_session_result *ret)
{
	*ret = (struct fx_session_result){0};
	stop(s);
	ret->left_alive = s->left_alive;
	ret->refused = s->refused;
	ret->has_status = s->child_status;
	ret->wait_status = s->wait_status;
	ret->signal = s->give_up ? s->told : 0;
	fx_snapshots_destroy(&s->snapshots);
	ret->output_error = fx_writer_finish(s->writer, &ret->totals);
	session_free(s);
}
