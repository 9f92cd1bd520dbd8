/* SPDX-License-Identifier: MIT */
/*
 * What the commands have in common that talk to a running manager: --socket and --json, and how they
 * print.
 */
#ifndef FX_CLIENT_REMOTE_H
#define FX_CLIENT_REMOTE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/link.h"
#include "client/options.h"
#include "client/usage.h"
#include "manager/session/result.h"
#include "protocol/messages.h"

struct fx_remote {
	const char *command; /* "fxtrace status" */
	const char *socket;  /* NULL: the usual one */
	bool json;
	void *own; /* what fx_remote_run() was given: where the command keeps its own options */
};

enum {
	OPTION_SOCKET = 0x300,
	OPTION_JSON,
	OPTION_NO_RESULTS, /* of stop and terminate */
	OPTION_OF_COMMAND, /* where a command's own keys begin */
};

/* Lines of an option table. */
/* clang-format off */
#define FX_REMOTE_OPTIONS                                                                          \
	{"socket", OPTION_SOCKET, "PATH", 0,                                                       \
	 "The manager's socket ($FXTRACE_SOCKET, or fxtrace/manager.sock in the user's runtime "   \
	 "directory)", 0},                                                                         \
	{"json", OPTION_JSON, NULL, 0, "Print one JSON object", 0},                                \
	FX_USAGE_OPTIONS
/* clang-format on */

/* Takes --socket and --json; ARGP_ERR_UNKNOWN for any other key. To be called for those that are not the command's own. */
error_t fx_remote_parse(struct fx_remote *remote, int key, char *value);

/* A command that talks to a running manager. */
struct fx_remote_command {
	const char *doc;		   /* for --help */
	const struct argp_option *options; /* NULL: FX_REMOTE_OPTIONS alone */
	/* Takes an option of the command's own; false if it is none. NULL if there are none. */
	bool (*take)(const struct fx_remote *remote, int key, char *value);
	/* Whether no manager of this host is asked: then it returns an exit status; -1: one is. NULL: always. */
	int (*elsewhere)(const struct fx_remote *remote);
	/* What the command does once the link stands. Returns an exit status. */
	int (*execute)(const struct fx_remote *remote, struct fx_link *link);
	/* The same where no manager is, unless its socket was named. NULL: that is a failure. */
	int (*without)(const struct fx_remote *remote);
};

/* The whole of such a command: arguments, link, work. Returns its exit status. */
int fx_remote_run(const struct fx_remote_command *command, void *own, int argc, char **argv);

/* For commands whose one option is OPTION_NO_RESULTS: what they keep of their own is a bool. */
bool fx_remote_take_no_results(const struct fx_remote *remote, int key, char *value);

/* Buffering modes by their names; "none" for 0. */
const char *fx_mode_name(unsigned mode);

/* The registered providers, or those of the session, also such as have ended; a line each, or a JSON array.
 * 0, or FX_EXIT_FAILURE after a line that says why. */
int fx_remote_print_providers(const struct fx_remote *remote, struct fx_link *link,
			      bool of_session);

/* What RESULT says of an archive, in the words of fx_summary_print(), or as JSON. */
void fx_remote_print_archive(const struct fx_remote *remote, const struct fx_session_config *config,
			     const struct fx_msg_result *result, const char *program, bool quiet);

/* The absolute path of the manager's socket. 0 or -errno. */
int fx_remote_socket(const struct fx_remote *remote, char *ret, size_t size);

/* Shows the registered providers, or those of the session, also such as have ended. 0, or FX_EXIT_FAILURE after a line that says why. */
int fx_remote_each_provider(struct fx_link *link, bool of_session,
			    void (*see)(void *opaque, const struct fx_provider_entry *entry),
			    void *opaque);

/* The absolute form of a path, for a manager that works elsewhere; "-" stays. 0 or -errno. */
int fx_remote_path(const char *path, char *ret, size_t size);

#endif
