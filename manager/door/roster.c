/* SPDX-License-Identifier: MIT */
#include "manager/door/roster-internal.h"

#include <unistd.h>

#include "base/fault.h"
#include "manager/process/kin.h"
#include "manager/settings/losses.h"
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

void fx_roster_death_ready(void *opaque)
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
			fx_roster_death_ready(p);
			p = roster->providers;
		} else {
			p = p->next;
		}
	}
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

/* Before and after the list changes. */
static void recipes_stop(struct fx_roster *roster)
{
	for (struct fx_provider *p = roster->providers; p; p = p->next)
		fx_recipes_end(p);
}

static void recipes_change(struct fx_roster *roster)
{
	roster->cooking = roster->recipes.patterns != NULL;
	for (struct fx_provider *p = roster->providers; p; p = p->next)
		fx_recipes_change(p);
}

void fx_roster_choose_functions(struct fx_roster *roster, const struct fx_session_config *config)
{
	recipes_stop(roster);
	fx_recipes_choose(&roster->recipes, config);
	recipes_change(roster);
}

void fx_roster_learn_functions(struct fx_roster *roster, char *lines)
{
	if (!lines)
		return;
	recipes_stop(roster);
	fx_recipes_add(&roster->recipes, lines);
	recipes_change(roster);
	free(lines);
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

/* Before it sleeps, it makes the next process's memory. */
static void roster_wait(struct fx_roster *roster, uint64_t timeout_ns)
{
	struct fx_poller *poller = &roster->ground->poller;

	if (fx_prepared_is_due(&roster->prepared)) {
		if (fx_poller_wait(poller, 0))
			return;
		fx_prepared_fill(&roster->prepared);
	}
	fx_poller_wait(poller, timeout_ns);
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
	roster_wait(roster, next > now ? next - now : 0);
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

static void roster_client_came(void *opaque, int fd, const union fx_message_any *message,
			       size_t size, int passed)
{
	struct fx_roster *roster = opaque;

	roster->host.client(roster->host.opaque, fd, message, size, passed);
}

static bool roster_give_back(void *opaque, unsigned unless_free)
{
	struct fx_roster *roster = opaque;

	return fx_prepared_give_back(&roster->prepared, unless_free);
}

int fx_roster_open(struct fx_roster *roster, struct fx_ground *ground,
		   const struct fx_roster_host *host, const char *path, int listener)
{
	const struct fx_registry_owner owner = {
	    .admit = fx_roster_admit,
	    .admitted = fx_roster_admitted,
	    .client = host->client ? roster_client_came : NULL,
	    .turned_away = fx_roster_turned_away,
	    .give_back = roster_give_back,
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
	fx_prepared_destroy(&roster->prepared);
}
