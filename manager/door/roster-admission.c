/* SPDX-License-Identifier: MIT */
/* Admission: from an applicant to a provider of the roster, or to a refusal that is told and counted. */
#include "manager/door/roster-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "manager/process/kin.h"
#include "manager/settings/losses.h"
#include "manager/settings/policy.h"
#include "manager/settings/report.h"

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
			fx_roster_death_ready(p);
			next = roster->providers;
		}
		p = next;
	}
	return found;
}

/* What a refusal is counted as. */
static enum fx_cause cause_of(const struct fx_provider *p, int error)
{
	if (error == -EDQUOT)
		return FX_CAUSE_MEMORY;
	if (error != -EPIPE && error != -ECONNRESET && error != -ESRCH)
		return FX_CAUSE_REFUSED;
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
		return applicant->brought->fd == -EMFILE ? -EMFILE : -ETOOMANYREFS;
	if (applicant->brought) {
		r = fx_provider_adopt(terms, roster->next_id, applicant->pid, applicant->name,
				      applicant->brought, &roster->newcomer);
		if (r == 0)
			fx_recipes_inherit(&roster->recipes, roster->newcomer);
		return r;
	}
	r = fx_provider_create(terms, roster->next_id, applicant->pid, applicant->name,
			       &roster->prepared, &roster->newcomer, fds);
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

/* The process waits for its answer: what is known of it already it need not ask. */
static void program_tell(struct fx_provider *p)
{
	const char *program = p->origin ? fx_origin_program(p->origin) : NULL;
	size_t length = program ? strlen(program) : 0;

	if (length && length < sizeof(p->control->program))
		memcpy(p->control->program, program, length + 1);
	p->control->unfiltered = p->origin && fx_origin_is_unfiltered(p->origin);
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
	terms->is_kernel = applicant->is_kernel;
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
	p->wish = applicant->wish;
	p->origin = fx_origin_take(applicant->pid, applicant->uid, applicant->own_pid);
	origin_complete(roster, applicant, p->origin);
	if (!applicant->brought)
		program_tell(p);
	if (p->origin && !p->origin->levels)
		p->origin->said_parent = applicant->own_parent;
	p->owner = roster;
	p->death = (struct fx_watch){.ready = fx_roster_death_ready, .opaque = p};
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

/* Where there is no room for what it wishes, or its parent has got no more either, it is taken as one that wishes nothing. */
static int newcomer_without_wish(struct fx_roster *roster, const struct fx_applicant *applicant,
				 struct fx_provider_terms *terms, int fds[2])
{
	struct fx_applicant modest = *applicant;
	int r;

	memset(&modest.wish, 0, sizeof(modest.wish));
	r = roster->host.welcome(roster->host.opaque, &modest, terms);
	return r < 0 ? r : newcomer_create(roster, &modest, terms, fds);
}

/* To save what the predecessor has left takes longer than all else here, and the process waits for the answer: so that is
 * done in fx_roster_admitted(). */
int fx_roster_admit(void *opaque, const struct fx_applicant *applicant, struct fx_admission *ret)
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
	if (r < 0 && (applicant->wish.buffer_size || applicant->wish.mode))
		r = newcomer_without_wish(roster, applicant, &terms, fds);
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

void fx_roster_admitted(void *opaque, struct fx_admission *admission, int result)
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
		fx_roster_death_ready(p);
}

void fx_roster_turned_away(void *opaque, const struct fx_applicant *applicant, int error)
{
	roster_refuse(opaque, applicant->name[0] ? applicant->name : "a process", applicant->pid,
		      error);
}
