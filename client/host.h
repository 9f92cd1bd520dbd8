/* SPDX-License-Identifier: MIT */
/* A host that is reached by ssh: what it sends becomes a file, and what it says another. */
#ifndef FX_CLIENT_HOST_H
#define FX_CLIENT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fx_host {
	char *name;
	char *archive, *messages; /* files; owned */
	pid_t pid;		  /* of ssh; 0: it has ended */
	int life;		  /* what it reads; -1: closed */
	int status;
	bool has_recorded;
};

/* Runs a script there. Its ssh is in a group of its own: ^C is for us, who end it in order. 0 or -errno. */
int fx_host_start(struct fx_host *host, char *script);

/* Ends what it reads, which ends what it does. */
void fx_host_end(struct fx_host *host);

/* Whether it has said this line. */
bool fx_host_has_said(const struct fx_host *host, const char *line);

/* How many lines that it has said begin so; the numbers that follow in the first and the last of them. */
unsigned fx_host_numbers(const struct fx_host *host, const char *beginning, uint64_t *ret_first,
			 uint64_t *ret_last);

/* Whether something has come of its archive. */
bool fx_host_has_sent(const struct fx_host *host);

/* Whether it has recorded something; else a line of the command's says why not. */
bool fx_host_has_recorded(const struct fx_host *host, const char *command);

#endif
