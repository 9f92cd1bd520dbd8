/* SPDX-License-Identifier: MIT */
/*
 * The roster: the providers of a manager, from the moment that they knock to the last record saved.
 *
 *	knock -> host's welcome() -> memory made and sent -> host's enter() -> polled ...
 *	... -> dead, or another program: what is left is saved -> forgotten
 *
 * Which process is let in on which terms, and which archive it records into, is the host's to say: the manager of a
 * single session (single.c) or the daemon (daemon.c). Everything here is the control thread's.
 */
#ifndef FX_MANAGER_ROSTER_H
#define FX_MANAGER_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "manager/settings/clock.h"
#include "manager/door/ground.h"
#include "manager/settings/losses.h"
#include "manager/door/pace.h"
#include "manager/door/provider.h"
#include "manager/door/recipes.h"
#include "manager/door/registry.h"
#include "manager/door/prepared.h"

/* Providers at one time; more are refused. */
#define FX_PROVIDERS_MAX 1000u

/* Those of one user who is neither root nor the manager's own, so that none keeps out all others. */
#define FX_PROVIDERS_PER_USER 250u

struct fx_roster_host {
	/* On which terms the applicant is let in: 0, or -errno if it is not wanted, which is no fault to
	 * be told of. */
	int (*welcome)(void *opaque, const struct fx_applicant *applicant,
		       struct fx_provider_terms *ret);
	/* The provider has its memory; `exec`: the process was another program before. 0, or -errno: it is
	 * not traced after all. */
	int (*enter)(void *opaque, struct fx_provider *p, bool exec);
	/* An applicant that was welcome could not be let in, as was told: -EDQUOT for want of memory, or
	 * another -errno. */
	void (*refused)(void *opaque, pid_t pid, /* 0: it was let in before */
			enum fx_cause cause);
	/* The provider has ended, and all of it is saved. May be NULL. */
	void (*leave)(void *opaque, const struct fx_provider *p);
	/* A provider of an archive raised an alert, or died. */
	void (*alert)(void *opaque, pid_t pid, const char *name);
	/* As in struct fx_registry_owner. */
	void (*client)(void *opaque, int fd, const union fx_message_any *message, size_t size,
		       int passed);
	void *opaque;
	const struct fx_policy *policy; /* as there */
};

struct fx_roster {
	struct fx_ground *ground; /* borrowed */
	struct fx_roster_host host;
	struct fx_registry registry;
	struct fx_queue *queue; /* of the archive that is being written; NULL none */
	struct fx_clock_choice clock;
	struct fx_anchor first_anchor;
	struct fx_provider *providers; /* newest first: by falling id */
	unsigned provider_count;
	uint64_t max_memory;	  /* bytes that all buffers may take; 0: any */
	uint64_t max_user_memory; /* those of a user who is not our own; 0: any */
	const char *limit;	  /* that the newest applicant would have exceeded */
	struct fx_prepared prepared;
	struct fx_provider *newcomer; /* has its memory, and is being sent it */
	bool newcomer_exec;	      /* it was another program before */
	bool newcomer_ended;
	uint32_t next_id;
	struct fx_pace pace;
	uint64_t next_slow; /* CLOCK_MONOTONIC ns */
	struct fx_recipe_maker recipes;
	bool cooking; /* somebody's recipes are being made */
};

/* Nothing yet: may be destroyed. Takes the first reading of the clocks. */
void fx_roster_clear(struct fx_roster *ret, enum fx_clock_wish wish);

/* Opens the door, as fx_registry_init() does. The roster must not move. 0 or -errno. */
int fx_roster_open(struct fx_roster *roster, struct fx_ground *ground,
		   const struct fx_roster_host *host, const char *path, int listener);
void fx_roster_destroy(struct fx_roster *roster);

/* What a session wants of functions, and of their arguments and results; NULL: it is over. */
void fx_roster_want_recipes(struct fx_roster *roster, const struct fx_session_config *config);

/* The session has another list of functions, but for the lines that it has learned (fx_roster_learn_functions()). */
void fx_roster_choose_functions(struct fx_roster *roster, const struct fx_session_config *config);

/* The session's list of functions has more lines by now: these, taken over; NULL: it has not. */
void fx_roster_learn_functions(struct fx_roster *roster, char *lines);

/* Goes on with those. True: some provider's are being made. */
bool fx_roster_makes_recipes(struct fx_roster *roster);

/* No more than `until` (CLOCK_MONOTONIC ns) waits for something to happen, and serves it; with `busy`,
 * saves what providers have recorded when it is time to. */
void fx_roster_turn(struct fx_roster *roster, bool busy, uint64_t until);

/* Tells the host of alerts that were posted and not read yet. */
void fx_roster_read_packets(struct fx_roster *roster);

/* The provider writes no more. Nothing if that was known. */
void fx_roster_end(struct fx_roster *roster, struct fx_provider *p);

/*
 * The memory that all buffers take, in bytes: of each what was reserved for its records, or what it
 * really uses, if that is more. The latter is known only where memory is limited.
 */
uint64_t fx_roster_memory(const struct fx_roster *roster);

/* Whether --max-memory or --max-user-memory is given. */
bool fx_roster_is_limited(const struct fx_roster *roster);

/* The option whose limit a newcomer's buffer of `size` bytes would exceed; NULL if none. */
const char *fx_roster_limit_exceeded(const struct fx_roster *roster, uid_t uid, uint64_t size);

/* The provider that takes the most beyond what was reserved, of all users or of those whose limit is exceeded. NULL if
 * none does. */
struct fx_provider *fx_roster_greediest(const struct fx_roster *roster, bool by_user);

/* Serves all processes that have knocked by now: a child that has brought its memory belongs to what is about to end. */
void fx_roster_serve(struct fx_roster *roster);

/* Goes on with those that have ended. True if none is left of them. */
bool fx_roster_finish_ended(struct fx_roster *roster);

#endif
