/* SPDX-License-Identifier: MIT */
/*
 * Commands on several hosts (hosts.h) between their units: hosts-script.c has what is run there, hosts.c the hosts and what becomes of
 * what they send, hosts-snapshot.c the moment that they have in common, hosts-rounds.c such moments again and again while they are
 * recorded, hosts-watch.c the waiting until something has changed.
 */
#ifndef FX_CLIENT_HOSTS_INTERNAL_H
#define FX_CLIENT_HOSTS_INTERNAL_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/host.h"
#include "client/hosts.h"

typedef FX_VECTOR(struct fx_host) fx_host_list;

/* Of `fxtrace record' with the words, and this program; NULL: no memory. */
char *fx_hosts_script(struct fx_hosts *hosts, char **program);

/* --- What is run ------------------------------------------------------------------------------ */

struct fx_hosts_job {
	const char *list; /* a comma list */
	char *script;	  /* NULL: there was no memory for it */
	const char *command, *output;
	/* Between the start of all and their end. `folder': where comes what they send; `set': the signals that are blocked. False: one of
	 * these came. NULL: nothing. */
	bool (*meanwhile)(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			  const sigset_t *set);
	/* All have ended; `told': a signal came. False: nothing is made of it, and nothing said. NULL: true. */
	bool (*ended)(const struct fx_hosts_job *job, const fx_host_list *hosts, bool told);
	/* Of a host that waits for a snapshot: whether one had been called for before it did. NULL: nobody knows. */
	bool (*was_called)(const struct fx_hosts_job *job, const struct fx_host *host);
	void *opaque;
};

/* Runs the script on all hosts of the list, and makes one archive of what they send. Returns the status to exit with. */
int fx_hosts_run(const struct fx_hosts_job *job);

/* Looks who has ended. False: all have. */
bool fx_hosts_reap(fx_host_list *hosts);

/* --- Waiting ---------------------------------------------------------------------------------- */

/* Milliseconds that a host may take until it records, or waits. */
enum { FX_HOSTS_PATIENCE_MS = 30000 };

struct fx_hosts_watch {
	int files, signals; /* descriptors */
	uint64_t begin;	    /* ms */
};

/* 0 or -errno. */
int fx_hosts_watch_open(const char *folder, const sigset_t *set, struct fx_hosts_watch *ret);

/* Waits until something may have changed, or patience is over, if there is any. False: a signal is to end all. */
bool fx_hosts_watch_wait(const struct fx_hosts_watch *watch, bool has_patience);

bool fx_hosts_watch_is_over(const struct fx_hosts_watch *watch);

void fx_hosts_watch_close(struct fx_hosts_watch *watch);

/* --- Snapshots -------------------------------------------------------------------------------- */

/* For a job whose script has each host wait: a moment that they have in common; now, or when one calls for it. */
bool fx_hosts_moment_now(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			 const sigset_t *set);
bool fx_hosts_moment_called(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			    const sigset_t *set);

/* The script. */
#define FX_HOSTS_SCRIPT_SNAPSHOT "exec fxtrace snapshot --await -o -"

/* For a job that records, of the opaque struct fx_hosts_rounds: whenever the manager of one host takes a snapshot by its triggers, all do,
 * and these are an archive beside `output'. */
struct fx_hosts_rounds {
	pid_t pid; /* of the process that looks after it; 0: none */
};
bool fx_hosts_rounds_begin(const struct fx_hosts_job *job, fx_host_list *hosts, const char *folder,
			   const sigset_t *set);
bool fx_hosts_rounds_end(const struct fx_hosts_job *job, const fx_host_list *hosts, bool told);

#endif
