/* SPDX-License-Identifier: MIT */
#include "manager/daemon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "manager/daemon-internal.h"
#include "manager/report.h"
#include "manager/terms.h"

#define MS UINT64_C(1000000)

/* Held chunks, thread names and packets are looked at this often, however little happens. */
#define SLOW_PERIOD_NS (500 * MS)

uint64_t fx_daemon_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- Providers ------------------------------------------------------------------------------- */

/* The provider writes no more. */
static void provider_gone(struct fx_daemon *d, struct fx_provider *p)
{
	if (p->phase != FX_PROVIDER_LIVE)
		return;
	fx_poller_remove(&d->poller, p->pidfd);
	fx_provider_end(p, fx_ticks(d->clock_kind));
	/* Before the rest of it goes into the archive: a snapshot has it too. */
	if (p->source)
		fx_trace_alert(d, p->pid, FX_ALERT_DEATH);
}

static void death_ready(void *opaque)
{
	struct fx_provider *p = opaque;

	provider_gone(p->owner, p);
	fx_daemon_finish_ended(p->owner);
}

bool fx_daemon_finish_ended(struct fx_daemon *d)
{
	struct fx_queue *queue = d->trace.writer ? fx_writer_queue(d->trace.writer) : NULL;
	struct fx_provider **at = &d->providers;
	bool all = true;

	while (*at) {
		struct fx_provider *p = *at;

		if (p->phase == FX_PROVIDER_LIVE || !fx_provider_finish(p, queue)) {
			all = all && p->phase == FX_PROVIDER_LIVE;
			at = &p->next;
			continue;
		}
		*at = p->next;
		d->provider_count--;
		fx_provider_destroy(p);
	}
	return all;
}

/* A process that registers again runs another program now: what it was before has ended. */
static bool end_predecessor(struct fx_daemon *d, pid_t pid)
{
	bool found = false;

	for (struct fx_provider *p = d->providers; p; p = p->next) {
		if (p->pid != pid || p->phase != FX_PROVIDER_LIVE)
			continue;
		fx_poller_remove(&d->poller, p->pidfd);
		fx_provider_end(p, fx_ticks(d->clock_kind));
		found = true;
	}
	if (found)
		fx_daemon_finish_ended(d);
	return found;
}

static const struct fx_session_config *config_for_newcomers(const struct fx_daemon *d)
{
	return fx_trace_is_open(&d->trace) ? &d->trace.config : d->defaults;
}

static int newcomer_create(struct fx_daemon *d, const struct fx_applicant *applicant, int fds[2])
{
	struct fx_provider_terms terms =
	    fx_terms_for(config_for_newcomers(d), d->clock_kind, d->first_anchor, applicant->name);
	int r;

	if (d->provider_count >= FX_PROVIDERS_MAX)
		return -EUSERS;
	terms.resident = true;
	r = fx_provider_create(&terms, d->next_id, applicant->pid, applicant->name, &d->newcomer,
			       fds);
	if (r < 0)
		return r;
	d->newcomer->pidfd = applicant->pidfd;
	/* Before it gets its memory: it may record at once. */
	fx_provider_join(d->newcomer, &terms, NULL);
	fx_provider_set_state(d->newcomer, fx_trace_control_state(d));
	return 0;
}

static int admit(void *opaque, const struct fx_applicant *applicant, struct fx_admission *ret)
{
	struct fx_daemon *d = opaque;
	int fds[2], r;

	d->newcomer_exec = end_predecessor(d, applicant->pid);
	r = newcomer_create(d, applicant, fds);
	if (r < 0) {
		fx_report("%s (%d): cannot be traced: %s", applicant->name, (int)applicant->pid,
			  strerror(-r));
		return r;
	}
	ret->started = (uint32_t)fx_trace_control_state(d) != 0;
	ret->control_size = d->newcomer->control_size;
	ret->buffer_size = d->newcomer->drain.layout.total_size;
	ret->fds[FX_FD_CONTROL] = fds[0];
	ret->fds[FX_FD_COMMON] = d->owner.fd;
	ret->fds[FX_FD_BUFFER] = fds[1];
	return 0;
}

static int provider_enter(struct fx_daemon *d, struct fx_provider *p)
{
	int r;

	if (fx_trace_is_open(&d->trace)) {
		p->source = fx_writer_source(d->trace.writer, p->id, (uint32_t)p->pid, p->name,
					     d->newcomer_exec);
		if (!p->source)
			return -ENOMEM;
	}
	p->owner = d;
	p->death = (struct fx_watch){.ready = death_ready, .opaque = p};
	p->next = d->providers;
	d->providers = p;
	d->provider_count++;
	r = fx_poller_add(&d->poller, p->pidfd, &p->death);
	if (r < 0)
		fx_provider_end(p, fx_ticks(d->clock_kind));
	return 0;
}

static void admitted(void *opaque, struct fx_admission *admission, int result)
{
	struct fx_daemon *d = opaque;
	struct fx_provider *p = d->newcomer;

	close(admission->fds[FX_FD_CONTROL]);
	close(admission->fds[FX_FD_BUFFER]);
	d->newcomer = NULL;
	if (result == 0)
		result = provider_enter(d, p);
	if (result < 0) {
		fx_report("%s (%d): cannot be traced: %s", p->name, (int)p->pid, strerror(-result));
		fx_provider_destroy(p);
		return;
	}
	d->next_id++;
	if (d->defaults->verbose)
		fx_report("%s (%d) registered", p->name, (int)p->pid);
}

static void client_came(void *opaque, int fd, const union fx_message_any *message, size_t size,
			int passed)
{
	fx_clients_adopt(opaque, fd, message, size, passed);
}

/* --- Saving ---------------------------------------------------------------------------------- */

static void read_packets(struct fx_daemon *d, struct fx_provider *p)
{
	char name[FX_ALERT_NAME_MAX + 1];
	struct fx_packet packet;

	for (unsigned i = 0; i < FX_PACKETS && fx_provider_packet(p, &packet); i++) {
		if (packet.request != FX_PACKET_ALERT)
			continue;
		fx_packet_alert_name(&packet, name);
		fx_trace_alert(d, p->pid, name);
	}
}

/* Whether tracing runs or what it left is being saved. */
static bool is_busy(const struct fx_daemon *d)
{
	return d->trace.state == FX_SESSION_STARTING || d->trace.state == FX_SESSION_STARTED;
}

static void poll_providers(struct fx_daemon *d, uint64_t now)
{
	struct fx_queue *queue = fx_writer_queue(d->trace.writer);
	bool slow = now >= d->next_slow;
	double most = 0;

	for (struct fx_provider *p = d->providers; p; p = p->next) {
		double part = fx_provider_poll(p, queue, slow);

		read_packets(d, p);
		if (part > most)
			most = part;
	}
	fx_daemon_finish_ended(d);
	if (slow)
		d->next_slow = now + SLOW_PERIOD_NS;
	fx_pace_next(&d->pace, now, most, d->rang);
	d->rang = false;
}

/* --- Signals and the doorbell ---------------------------------------------------------------- */

static void bell_ready(void *opaque)
{
	struct fx_daemon *d = opaque;
	eventfd_t count;

	eventfd_read(d->owner.bell_fd, &count);
	d->rang = true;
}

static void signal_ready(void *opaque)
{
	struct fx_daemon *d = opaque;
	struct signalfd_siginfo info;

	if (read(d->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR2)
		fx_trace_snapshot_beside(d);
	else
		d->ending = true;
}

static int signals_take(struct fx_daemon *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &d->old_mask);
	/* A disk that is full, or a pipe that nobody reads, must be an error and not a signal. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signal_fd < 0)
		return -errno;
	d->signal_watch = (struct fx_watch){.ready = signal_ready, .opaque = d};
	return fx_poller_add(&d->poller, d->signal_fd, &d->signal_watch);
}

static void raise_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(resource, &limit);
	}
}

/* --- Life of the daemon ---------------------------------------------------------------------- */

static int doors_open(struct fx_daemon *d, const char *socket, const char **ret_what)
{
	const struct fx_registry_owner owner = {
	    .admit = admit, .admitted = admitted, .client = client_came, .opaque = d};
	int r;

	*ret_what = "cannot make shared memory";
	r = fx_owner_init(&d->owner);
	if (r < 0)
		return r;
	*ret_what = "cannot poll";
	r = fx_poller_init(&d->poller);
	if (r < 0)
		return r;
	d->bell_watch = (struct fx_watch){.ready = bell_ready, .opaque = d};
	r = fx_poller_add(&d->poller, d->owner.bell_fd, &d->bell_watch);
	if (r == 0)
		r = signals_take(d);
	if (r < 0)
		return r;
	*ret_what = socket;
	r = fx_registry_init(&d->registry, &d->poller, &owner, socket);
	return r < 0 ? r : fx_owner_listen(&d->owner);
}

static void daemon_free(struct fx_daemon *d)
{
	fx_clients_close_all(d);
	if (d->poller.fd >= 0)
		fx_snapshots_destroy(&d->snapshots);
	fx_registry_destroy(&d->registry);
	while (d->providers) {
		struct fx_provider *p = d->providers;

		d->providers = p->next;
		fx_provider_destroy(p);
	}
	fx_owner_destroy(&d->owner);
	fx_poller_destroy(&d->poller);
	if (d->signal_fd >= 0) {
		close(d->signal_fd);
		sigprocmask(SIG_SETMASK, &d->old_mask, NULL);
	}
	free(d);
}

int fx_daemon_create(const char *socket, const struct fx_session_config *defaults,
		     struct fx_daemon **ret, const char **ret_what)
{
	struct fx_daemon *d = calloc(1, sizeof(*d));
	int r;

	*ret_what = "cannot start";
	if (!d)
		return -ENOMEM;
	d->defaults = defaults;
	d->clock_kind = fx_clock_choose();
	d->first_anchor = fx_anchor_take(d->clock_kind);
	d->next_id = 1;
	d->registry.listener = d->owner.fd = d->owner.bell_fd = d->poller.fd = d->signal_fd = -1;
	fx_snapshots_init(&d->snapshots, &d->poller);
	raise_limit(RLIMIT_NOFILE); /* one for each provider, and two more while it registers */
	raise_limit(RLIMIT_FSIZE);  /* shared memory counts as a file */
	r = doors_open(d, socket, ret_what);
	if (r < 0) {
		daemon_free(d);
		return r;
	}
	fx_pace_init(&d->pace, fx_daemon_now());
	*ret = d;
	return 0;
}

/* One turn of the loop: something that became ready, or the time to go on with something. */
static void turn(struct fx_daemon *d)
{
	uint64_t now = fx_daemon_now();
	uint64_t next = now + SLOW_PERIOD_NS;

	fx_trace_step(d, now, &next);
	if (is_busy(d) && d->providers && d->pace.next < next)
		next = d->pace.next;
	fx_poller_wait(&d->poller, next > now ? next - now : 0);
	now = fx_daemon_now();
	if (is_busy(d) && (d->rang || now >= d->pace.next))
		poll_providers(d, now);
	fx_registry_expire(&d->registry);
}

void fx_daemon_run(struct fx_daemon *d)
{
	while (!d->ending)
		turn(d);
	/* Nobody waits for an answer any more; what was recorded is written. */
	fx_clients_close_all(d);
	fx_trace_terminate(d, NULL, true);
	while (d->trace.state != FX_SESSION_READY)
		turn(d);
	daemon_free(d);
}
