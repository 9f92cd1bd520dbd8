/* SPDX-License-Identifier: MIT */
/*
 * One registered process image: its shared memory and its way to the writer. Everything here is
 * the control thread's.
 */
#ifndef FX_MANAGER_PROVIDER_H
#define FX_MANAGER_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/reader/drain.h"
#include "manager/door/foreign.h"
#include "manager/process/origin.h"
#include "manager/process/ending.h"
#include "manager/door/poller.h"
#include "manager/door/prepared.h"
#include "manager/archive/queue.h"
#include "manager/settings/settings.h"
#include "manager/settings/terms.h"
#include "manager/archive/writer.h"
#include "protocol/messages.h"

/* How long threads get to finish the record that they are writing when tracing stops, in ns. */
#define FX_STOP_GRACE_NS UINT64_C(2000000)

enum fx_provider_phase {
	FX_PROVIDER_LIVE,
	FX_PROVIDER_ENDING, /* it writes no more; what it left is being saved */
	FX_PROVIDER_OVER,
};

struct fx_recipe_owner;
struct fx_recipe_code;

/* Of a provider that has a book of recipes (manager/door/recipes.h). */
struct fx_provider_recipes {
	bool has_book;
	bool inherited;			/* its parent's tables stand in it */
	bool added;			/* something that was not said yet */
	uint32_t first, count;		/* of the book, as it is to say them */
	uint32_t used, serial;		/* the same */
	uint64_t at;			/* how far its modules are known */
	struct fx_recipe_owner *owners; /* modules */
	unsigned owner_count;
	struct fx_recipe_code *codes; /* where their code is */
	unsigned code_count, code_room;
	unsigned waiting; /* codes whose files are being read */
	bool changed;	  /* the list of functions has, and it was not told yet */
};

struct fx_provider {
	struct fx_provider *next;
	uint32_t id;
	pid_t pid;
	uid_t uid;		  /* its user */
	struct fx_origin *origin; /* owned; NULL: not known */
	uint64_t born;		  /* CLOCK_BOOTTIME ns; when it registered */
	char name[104];
	struct fx_msg_wish wish; /* what it would like its buffer to be */
	enum fx_provider_phase phase;
	/* Mapped writable; only to be written, for it may be memory that the provider can write too: what is to be
	 * known of it stands here. */
	struct fx_control *control;
	uint64_t control_size;
	uint64_t state; /* of the control page */
	enum fx_phase stage;
	enum fx_buffering_mode mode;
	enum fx_on_full on_full;
	uint32_t wanted;  /* bits for fx_control.state while tracing runs */
	uint64_t reserve; /* bytes: the largest buffer size that it has the memory for */
	void *buffer;	  /* mapped read-only */
	uint64_t buffer_size;
	uint64_t stash_offset; /* in it; 0 none */
	struct fx_drain drain;
	struct fx_inlet *inlet; /* the writer's */
	int pidfd;		/* owned; -1: the kernel has none */
	int buffer_fd;		/* owned; -1 unless memory is limited */
	struct fx_watch death;	/* of pidfd */
	void *owner;		/* the roster, for `death` */
	uint64_t end_ticks;	/* valid from FX_PROVIDER_ENDING on */
	uint32_t frames_cursor; /* how far the open calls are saved */
	bool is_kernel;		/* the kernel provider: it records whatever it was started for */
	bool nests;		/* whether its calls are recorded depends on what they lie in: */
	enum fx_clock_kind clock;
	struct fx_block *look; /* open calls that are to be queued behind what comes next; owned */
	uint64_t next_look;    /* ns; of many threads */
	uint64_t next_facts;   /* ns; when many threads are to be looked at again */
	struct fx_ending ending; /* how it ended, if it has */
	int64_t heap_bytes;	 /* live heap as of the end, or the newest stop */
	int64_t heap_blocks;
	bool limited;	       /* its address space was, when it registered */
	uint64_t first_serial; /* of chunks claimed in this session */
	bool busy;	       /* the newest pass took something */
	bool wrapped;	       /* circular: events were overwritten before they were saved */
	uint64_t packets_read;
	bool settled;	/* all that was recorded before the stop is saved */
	bool starved;	/* but for what there was no memory for, */
	uint32_t tries; /* that often */
	uint32_t news;	/* as in FX_STATE_NEWS */
	struct fx_provider_recipes recipes;
};

/*
 * Takes the shared memory of a new provider. `ret_fds` get the control page and the buffer, to be
 * sent and closed by the caller. pidfd and inlet are the caller's to set. 0 or -errno.
 */
int fx_provider_create(const struct fx_provider_terms *terms, uint32_t id, pid_t pid,
		       const char *name, struct fx_prepared *prepared, struct fx_provider **ret,
		       int ret_fds[2]);

/*
 * The same for a child that has brought its memory, and recorded into it. What belongs to a session that is over is
 * forgotten. 0; -EINVAL if the memory is not as it should be; or another -errno. The descriptor stays the caller's.
 */
int fx_provider_adopt(const struct fx_provider_terms *terms, uint32_t id, pid_t pid,
		      const char *name, const struct fx_foreign *brought, struct fx_provider **ret);
void fx_provider_destroy(struct fx_provider *p);

/* Makes the provider known to an archive: see fx_writer_inlet(). `exec`: its process was another program before. */
struct fx_inlet *fx_provider_enlist(const struct fx_provider *p, struct fx_writer *w, bool exec);

/* Bytes of its memory in use beyond `reserve`; 0 if memory is not limited. */
uint64_t fx_provider_excess(const struct fx_provider *p);

/* Which categories it is to record at the next start. It must be stopped. */
void fx_provider_want(struct fx_provider *p, const struct fx_session_config *config);

/* Says that tracing runs. */
/* The same while tracing runs: threads hear of it. */
void fx_provider_want_anew(struct fx_provider *p, const struct fx_session_config *config);
void fx_provider_start(struct fx_provider *p, uint32_t epoch);

/* Says that tracing has stopped, and with FX_STATE_STOPPING, that this is to be noticed. */
void fx_provider_stop(struct fx_provider *p, uint32_t epoch, uint32_t notice);

/* Has every thread of it look at what was put into the control page's memory. */
void fx_provider_notify(struct fx_provider *p);

/* Says that what it recorded before a stop is saved. */
void fx_provider_set_stopped(struct fx_provider *p);

/*
 * Saves what is new; with `held`, also from chunks that are still being written. Does nothing while
 * the queue is full. Returns the part of a half that was claimed since the last time, 0 .. 1 or
 * more.
 */
double fx_provider_poll(struct fx_provider *p, struct fx_queue *queue, bool held);

/*
 * A resident provider, stopped, enters a session: what its buffer holds is forgotten, and what comes
 * goes to `inlet`. To be started with fx_provider_start(). 0, -ENOMEM, or -EBADMSG if it broke the
 * rules in an earlier session.
 */
int fx_provider_join(struct fx_provider *p, const struct fx_provider_terms *terms,
		     struct fx_inlet *inlet);

/* Saves what is committed now, of buffers that are saved as they fill. True once it is queued. */
bool fx_provider_flush(struct fx_provider *p, struct fx_queue *queue);

/* What the provider has lost in this session, as its buffer says now. */
uint64_t fx_provider_dropped(const struct fx_provider *p);

/* It was stopped at `ticks`: from now on, fx_provider_settle() is to be called. */
void fx_provider_pause(struct fx_provider *p, uint64_t ticks);

/* Goes on saving what it recorded before the stop, open calls too. True once all is queued. */
bool fx_provider_settle(struct fx_provider *p, struct fx_queue *queue);

/* It leaves the session, whose archive hears no more of it. */
void fx_provider_leave(struct fx_provider *p, struct fx_queue *queue);

/* Oneshot: lets the provider fill its whole buffer, from where it stands. */
void fx_provider_refill(struct fx_provider *p);

/*
 * Another reader of a circular provider's buffer, for another archive: *ret shares its memory, and is to
 * be finished, which it can be at once, while the provider goes on, and released. 0 or -ENOMEM.
 */
int fx_provider_view(const struct fx_provider *p, uint64_t ticks, struct fx_inlet *inlet,
		     struct fx_provider *ret);
void fx_provider_view_release(struct fx_provider *view);

/* The next packet that it has posted; false: there is none. One that breaks the rules is its last. */
bool fx_provider_packet(struct fx_provider *p, struct fx_packet *ret);

/* The name in an ALERT packet, in whatever bytes the provider has put there; 0-terminated. */
void fx_packet_alert_name(const struct fx_packet *packet, char ret[FX_ALERT_NAME_MAX + 1]);

/* It writes no more since `ticks`: from now on, fx_provider_finish() is to be called. */
void fx_provider_end(struct fx_provider *p, uint64_t ticks);

/* Goes on saving the rest. True once all is queued. */
bool fx_provider_finish(struct fx_provider *p, struct fx_queue *queue);

#endif
