/* SPDX-License-Identifier: MIT */
/*
 * What the files of the daemon share. Everything here is the control thread's.
 */
#ifndef FX_MANAGER_DAEMON_INTERNAL_H
#define FX_MANAGER_DAEMON_INTERNAL_H

#include <stdbool.h>

#include "manager/session/daemon.h"
#include "manager/door/roster.h"
#include "manager/session/snapshot.h"
#include "manager/session/states.h"
#include "protocol/messages.h"

struct fx_client {
	struct fx_client *prev, *next;
	struct fx_daemon *daemon;
	int fd;
	struct fx_watch watch;
	bool is_own;		    /* of the manager's user, or root */
	bool wants_alert;	    /* WATCH_ALERT waits for its answer */
	bool wants_categories;	    /* GET_CATEGORIES does */
	uint64_t categories_until;  /* CLOCK_MONOTONIC ns */
	char categories_after[104]; /* a name */
};

/* Providers that have ended, and are told of with a session's others. */
#define FX_GONE_MAX 512u

/* How far a change of functions has come. */
enum fx_choosing {
	FX_CHOOSING_NOTHING,
	FX_CHOOSING_SAVES, /* what was recorded before it is being saved */
	FX_CHOOSING_TELLS, /* the writer knows; tables are made for the processes */
};

/* The session, or what was left of the one before. */
struct fx_daemon_session {
	enum fx_session_state state;
	uint64_t state_since; /* CLOCK_MONOTONIC ns */
	uint64_t deadline;    /* the same: of STARTING, or until when threads may finish a record */
	uint64_t recipes_deadline;	  /* the same: of STARTING, while recipes are made */
	struct fx_msg_initialize request; /* what `config` points into */
	struct fx_provider_size sizes[FX_PROVIDER_SPECS];
	struct fx_session_config config;
	char more_words[FX_CATEGORY_LIST_MAX]; /* of the newest start */
	bool aborted;			       /* its output died; until the next INITIALIZE */
	bool results; /* what circular buffers hold is to be written at the stop under way */
	bool closed;  /* the writer has been told that nothing more comes */
	int output_error;
	struct fx_anchor first_anchor;
	struct fx_writer *writer; /* NULL in READY */
	int done_fd;
	struct fx_watch done_watch;
	struct fx_client *client; /* whose session it is; NULL: detached */
	bool is_own;		  /* it was initialized by the manager's user, or root */
	/* the clients that wait for an answer; NULL: none */
	struct fx_client *starter, *stopper, *terminator, *flusher, *chooser;
	enum fx_choosing choosing;
	uint64_t choosing_deadline; /* CLOCK_MONOTONIC ns; while processes are told */
	bool queued;		    /* what `flusher` waits for is the writer's */
	/* those that have ended in this session, by rising id; the oldest are forgotten */
	struct fx_provider_entry gone[FX_GONE_MAX];
	unsigned gone_count;
	struct fx_msg_alert alerts[FX_ALERT_QUEUE];
	unsigned alert_first, alert_count;
	unsigned
	    small_buffers;  /* providers that have not reserved as much as the session asks for */
	unsigned snapshots; /* of all kinds */
	unsigned late;	    /* that were called for as it ended */
	uint64_t untraced[FX_CAUSES]; /* processes that were refused, by why */
	unsigned beside;	      /* those that have a number */
};

struct fx_daemon {
	const struct fx_session_config *defaults;
	struct fx_ground ground;
	struct fx_roster roster;
	uint64_t epoch;	       /* of the newest start */
	uint64_t epoch_before; /* the one before the first */
	bool unnoticed;	       /* some provider may not have noticed the newest stop */
	struct fx_client *clients;
	unsigned client_count;
	struct fx_daemon_session session;
	struct fx_snapshots snapshots;
	unsigned refused;   /* processes that could not be traced */
	unsigned no_memory; /* those of them that --max-memory kept out */
	bool ending;
};

/* --- The session ----------------------------------------------------------------------------- */

/*
 * Requests of clients: 0: done; enum fx_control_error or -errno: refused; FX_ANSWER_PENDING: the client
 * gets its answer when it is done.
 */
#define FX_ANSWER_PENDING INT32_MIN

/* `fd`, -1 for none, becomes the session's; if this fails, it is closed. */
int fx_daemon_session_initialize(struct fx_daemon *d, struct fx_client *client,
				 const struct fx_msg_initialize *request, int fd);
int fx_daemon_session_start(struct fx_daemon *d, struct fx_client *client,
			    const struct fx_msg_start *request);
int fx_daemon_session_stop(struct fx_daemon *d, struct fx_client *client, bool results);
int fx_daemon_session_terminate(struct fx_daemon *d, struct fx_client *client, bool results);

/* Writes what was recorded so far. */
int fx_daemon_session_flush(struct fx_daemon *d, struct fx_client *client);

/* Records other functions from now on. */
int fx_daemon_session_choose(struct fx_daemon *d, struct fx_client *client,
			     const struct fx_msg_choose *request);
void fx_daemon_session_step_choosing(struct fx_daemon *d, uint64_t now);

/* What the client has seen of a thread goes into the archive. */
int fx_daemon_session_note(struct fx_daemon *d, const struct fx_client *client,
			   const struct fx_msg_note *request);

/* A provider enters the session while tracing is stopped. It may have recorded before that: a child brings its memory. */
void fx_daemon_session_enter_late(struct fx_daemon *d, struct fx_provider *p);

/* A provider has ended, and is to be remembered until the session ends. */
void fx_daemon_session_provider_gone(struct fx_daemon *d, const struct fx_provider *p);

/* `client` may be NULL. The output becomes the snapshot's, also if it fails. */
int fx_daemon_session_snapshot(struct fx_daemon *d, struct fx_client *client,
			       struct fx_output *output, const char *path);

/* Into a file beside the archive, for nobody in particular. Not in sessions of other users: the manager
 * itself makes the file. */
void fx_daemon_session_snapshot_beside(struct fx_daemon *d);

/* Whether there is a session that providers may be in. */
bool fx_daemon_session_is_open(const struct fx_daemon_session *t);

/* Whether tracing runs. */
bool fx_daemon_session_is_running(const struct fx_daemon_session *t);

/* An alert of provider `pid`: for the client that waits, and for triggers. */
void fx_daemon_session_alert(struct fx_daemon *d, pid_t pid, const char *name);

/* Goes on with what takes its time. To be called again at *ret_next at the latest. */
void fx_daemon_session_step(struct fx_daemon *d, uint64_t now, uint64_t *ret_next);

/* The client is gone. */
void fx_daemon_session_client_gone(struct fx_daemon *d, struct fx_client *client);

/* --- Between the files of the session -------------------------------------------------------- */

/* In daemon-session.c: */

void fx_daemon_session_enter(struct fx_daemon_session *t, enum fx_session_state state);

/* Queues what is committed now. True once all of it is. */
bool fx_daemon_session_flush_all(struct fx_daemon *d);

/* What the request means now; 0: it may go on. */
int fx_daemon_session_refuse(const struct fx_daemon_session *t, enum fx_session_request request);

/* Answers the client that waits, if there is one: none does any more. */
void fx_daemon_session_answer(struct fx_client **client, const struct fx_msg_result *result);

/* How an archive has ended. */
struct fx_msg_result fx_daemon_session_result(const struct fx_daemon_session *t,
					      const struct fx_totals *totals, int error);

/* The archive is complete. */
void fx_daemon_session_finished(struct fx_daemon *d);

/* In daemon-begin.c: goes on with a start. */
void fx_daemon_session_step_starting(struct fx_daemon *d, uint64_t now);

/* In daemon-requests.c: whether the request can be. */
bool fx_daemon_session_initialize_is_sound(const struct fx_msg_initialize *r);
bool fx_daemon_session_start_is_sound(const struct fx_daemon_session *t,
				      const struct fx_msg_start *request);

/* Of a sound request. 0 stands for the manager's own default. */
bool fx_daemon_session_sizes_are_sound(const struct fx_msg_initialize *r);

/* --- clients.c ------------------------------------------------------------------------------- */

void fx_clients_adopt(struct fx_daemon *d, int fd, const union fx_message_any *message, size_t size,
		      int passed);
void fx_clients_close_all(struct fx_daemon *d);

/* Goes on with requests that wait for providers, as fx_daemon_session_step(). */
void fx_clients_step(struct fx_daemon *d, uint64_t now, uint64_t *ret_next);

/* What is told of a provider. */
void fx_client_describe(const struct fx_daemon *d, const struct fx_provider *p,
			struct fx_provider_entry *ret);

/* Answers a request that was pending. */
void fx_client_result(struct fx_client *client, const struct fx_msg_result *result);
void fx_client_alert(struct fx_client *client, const struct fx_msg_alert *alert);

#endif
