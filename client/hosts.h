/* SPDX-License-Identifier: MIT */
/*
 * fxtrace record --hosts and snapshot --hosts: the same command on several hosts at once, by ssh with the user's keys and configuration, and what they
 * record in one archive. Each host's manager records; its archive comes through ssh's standard output, and nothing listens. A
 * host that is down or refuses is told in a line and left out.
 */
#ifndef FX_CLIENT_HOSTS_H
#define FX_CLIENT_HOSTS_H

#include <argp.h>
#include <stdbool.h>

#include "lists/vector.h"

struct fx_hosts {
	const char *list;	 /* a comma list; NULL: this host alone */
	FX_VECTOR(char *) words; /* of the command there, quoted for a shell; owned */
};

/* Takes an option that the hosts are to be given as well. `table`: where its name stands. Exits if there is no memory. */
void fx_hosts_take(struct fx_hosts *hosts, const struct argp_option *table, int key,
		   const char *value);

/*
 * Records on all of them until all have ended; the first signal ends them. Then they are one archive, `output`. `has_snapshots`: whenever
 * the manager of one takes one by its triggers, all do, into an archive beside it. Returns the status to exit with: a failure if none has
 * recorded anything.
 */
int fx_hosts_record(struct fx_hosts *hosts, const char *command, const char *output, char **program,
		    bool has_snapshots);

/*
 * Takes a snapshot on all of them, at one moment: now, or when the manager of one takes one of its own. Then they are one archive.
 * The status to exit with.
 */
int fx_hosts_snapshot(const char *list, const char *command, const char *output, bool awaits);

/* Gives back the words. */
void fx_hosts_release(struct fx_hosts *hosts);

#endif
