/* SPDX-License-Identifier: MIT */
#include "manager/door/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "manager/process/kin.h"
#include "manager/settings/losses.h"
#include "manager/settings/policy.h"
#include "manager/settings/report.h"
#include "manager/settings/timebase.h"

/* Held chunks, thread names and packets are looked at this often, however little happens. */
#define SLOW_PERIOD_NS UINT64_C(500000000)

/* A process waits for its recipes: how often readers are looked after. */
#define COOK_PERIOD_NS UINT64_C(1000000)

/* Processes that knock for ever are not served for ever: for so long while nobody comes in, and no more than so many,
 * which is what a queue holds. */
#define SERVE_MAX_NS UINT64_C(2000000000)
#define SERVE_MAX    4096u

/* --- Packets ---------------------------------------------------------------------------------- */

static void read_packets(struct fx_roster *roster, struct fx_provider *p)
{
	char name[FX_ALERT_NAME_MAX + 1];
	struct fx_packet packet;

	for (unsigned i = 0; i < FX_PACKETS && fx_provider_packet(p, &packet); i++) {
		if (packet.request != FX_PACKET_ALERT)
			continue;
		fx_packet_alert_name(&packet, name);
		roster->host.alert(roster->host.opaque, p->pid, name);
	}
}

void fx_roster_read_packets(struct fx_roster *roster)
{
	for (struct fx_provider *p = roster->providers; p; p = p->next) {
		if (p->phase == FX_PROVIDER_LIVE)
			read_packets(roster, p);
	}
}

/* --- Ends ------------------------------------------------------------------------------------ */

void fx_roster_end(struct fx_roster *roster, struct fx_provider *p)
{
	if (p->phase != FX_PROVIDER_LIVE)
		return;
	fx_poller_remove(&roster->ground->poller, p->pidfd);
	fx_provider_end(p, fx_ticks(roster->clock.kind));
}

bool fx_roster_finish_ended(struct fx_roster *roster)
{
	struct fx_provider **at = &roster->providers;
	bool all = true;

	while (*at) {
		struct fx_provider *p = *at;

		if (p->phase == FX_PROVIDER_LIVE || !fx_provider_finish(p, roster->queue)) {
			all = all && p->phase == FX_PROVIDER_LIVE;
			at = &p->next;
			continue;
		}
		if (roster->host.leave)
			roster->host.leave(roster->host.opaque, p);
		*at = p->next;
		roster->provider_count--;
		fx_provider_set_stopped(p);
		fx_recipes_end(p);
		fx_provider_destroy(p);
	}
	return all;
}

static bool is_thread_of(void *opaque, uint32_t tid)
{
	const struct fx_provider *p = opaque;

	return tid == (uint32_t)p->pid || fx_drain_has_thread(&p->drain, tid);
}

static void death_ready(void *opaque)
{
	struct fx_provider *p = opaque;
	struct fx_roster *roster = p->owner;

	FX_FAULT(provider_died);
	read_packets(roster, p); /* its last words */
	fx_ending_learn(&p->ending, p->pidfd, p->pid, is_thread_of, p);
	fx_roster_end(roster, p);
	/* Before the rest of it goes into the archive: a snapshot has it too. */
	if (p->inlet)
		roster->host.alert(roster->host.opaque, p->pid, FX_ALERT_DEATH);
	fx_roster_finish_ended(roster);
}

/* The ends of processes that have no pidfd, one at a time: they change the list. */
static void notice_ends(struct fx_roster *roster)
{
	struct fx_provider *p = roster->providers;

	while (p) {
		if (p->phase == FX_PROVIDER_LIVE && p->pidfd < 0 && fx_kin_is_over(p->pid)) {
			death_ready(p);
			p = roster->providers;
		} else {
			p = p->next;
		}
	}
}

/* A process that registers again runs another program now: what it was before has ended, and is still to be finished.
 * False if it was nothing before: another process that had its number may have ended unnoticed. */
static bool end_predecessor(struct fx_roster *roster, const struct fx_applicant *applicant)
{
	struct fx_provider *p = roster->providers;
	bool found = false;

	while (p) {
		struct fx_provider *next = p->next;
		bool has_number = p->pid == applicant->pid && p->phase == FX_PROVIDER_LIVE;

		if (has_number && fx_kin_may_be_same(p->pidfd, applicant->pidfd)) {
			fx_roster_end(roster, p);
			found = true;
		} else if (has_number && !fx_kin_lives(p->pidfd)) {
			death_ready(p);
			next = roster->providers;
		}
		p = next;
	}
	return found;
}

/* --- Memory ---------------------------------------------------------------------------------- */

static void expel(struct fx_roster *roster, struct fx_provider *p, const char *limit)
{
	fx_report("%s (%d): not traced any more: it uses more memory than %s allows", p->name,
		  (int)p->pid, limit);
	fx_provider_stop(p, 0, 0);
	fx_roster_end(roster, p);
	fx_roster_finish_ended(roster);
	roster->host.refused(roster->host.opaque, 0, FX_CAUSE_MEMORY);
}

/* A provider can use the whole of its memory, not only the part for records. If that makes it too much,
 * the greediest goes: its memory is its own business again. */
static void enforce_memory(struct fx_roster *roster)
{
	struct fx_provider *worst = NULL;

	if (roster->max_memory && fx_roster_memory(roster) > roster->max_memory)
		worst = fx_roster_greediest(roster, false);
	if (worst)
		expel(roster, worst, "--max-memory");
	worst = roster->max_user_memory ? fx_roster_greediest(roster, true) : NULL;
	if (worst)
		expel(roster, worst, "--max-user-memory");
}

/* --- Admission ------------------------------------------------------------------------------- */

/* What a refusal is counted as; FX_CAUSES: it is told alone. */
static enum fx_cause cause_of(const struct fx_provider *p, int error)
{
	if (error == -EDQUOT)
		return FX_CAUSE_MEMORY;
	if (error != -EPIPE && error != -ECONNRESET && error != -ESRCH)
		return FX_CAUSES;
	/* The other end of its connection is gone: the process too, or it has stopped waiting. */
	return p && !fx_kin_is_ending(p->pid) ? FX_CAUSE_LATE : FX_CAUSE_EARLY;
}

static void roster_refuse(const struct fx_roster *roster, const char *name, pid_t pid, int error)
{
	enum fx_cause cause = cause_of(roster->newcomer, error);
	char why[96];

	roster->host.refused(roster->host.opaque, pid, cause);
	if (cause == FX_CAUSE_EARLY || cause == FX_CAUSE_LATE)
		return;
	if (error == -EDQUOT)
		snprintf(why, sizeof(why), "its buffer would exceed %s", roster->limit);
	else if (error == -EUSERS)
		snprintf(why, sizeof(why), "as many are as can be");
	else if (error == -ETOOMANYREFS)
		snprintf(why, sizeof(why), "too many others waited to be known");
	else
		snprintf(why, sizeof(why), "%s", fx_report_why(error));
	fx_report("%s (%d): cannot be traced: %s", name, (int)pid, why);
}

static unsigned count_of_user(const struct fx_roster *roster, uid_t uid)
{
	unsigned count = 0;

	for (const struct fx_provider *p = roster->providers; p; p = p->next)
		count += p->uid == uid;
	return count;
}

/* A child's memory is as large as its parent's, which an earlier session may have asked for. */
static uint64_t roster_reserve_of(const struct fx_roster *roster,
				  const struct fx_applicant *applicant,
				  const struct fx_provider_terms *terms)
{
	if (!terms->resident)
		return terms->buffer_size;
	for (const struct fx_provider *p = roster->providers; applicant->brought && p;
	     p = p->next) {
		if (p->uid == applicant->uid && p->buffer_size == applicant->brought->buffer_size)
			return p->reserve;
	}
	return terms->reserve;
}

static int newcomer_make(struct fx_roster *roster, const struct fx_applicant *applicant,
			 const struct fx_provider_terms *terms, int fds[2])
{
	int r;

	if (applicant->brought && applicant->brought->fd < 0)
		return -ETOOMANYREFS;
	if (applicant->brought) {
		r = fx_provider_adopt(terms, roster->next_id, applicant->pid, applicant->name,
				      applicant->brought, &roster->newcomer);
		if (r == 0)
			fx_recipes_inherit(&roster->recipes, roster->newcomer);
		return r;
	}
	r = fx_provider_create(terms, roster->next_id, applicant->pid, applicant->name,
			       &roster->newcomer, fds);
	if (r == 0)
		fx_recipes_begin(&roster->recipes, roster->newcomer);
	return r;
}

static void memory_close(const int fds[2])
{
	for (unsigned i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* The kernel does not tell any more what the process was and where it lived, but it knew its own number and its parent's. */
static void origin_complete(const struct fx_roster *roster, const struct fx_applicant *applicant,
			    struct fx_origin *origin)
{
	if (!origin || !applicant->own_pid || !fx_origin_is_orphan(origin))
		return;
	for (const struct fx_provider *q = roster->providers; q; q = q->next) {
		if (q->origin && q->uid == applicant->uid &&
		    fx_origin_first_tid(q->origin) == applicant->own_parent) {
			fx_origin_inherit(origin, q->origin);
			return;
		}
	}
}

static int newcomer_create(struct fx_roster *roster, const struct fx_applicant *applicant,
			   struct fx_provider_terms *terms, int fds[2])
{
	struct fx_provider *p;
	int r;

	if (roster->provider_count >= FX_PROVIDERS_MAX ||
	    (!fx_policy_is_own(applicant->uid) &&
	     count_of_user(roster, applicant->uid) >= FX_PROVIDERS_PER_USER))
		return -EUSERS;
	terms->reserve = roster_reserve_of(roster, applicant, terms);
	roster->limit = fx_roster_limit_exceeded(roster, applicant->uid, terms->reserve);
	if (roster->limit)
		return -EDQUOT;
	r = newcomer_make(roster, applicant, terms, fds);
	if (r < 0)
		return r;
	p = roster->newcomer;
	p->pidfd = applicant->pidfd;
	p->uid = applicant->uid;
	p->origin = fx_origin_take(applicant->pid, applicant->uid, applicant->own_pid);
	origin_complete(roster, applicant, p->origin);
	if (p->origin && !p->origin->levels)
		p->origin->said_parent = applicant->own_parent;
	p->owner = roster;
	p->death = (struct fx_watch){.ready = death_ready, .opaque = p};
	if (p->pidfd >= 0)
		r = fx_poller_add(&roster->ground->poller, p->pidfd, &p->death);
	if (r < 0) {
		p->pidfd = -1; /* the applicant's */
		fx_recipes_end(p);
		fx_provider_destroy(p);
		roster->newcomer = NULL;
		memory_close(fds);
	}
	return r;
}

/* Whether an ended provider that is not finished yet may count where limits are looked at. */
static bool ended_may_count(const struct fx_roster *roster, const struct fx_applicant *applicant)
{
	return fx_roster_is_limited(roster) || !fx_policy_is_own(applicant->uid) ||
	       roster->provider_count >= FX_PROVIDERS_MAX;
}

static int dup_memory(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* To save what the predecessor has left takes longer than all else here, and the process waits for the answer: so that is
 * done in admitted(). */
static int admit(void *opaque, const struct fx_applicant *applicant, struct fx_admission *ret)
{
	struct fx_roster *roster = opaque;
	struct fx_provider_terms terms;
	int fds[2] = {-1, -1}, r;

	r = roster->host.welcome(roster->host.opaque, applicant, &terms);
	if (r < 0)
		return r;
	roster->newcomer_ended = applicant->ended;
	roster->newcomer_exec = end_predecessor(roster, applicant);
	if (ended_may_count(roster, applicant))
		fx_roster_finish_ended(roster);
	r = newcomer_create(roster, applicant, &terms, fds);
	if (r < 0) {
		fx_roster_finish_ended(roster);
		roster_refuse(roster, applicant->name, applicant->pid, r);
		return r;
	}
	if (applicant->brought) {
		/* A child is nobody's next program: the process that had its number is gone. */
		if (roster->newcomer_exec)
			fx_roster_finish_ended(roster);
		roster->newcomer_exec = false;
		if (fx_roster_is_limited(roster))
			fds[1] = dup_memory(applicant->brought->fd);
	}
	ret->started = terms.running;
	ret->control_size = roster->newcomer->control_size;
	ret->buffer_size = roster->newcomer->drain.layout.total_size;
	ret->fds[FX_FD_CONTROL] = fds[0];
	ret->fds[FX_FD_COMMON] = roster->ground->owner.fd;
	ret->fds[FX_FD_BUFFER] = fds[1];
	return 0;
}

static int newcomer_enter(struct fx_roster *roster, struct fx_provider *p)
{
	int r = roster->host.enter(roster->host.opaque, p, roster->newcomer_exec);

	if (r < 0)
		return r;
	p->next = roster->providers;
	roster->providers = p;
	roster->provider_count++;
	roster->next_id++;
	return 0;
}

static void admitted(void *opaque, struct fx_admission *admission, int result)
{
	struct fx_roster *roster = opaque;
	struct fx_provider *p = roster->newcomer;

	if (admission->fds[FX_FD_CONTROL] >= 0)
		close(admission->fds[FX_FD_CONTROL]);
	if (fx_roster_is_limited(roster))
		p->buffer_fd = admission->fds[FX_FD_BUFFER];
	else if (admission->fds[FX_FD_BUFFER] >= 0)
		close(admission->fds[FX_FD_BUFFER]);
	/* Before the newcomer enters: the archive has them in this order. */
	if (roster->newcomer_exec)
		fx_roster_finish_ended(roster);
	if (result == 0)
		result = newcomer_enter(roster, p);
	if (result < 0) {
		roster_refuse(roster, p->name, p->pid, result);
		fx_poller_remove(&roster->ground->poller, p->pidfd);
		fx_recipes_end(p);
		fx_provider_destroy(p);
	}
	roster->newcomer = NULL;
	if (result == 0 && roster->newcomer_ended)
		death_ready(p);
}

static void turned_away(void *opaque, const struct fx_applicant *applicant, int error)
{
	roster_refuse(opaque, applicant->name[0] ? applicant->name : "a process", applicant->pid,
		      error);
}

static void roster_client_came(void *opaque, int fd, const union fx_message_any *message,
			       size_t size, int passed)
{
	struct fx_roster *roster = opaque;

	roster->host.client(roster->host.opaque, fd, message, size, passed);
}

/* --- Saving ---------------------------------------------------------------------------------- */

void fx_roster_want_recipes(struct fx_roster *roster, const struct fx_session_config *config)
{
	for (struct fx_provider *p = roster->providers; p; p = p->next)
		fx_recipes_end(p);
	fx_recipes_want(&roster->recipes, config);
	roster->cooking = roster->recipes.patterns != NULL;
	for (struct fx_provider *p = roster->providers; p; p = p->next)
		fx_recipes_renew(&roster->recipes, p);
}

bool fx_roster_makes_recipes(struct fx_roster *roster)
{
	roster->cooking = false;
	for (struct fx_provider *p = roster->providers; p && roster->recipes.patterns; p = p->next)
		roster->cooking = fx_recipes_turn(&roster->recipes, p) || roster->cooking;
	return roster->cooking;
}

static void poll_all(struct fx_roster *roster, uint64_t now)
{
	bool slow = now >= roster->next_slow;
	double most = 0;

	fx_roster_makes_recipes(roster);

	for (struct fx_provider *p = roster->providers; p; p = p->next) {
		double part = fx_provider_poll(p, roster->queue, slow);

		read_packets(roster, p);
		if (part > most)
			most = part;
	}
	fx_roster_finish_ended(roster);
	if (slow) {
		enforce_memory(roster);
		roster->next_slow = now + SLOW_PERIOD_NS;
	}
	fx_pace_next(&roster->pace, now, most, roster->ground->rang);
	roster->ground->rang = false;
}

void fx_roster_turn(struct fx_roster *roster, bool busy, uint64_t until)
{
	uint64_t now = fx_monotonic_ns();
	uint64_t next = now + SLOW_PERIOD_NS;

	if (busy && roster->providers && roster->pace.next < next)
		next = roster->pace.next;
	if (busy && roster->cooking && now + COOK_PERIOD_NS < next)
		next = now + COOK_PERIOD_NS;
	if (until < next)
		next = until;
	fx_poller_wait(&roster->ground->poller, next > now ? next - now : 0);
	now = fx_monotonic_ns();
	if (busy && (roster->ground->rang || now >= roster->pace.next))
		poll_all(roster, now);
	else if (busy && roster->cooking)
		fx_roster_makes_recipes(roster);
	notice_ends(roster);
	fx_registry_expire(&roster->registry);
}

void fx_roster_serve(struct fx_roster *roster)
{
	const struct fx_registry *registry = &roster->registry;
	uint64_t before = registry->accepted, seen = before;
	uint64_t now = fx_monotonic_ns(), until = now + SERVE_MAX_NS;

	for (; now < until && fx_poller_wait(&roster->ground->poller, 0); now = fx_monotonic_ns()) {
		if (registry->accepted == seen || seen - before >= SERVE_MAX)
			continue;
		seen = registry->accepted;
		until = fx_monotonic_ns() + SERVE_MAX_NS;
	}
}

/* --- Life ------------------------------------------------------------------------------------ */

void fx_roster_clear(struct fx_roster *ret, enum fx_clock_wish wish)
{
	*ret = (struct fx_roster){
	    .registry.listener = -1, .registry.beside = -1, .registry.spare = -1, .next_id = 1};
	fx_clock_choose(wish, &ret->clock);
	ret->first_anchor = fx_anchor_take(ret->clock.kind);
	fx_pace_init(&ret->pace, fx_monotonic_ns());
}

/* What starts a program, or has registered, vouches for its children. */
static bool is_head(void *opaque, pid_t pid)
{
	const struct fx_roster *roster = opaque;

	for (const struct fx_provider *p = roster->providers; p; p = p->next) {
		if (p->pid == pid)
			return true;
	}
	return pid == getpid();
}

int fx_roster_open(struct fx_roster *roster, struct fx_ground *ground,
		   const struct fx_roster_host *host, const char *path, int listener)
{
	const struct fx_registry_owner owner = {
	    .admit = admit,
	    .admitted = admitted,
	    .client = host->client ? roster_client_came : NULL,
	    .turned_away = turned_away,
	    .is_head = is_head,
	    .opaque = roster,
	    .policy = host->policy,
	};

	roster->ground = ground;
	roster->host = *host;
	return fx_registry_init(&roster->registry, &ground->poller, &owner, path, listener);
}

void fx_roster_destroy(struct fx_roster *roster)
{
	fx_registry_destroy(&roster->registry);
	while (roster->providers) {
		struct fx_provider *p = roster->providers;

		roster->providers = p->next;
		fx_recipes_end(p);
		fx_provider_destroy(p);
	}
	fx_recipes_destroy(&roster->recipes);
}
