/* SPDX-License-Identifier: MIT */
/* Objects whose history a report is to tell: --lock, --fd, --file, --peer. */
#ifndef FX_REPORT_WANTED_H
#define FX_REPORT_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fx_wanted_kind { FX_WANTED_LOCK, FX_WANTED_FD, FX_WANTED_FILE, FX_WANTED_PEER };

enum { FX_WANTED_MAX = 64 };

struct fx_wanted {
	enum fx_wanted_kind kind;
	const char *text;    /* as it was given; borrowed */
	const char *pattern; /* of a name, a shell pattern as in fnmatch(3); NULL: it is a number */
	uint64_t number;     /* an address, or a descriptor */
	uint64_t pid;	     /* of a lock or a descriptor: of this process alone; 0: of any */
};

/* [PID:]ADDR, [PID:]NAME, [PID:]N, PATH, or what a peer is called. False: it is nothing of this kind. */
bool fx_wanted_parse(struct fx_wanted *wanted, enum fx_wanted_kind kind, const char *text);

/* Of a lock: by its address, or by its name, with or without what it is; "mutex 0x7f10" is the name of one that has none (NULL). */
bool fx_wanted_lock(const struct fx_wanted *wanted, uint64_t pid, uint64_t address,
		    const char *what, const char *name);

bool fx_wanted_fd(const struct fx_wanted *wanted, uint64_t pid, uint64_t fd);

/* A pattern without a slash is one of the path's last part. */
bool fx_wanted_path(const struct fx_wanted *wanted, const char *path);

/*
 * "socket:[41] tcp 127.0.0.1:5000->127.0.0.1:6379": by the whole of it, or by one of its parts between blanks and arrows;
 * ":6379" is the end of one.
 */
bool fx_wanted_peer(const struct fx_wanted *wanted, const char *peer);

/* How much of its begin and of its end a text has in common with the pattern: bytes. */
size_t fx_wanted_alike(const struct fx_wanted *wanted, const char *text);

/* Whether something of this kind is wanted. */
bool fx_wanted_any(const struct fx_wanted *wanted, size_t count, enum fx_wanted_kind kind);

#endif
