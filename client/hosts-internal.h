/* SPDX-License-Identifier: MIT */
/*
 * Commands on several hosts (hosts.h) between their units: hosts-script.c has what is run there, hosts.c the hosts and what becomes of
 * what they send, hosts-snapshot.c the moment that they have in common.
 */
#ifndef FX_CLIENT_HOSTS_INTERNAL_H
#define FX_CLIENT_HOSTS_INTERNAL_H

#include <signal.h>

#include "client/host.h"
#include "client/hosts.h"

typedef FX_VECTOR(struct fx_host) fx_host_list;

/* Of `fxtrace record' with the words, and this program; NULL: no memory. */
char *fx_hosts_script(struct fx_hosts *hosts, char **program);

/* What is done between the start of all and their end. `set': the signals that are blocked. */
typedef void fx_hosts_meanwhile(fx_host_list *hosts, const char *command, const char *folder,
				const sigset_t *set, void *opaque);

/* Runs the script on all hosts of the list, and makes one archive of what they send. Returns the status to exit with. */
int fx_hosts_run(const char *list, char *script, const char *command, const char *output,
		 fx_hosts_meanwhile *meanwhile, void *opaque);

/* Looks who has ended. False: all have. */
bool fx_hosts_reap(fx_host_list *hosts);

#endif
