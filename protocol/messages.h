/* SPDX-License-Identifier: MIT */
/*
 * The messages of the manager's socket (Unix, SOCK_SEQPACKET), from one list.
 *
 * A provider connects, sends one request, gets one reply with descriptors, maps them, and closes
 * everything. A client stays connected: it sends a request and gets one reply, then the next. A session
 * that a client has initialized is terminated when that client goes away, unless it is detached.
 *
 * Integers are in the machine's order: both ends are on one machine. A message of
 * another size, magic or version is refused; reserved bytes are zero when sent and ignored when
 * received.
 */
#ifndef FX_PROTOCOL_MESSAGES_H
#define FX_PROTOCOL_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#define FX_MESSAGE_MAGIC   0x54584630u /* "0FXT" */
#define FX_MESSAGE_VERSION 1u

#define FX_SOCKET_PATH_MAX   107u /* bytes that a Unix socket address holds, without the NUL */
#define FX_PROVIDER_NAME_MAX 100u /* bytes, without the NUL */

/*  X(symbol, number, struct, descriptors passed, what it says) */
#define FX_MESSAGES(X)                                                                             \
	X(REGISTER, 1, fx_msg_register, 0, "a provider asks to be registered")                     \
	X(REGISTERED, 2, fx_msg_registered, 3, "the manager's answer: control, common, buffer")    \
	X(MANAGER_READY, 3, fx_msg_manager_ready, 0, "a private manager says where it listens")    \
	X(BRING, 4, fx_msg_bring, 1, "a forked child has made its memory itself; no answer")       \
	X(RESULT, 16, fx_msg_result, 0, "how a client's request ended, and what was written")      \
	X(GET_STATUS, 17, fx_msg_request, 0, "what is the manager doing?")                         \
	X(STATUS, 18, fx_msg_status, 0, "the answer")                                              \
	X(GET_PROVIDERS, 19, fx_msg_get_providers, 0, "which providers are registered?")           \
	X(PROVIDERS, 20, fx_msg_providers, 0, "some of them, by rising id; none: that was all")    \
	X(GET_CATEGORIES, 21, fx_msg_get_categories, 0, "which categories do providers know?")     \
	X(CATEGORIES, 22, fx_msg_categories, 0, "some of them, by name; none: that was all")       \
	X(INITIALIZE, 23, fx_msg_initialize, 1, "a new session; the archive's descriptor")         \
	X(START, 24, fx_msg_start, 0, "begin tracing; answered when tracing runs")                 \
	X(STOP, 25, fx_msg_stop, 0, "stop tracing; answered when all is saved")                    \
	X(TERMINATE, 26, fx_msg_stop, 0, "end the session; answered when the archive is complete") \
	X(SNAPSHOT, 27, fx_msg_snapshot, 1, "write what circular buffers hold; tracing goes on")   \
	X(WATCH_ALERT, 28, fx_msg_request, 0, "answered with the next alert")                      \
	X(ALERT, 29, fx_msg_alert, 0, "a provider's alert")                                        \
	X(FLUSH, 30, fx_msg_request, 0,                                                            \
	  "write what was recorded; answered when it is in the file")                              \
	X(CHOOSE, 31, fx_msg_choose, 0, "record other functions; answered when processes know")    \
	X(NOTE, 32, fx_msg_note, 0, "what a thread was seen to do, for the archive")

#define FX_MESSAGE_NUMBER(sym, nr, type, fds, help) FX_MSG_##sym = (nr),
enum fx_message_type { FX_MESSAGES(FX_MESSAGE_NUMBER) };
#undef FX_MESSAGE_NUMBER

struct fx_msg_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type; /* enum fx_message_type */
};

/* Why a process registers. */
enum fx_register_cause {
	FX_REGISTER_START = 0,	/* a new program image */
	FX_REGISTER_FORK = 1,	/* a forked child, running its parent's image */
	FX_REGISTER_KERNEL = 2, /* the kernel provider, which records of other processes */
};

/* What a provider would like its buffer to be. */
struct fx_msg_wish {
	uint64_t buffer_size; /* at least; 0: as the session has it */
	uint32_t mode;	      /* enum fx_buffering_mode; 0: as the session has it */
	uint32_t reserved;
};

/* The largest buffer that a wish gets; a session may have larger ones. */
#define FX_BUFFER_WISH_MAX (64ull << 20)

struct fx_msg_register {
	struct fx_msg_header header;
	uint32_t pid; /* as the provider sees it; the manager believes the peer credentials */
	uint32_t tid;
	uint32_t cause; /* enum fx_register_cause */
	uint32_t parent_pid;
	char name[FX_PROVIDER_NAME_MAX + 4]; /* NUL-terminated */
	struct fx_msg_wish wish;	     /* may be left out */
};

struct fx_msg_registered {
	struct fx_msg_header header;
	int32_t status;	  /* 0, or a negative errno; then no descriptors come along */
	uint32_t started; /* 1: tracing runs; 0: registered, idle until a session starts */
	uint64_t control_size;
	uint64_t buffer_size; /* of the memfd */
};

/*
 * A forked child records at once, into memory that it has made itself as its parent's was made, and says so when it can
 * without waiting. One descriptor, of a memfd that the manager seals against any change of its size and further seals: the
 * control page's memory, and behind it the buffer's.
 */
struct fx_msg_bring {
	struct fx_msg_header header;
	uint32_t pid; /* as the provider sees it; the manager believes the peer credentials */
	uint32_t parent_pid;
	uint64_t control_size;
	uint64_t buffer_size;
	uint64_t born_ns;		     /* CLOCK_BOOTTIME: when it was made */
	char name[FX_PROVIDER_NAME_MAX + 4]; /* NUL-terminated */
	struct fx_msg_wish wish; /* its parent's, with which its memory was made; may be left out */
};

/* First message of a manager that a provider started for itself, over the socket pair made for it. */
struct fx_msg_manager_ready {
	struct fx_msg_header header;
	char path[FX_SOCKET_PATH_MAX + 1]; /* NUL-terminated */
};

/* The order of the descriptors of REGISTERED. */
enum fx_registered_fd {
	FX_FD_CONTROL = 0,
	FX_FD_COMMON = 1,
	FX_FD_BUFFER = 2,
	FX_FD_COUNT = 3,
};

/* --- Clients --------------------------------------------------------------------------------- */

/* What the manager is about, and the session, of which there is one at a time. */
#define FX_SESSION_STATES(X)                                                                       \
	X(READY, 0, "ready", "no session")                                                         \
	X(INITIALIZED, 1, "initialized", "a session that was never started")                       \
	X(STARTING, 2, "starting", "tracing runs; some provider has not said so yet")              \
	X(STARTED, 3, "started", "tracing runs")                                                   \
	X(STOPPING, 4, "stopping", "what was recorded is being saved")                             \
	X(STOPPED, 5, "stopped", "tracing can be started again")                                   \
	X(TERMINATING, 6, "terminating", "the archive is being finished")

#define FX_SESSION_STATE_NUMBER(sym, nr, name, help) FX_SESSION_##sym = (nr),
enum fx_session_state { FX_SESSION_STATES(FX_SESSION_STATE_NUMBER) };
#undef FX_SESSION_STATE_NUMBER

/* Why a request could not be fulfilled. In fx_msg_result.status; errors of the system are negative. */
#define FX_CONTROL_ERRORS(X)                                                                       \
	X(NOT_INITIALIZED, 1, "no session is initialized")                                         \
	X(ALREADY_INITIALIZED, 2, "a session is under way")                                        \
	X(ALREADY_STARTED, 3, "tracing runs already")                                              \
	X(NOT_STARTED, 4, "tracing does not run")                                                  \
	X(STOPPING, 5, "tracing is being stopped")                                                 \
	X(TERMINATING, 6, "the session is being terminated")                                       \
	X(ABORTED, 7, "the session was aborted: its archive could not be written")                 \
	X(NOT_CIRCULAR, 8, "only a session with --buffering-mode circular keeps a history")        \
	X(BAD_REQUEST, 9, "the request makes no sense")                                            \
	X(BAD_SIZE, 10, "a buffer size is not a multiple of 4K between 4K and 4G")                 \
	X(CIRCULAR, 11, "circular buffers are written by a snapshot, or at the end")               \
	X(FLUSHING, 12, "another flush is under way")                                              \
	X(NOT_STREAMING, 13,                                                                       \
	  "functions change in a session with --buffering-mode streaming alone")                   \
	X(NESTED, 14, "--when and +depth=N, and --records pairs, are for a whole session")         \
	X(NO_SOURCES, 15, "functions by source files are for sessions that began with some")       \
	X(CHOOSING, 16, "other functions are being chosen")

#define FX_CONTROL_ERROR_NUMBER(sym, nr, help) FX_CONTROL_##sym = (nr),
enum fx_control_error { FX_CONTROL_ERRORS(FX_CONTROL_ERROR_NUMBER) };
#undef FX_CONTROL_ERROR_NUMBER

/*
 * What a start keeps of events that were recorded before and are not in the archive yet; values of the
 * trace provider protocol.
 *
 * CLEAR_ENTIRE: nothing; strings, threads and modules are written to the archive again. The provider's
 * durable area is never emptied: it keeps indices into it.
 * CLEAR_NONDURABLE: nothing; oneshot buffers get their whole room again.
 * RETAIN: everything; oneshot buffers go on where they were.
 */
enum fx_disposition {
	FX_CLEAR_ENTIRE = 1,
	FX_CLEAR_NONDURABLE = 2,
	FX_RETAIN = 3,
};

#define FX_CATEGORY_LIST_MAX 20480u /* with the NUL */
#define FX_OUTPUT_PATH_MAX   4096u  /* with the NUL */
#define FX_FUNCTION_LIST_MAX 8192u  /* with the NUL */
#define FX_FUNCTION_GLOB_MAX 1024u  /* of one pattern, with the NUL */
#define FX_PROVIDER_SPECS    32u
#define FX_TRIGGERS	     16u
#define FX_ALERT_NAME_MAX    14u
#define FX_ALERT_QUEUE	     16u   /* alerts that wait for a client; then the oldest is discarded */
#define FX_START_TIMEOUT_MAX 5000u /* ms */
#define FX_START_RECIPES_MAX 5000u /* ms: as long as a file may be read for them */

#define FX_CAUSES_ROOM 32u

#define FX_UNSEEN_MAX	  512u /* bytes, with the NUL */
#define FX_SUPPRESSED_MAX 2048u
#define FX_MESSAGES_ROOM  8u

/* A request that says nothing but its type. */
struct fx_msg_request {
	struct fx_msg_header header;
};

struct fx_msg_result {
	struct fx_msg_header header;
	int32_t status; /* 0, enum fx_control_error, or a negative errno */
	uint32_t flags; /* enum fx_result_flags */
	uint64_t file_size;
	uint64_t processes;
	uint64_t threads;
	uint64_t events;
	uint64_t dropped;
	uint64_t too_deep;
	uint64_t invalid;
	uint64_t history_ns; /* circular: the time that is kept */
	int32_t output_error;
	uint32_t silent_providers; /* START: have not said that they started */
	uint32_t small_buffers;	   /* START: providers with smaller buffers than the session's */
	uint32_t reserved;
	uint64_t numbered_strings; /* shown as numbers, since all would take too much memory */
	/* words that asked for categories which no provider knew, between commas; NUL-terminated */
	char unseen[FX_UNSEEN_MAX];
	uint64_t lost[FX_CAUSES_ROOM]; /* by cause, in the order of manager/settings/losses.def */
	/* functions that --auto-suppress has left out: a line for each, those of most calls first, as many as there is room for:
	 * about how many calls are not in the archive, how many ns these took together, how many calls are there, its name */
	char suppressed[FX_SUPPRESSED_MAX];
	/* arrows from who wrote to who read; then reads that have none, by enum fx_transfer_left of manager/archive/transfers.h */
	uint64_t messages[FX_MESSAGES_ROOM];
	uint64_t shares[FX_MESSAGES_ROOM]; /* the same of waits for locks that processes share */
};

enum fx_result_flags {
	FX_RESULT_HAS_TOTALS = 1u << 0, /* the archive is complete; the numbers describe it */
	FX_RESULT_CIRCULAR = 1u << 1,
	FX_RESULT_WRAPPED = 1u << 2,   /* some buffer was overwritten; history_ns goes by those */
	FX_RESULT_SHORTENED = 1u << 3, /* what is older than the client wanted is left out */
	FX_RESULT_EMPTY = 1u << 4,     /* none of the events is of what a process did */
};

struct fx_msg_status {
	struct fx_msg_header header;
	uint32_t state; /* enum fx_session_state */
	uint32_t pid;
	uint32_t providers;
	uint32_t clients;
	uint32_t mode;	     /* from here on: the session's */
	uint32_t categories; /* bits */
	uint64_t state_ns;   /* since the state began */
	uint64_t buffer_size;
	uint64_t
	    snapshots; /* written so far; without a session: of the last, and those called for as it ended */
	uint32_t detached;
	uint32_t aborted;
	uint64_t memory;     /* bytes that the buffers of all providers take */
	uint64_t max_memory; /* that they may take; 0: any */
	uint32_t refused;    /* processes that could not be traced since the manager began */
	uint32_t no_memory;  /* those of them that max_memory kept out */
	char output[FX_OUTPUT_PATH_MAX];
};

struct fx_msg_get_providers {
	struct fx_msg_header header;
	uint32_t after;	     /* those with a greater id */
	uint32_t of_session; /* 1: those that are, or were, in the session; 0: those registered */
};

struct fx_provider_entry {
	uint32_t id;
	uint32_t pid;
	uint32_t mode;	  /* 0: not in a session */
	uint32_t started; /* a thread of it has recorded in the newest start */
	uint64_t buffer_size;
	uint64_t wraps;
	uint64_t dropped;
	uint64_t durable_used; /* bytes */
	uint64_t durable_size;
	uint64_t rolling_used; /* bytes of rolling space that were taken in this session */
	uint32_t gone;	       /* 1: the process has ended */
	uint32_t is_kernel;    /* 1: the kernel provider, which records of other processes */
	char name[FX_PROVIDER_NAME_MAX + 4]; /* as the process gave it, NUL-terminated */
};

#define FX_PROVIDERS_PER_MESSAGE 64u

struct fx_msg_providers {
	struct fx_msg_header header;
	uint32_t count;
	uint32_t reserved;
	struct fx_provider_entry entries[FX_PROVIDERS_PER_MESSAGE];
};

/* Answered when every provider has said what it knows, which all do as they map their buffers, or when the
 * time is over. */
struct fx_msg_get_categories {
	struct fx_msg_header header;
	uint32_t timeout_ms; /* FX_CATEGORIES_TIMEOUT_MAX at most */
	uint32_t reserved;
	char after[104]; /* those that come behind this name; NUL-terminated */
};

#define FX_CATEGORIES_TIMEOUT_MAX 10000u /* ms */
#define FX_CATEGORIES_PER_MESSAGE 32u

struct fx_category_entry {
	uint32_t bit; /* 0: a program's own */
	uint32_t is_default;
	uint32_t providers; /* that know it */
	uint32_t reserved;
	char name[104]; /* printable, NUL-terminated, like the next */
	char help[408];
};

struct fx_msg_categories {
	struct fx_msg_header header;
	uint32_t count;
	uint32_t silent; /* providers that have not said what they know */
	struct fx_category_entry entries[FX_CATEGORIES_PER_MESSAGE];
};

struct fx_provider_spec {
	uint64_t size;
	char name[FX_PROVIDER_NAME_MAX + 4];
};

/* What an alert of this name makes the manager do. */
enum fx_trigger_action {
	FX_TRIGGER_STOP = 1,	 /* stop tracing, with results */
	FX_TRIGGER_SNAPSHOT = 2, /* of circular buffers */
	FX_TRIGGER_WHERE = 3,	 /* say where everybody stands; of `fxtrace run' alone */
};

/* The alert that the manager itself raises when a traced process ends, in whatever way. */
#define FX_ALERT_DEATH "death"

struct fx_trigger {
	uint32_t action;		   /* enum fx_trigger_action */
	char alert[FX_ALERT_NAME_MAX + 6]; /* NUL-terminated */
};

struct fx_msg_initialize {
	struct fx_msg_header header;
	uint32_t mode;
	uint32_t on_full;
	uint32_t categories;
	uint32_t pairs;
	uint32_t max_depth;
	uint32_t detached;    /* the session goes on when the client is gone */
	uint64_t buffer_size; /* 0: the manager's own */
	uint64_t min_duration_ns;
	uint64_t last_ns; /* circular: of what the buffers hold at the end; 0: all */
	uint64_t stack_duration_ns;
	uint32_t stack_categories;
	uint32_t patch; /* 1: functions with room for a call get one */
	uint32_t spec_count;
	uint32_t trigger_count;
	struct fx_provider_spec specs[FX_PROVIDER_SPECS];
	struct fx_trigger triggers[FX_TRIGGERS];
	/* for messages, for the compression by its extension, and for what triggers write */
	char output[FX_OUTPUT_PATH_MAX];
	char words[FX_CATEGORY_LIST_MAX]; /* categories by name, after the bits of `categories` */
	char functions
	    [FX_FUNCTION_LIST_MAX]; /* those to be recorded, see manager/settings/functions.h */
};

struct fx_msg_start {
	struct fx_msg_header header;
	uint32_t disposition; /* enum fx_disposition */
	uint32_t categories;  /* in addition to those of INITIALIZE */
	uint32_t
	    timeout_ms; /* how long silent providers are waited for, and not for their functions' recipes */
	uint32_t reserved;
	char words[FX_CATEGORY_LIST_MAX]; /* the same */
};

/* --filter, --no-trace and --min-size in place of those that the session has; all else of its list stays. */
struct fx_msg_choose {
	struct fx_msg_header header;
	char functions[FX_FUNCTION_LIST_MAX]; /* not empty */
};

/* What the event of a note is called. */
enum fx_note_kind {
	FX_NOTE_STANDSTILL = 1,
	FX_NOTE_DEADLOCK = 2, /* it waits in a circle */
};

#define FX_NOTE_TEXT_MAX 12000u /* bytes of a text, with the NUL */

/* From the client whose session it is, about a process in it. It counts as of when it comes. */
struct fx_msg_note {
	struct fx_msg_header header;
	uint32_t kind; /* enum fx_note_kind */
	uint32_t pid;  /* as GET_PROVIDERS tells it */
	uint32_t tid;  /* the same namespace's */
	uint32_t reserved;
	char text[FX_NOTE_TEXT_MAX]; /* NUL-terminated */
};

struct fx_msg_stop {
	struct fx_msg_header header;
	/* Write what circular buffers hold; the other modes' events are in the archive anyway. */
	uint32_t write_results;
	uint32_t reserved;
};

struct fx_msg_snapshot {
	struct fx_msg_header header;
	char output[FX_OUTPUT_PATH_MAX];
};

struct fx_msg_alert {
	struct fx_msg_header header;
	uint32_t pid;			  /* of the provider */
	char name[FX_ALERT_NAME_MAX + 6]; /* as the program gave it, NUL-terminated */
};

/* Bytes of the longest message. */
union fx_message_any {
#define FX_MESSAGE_MEMBER(sym, nr, type, fds, help) struct type sym;
	FX_MESSAGES(FX_MESSAGE_MEMBER)
#undef FX_MESSAGE_MEMBER
};

_Static_assert(offsetof(struct fx_msg_register, wish) == 128 &&
		   sizeof(struct fx_msg_register) == 144,
	       "register message");
_Static_assert(offsetof(struct fx_msg_bring, wish) % 8 == 0, "bring message");
_Static_assert(sizeof(struct fx_msg_registered) == 32, "registered message");

#endif
