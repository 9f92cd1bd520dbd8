/* SPDX-License-Identifier: MIT */
/*
 * What the macros of <fxtrace/event.h> stand on: what a module and libfxtrace.so agree upon, and values. Include that header,
 * not this one.
 */
#ifndef FXTRACE_EVENT_BASE_H
#define FXTRACE_EVENT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#elif defined(__clang__)
#pragma clang system_header
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Compilers do not trace them: they are of no interest to anybody. */
#define FXTRACE_UNTRACED __attribute__((no_instrument_function))
#define FXTRACE_INLINE	 static inline __attribute__((always_inline)) FXTRACE_UNTRACED

/* --- What a module and libfxtrace.so agree upon ---------------------------------------------------- */

/*
 * What a macro remembers, begun with zeroes: whether its category is wanted, by the word of state for which it asked, with
 * FXTRACE_PLACE_ON; and the indices of its strings. It is one macro's alone, with the same category and keys each time. Behind
 * it stands the index of each key.
 */
struct fxtrace_place {
	uint64_t state;
	uint64_t
	    names; /* which attachment of the process they are of (32 bits), category (16), name (16) */
	const char *name; /* the first one, which `names` is for; others are looked up each time */
};
#define FXTRACE_PLACE(variable, count)                                                             \
	static struct {                                                                            \
		struct fxtrace_place place;                                                        \
		uint16_t keys[count];                                                              \
	} variable
#define FXTRACE_PLACE_ON (UINT64_C(1) << 30)

/* Types of values, as in the trace format. */
enum fxtrace_type {
	FXTRACE_NULL = 0,
	FXTRACE_INT32 = 1,
	FXTRACE_UINT32 = 2,
	FXTRACE_INT64 = 3,
	FXTRACE_UINT64 = 4,
	FXTRACE_DOUBLE = 5,
	FXTRACE_STRING = 6,
	FXTRACE_POINTER = 7,
	FXTRACE_KOID = 8,
	FXTRACE_BOOL = 9,
};

struct fxtrace_value {
	uint32_t type;
	uint32_t length; /* of a text: bytes */
	uint64_t bits;	 /* the number as the format has it, or the address of the text */
};

struct fxtrace_arg {
	const char *key;
	struct fxtrace_value value;
};

/* Types of events, as in the trace format. */
enum fxtrace_event_type {
	FXTRACE_INSTANT_EVENT = 0,
	FXTRACE_COUNTER_EVENT = 1,
	FXTRACE_DURATION_BEGIN_EVENT = 2,
	FXTRACE_DURATION_END_EVENT = 3,
	FXTRACE_DURATION_COMPLETE_EVENT = 4, /* since 0.2 */
	FXTRACE_ASYNC_BEGIN_EVENT = 5,
	FXTRACE_ASYNC_INSTANT_EVENT = 6,
	FXTRACE_ASYNC_END_EVENT = 7,
	FXTRACE_FLOW_BEGIN_EVENT = 8,
	FXTRACE_FLOW_STEP_EVENT = 9,
	FXTRACE_FLOW_END_EVENT = 10,
};

/* What has a payload: records of their own in the trace format. */
enum fxtrace_payload {
	FXTRACE_BLOB_EVENT = 0,	     /* with category, name, arguments */
	FXTRACE_BLOB_ATTACHMENT = 1, /* with category and name */
	FXTRACE_LOG = 2,	     /* the payload is the text */
	FXTRACE_OBJECT = 3,	     /* its address is what the arguments belong to */
	FXTRACE_KERNEL_OBJECT = 4,   /* `size' is a descriptor; has no category and no name */
	FXTRACE_BLOB = 256,	     /* and its type; has no category */
};

/* Types of TRACE_BLOB(). */
#define TRACE_BLOB_TYPE_DATA	    1 /* of any kind */
#define TRACE_BLOB_TYPE_LAST_BRANCH 2

/* Where and when an event is that is neither of this thread nor of this moment. */
struct fxtrace_at {
	const char *vthread; /* what the virtual thread is called */
	uint64_t id;	     /* of it */
	uint64_t ticks;	     /* of TRACE_TICKS()'s clock */
};

/* Of observer.h: the phases of tracing, and who hears of them. */
enum fxtrace_phase {
	FXTRACE_PHASE_STOPPED = 0,
	FXTRACE_PHASE_STARTED = 1,
	FXTRACE_PHASE_STOPPING = 2, /* what was recorded is being saved */
};

struct fxtrace_observer {
	void (*changed)(struct fxtrace_observer *observer, enum fxtrace_phase phase);
	struct fxtrace_observer *next; /* libfxtrace.so's own, with what follows */
	uint32_t seen;
	uint32_t reserved;
};

/* When an event was, and on which of the process's threads. */
struct fxtrace_past {
	uint64_t ticks; /* of TRACE_TICKS()'s clock */
	uint64_t tid;	/* 0: the calling thread */
};

struct fxtrace_events;

/* A duration that is open, on its thread's stack. */
struct fxtrace_scope {
	const struct fxtrace_events *events; /* NULL: it is not recorded */
	struct fxtrace_place *place;
	const char *category, *name;
	const struct fxtrace_arg *args;
	size_t count;
	void *thread, *frame; /* libfxtrace.so's own, with what follows */
	uint64_t start;
};

/* A number, and not asked for, as each site would have to. */
#define FXTRACE_STATE_OFFSET 64

/* What libfxtrace.so can do. A later one may have more at its end, never less. */
struct fxtrace_events {
	size_t size; /* of this struct */
	/* The word of state stands so many bytes behind the address that is found at `control`: FXTRACE_STATE_OFFSET always, which is
	 * told to programs that were made before 0.2. */
	const void *const *control;
	size_t state_offset;
	/* What fxtrace_look() asks: the place's new state. */
	uint64_t (*look)(struct fxtrace_place *place, const char *category);
	bool (*enabled)(void);
	uint64_t (*nonce)(void);
	/* `number`: of an instant its scope, of a complete duration when it began, of counters, async events and flows their id. */
	void (*write)(struct fxtrace_place *place, unsigned type, const char *category,
		      const char *name, uint64_t number, const struct fxtrace_arg *args,
		      size_t count);
	void (*open)(struct fxtrace_scope *scope);
	void (*close)(struct fxtrace_scope *scope);
	int (*alert)(const char *name); /* as fxtrace_alert() of alert.h */
	/* `payload`: of enum fxtrace_payload; `size' of a text may be SIZE_MAX: up to its NUL. Since 0.2. */
	void (*put)(struct fxtrace_place *place, unsigned payload, const char *category,
		    const char *name, const void *data, size_t size, const struct fxtrace_arg *args,
		    size_t count);
	/* The module has events of the category; `description` may be NULL. Both are copied. Since 0.2. */
	void (*describe)(const char *category, const char *description);
	/* As write. Since 0.2. */
	void (*write_at)(const struct fxtrace_at *at, unsigned type, const char *category,
			 const char *name, uint64_t number, const struct fxtrace_arg *args,
			 size_t count);
	/* The time, as write_at takes it; 0 unless tracing runs. Since 0.2. */
	uint64_t (*ticks)(void);
	/* What TRACE_KERNEL_OBJECT() gives a descriptor; 0: none, or tracing does not run. Since 0.2. */
	uint64_t (*koid)(int fd);
	/* observer.h. Since 0.2. */
	int (*observe)(struct fxtrace_observer *observer);
	int (*unobserve)(struct fxtrace_observer *observer);
	int (*await)(struct fxtrace_observer *observer, uint64_t timeout_ns,
		     enum fxtrace_phase *ret);
	/* As write, of an event that is over. `number` of a complete duration is its end, in ticks. Since 0.2. */
	void (*write_past)(const struct fxtrace_past *past, unsigned type, const char *category,
			   const char *name, uint64_t number, const struct fxtrace_arg *args,
			   size_t count);
};

/* Whether a library that was made before, or after, has it. */
#define FXTRACE_HAS(events, member)                                                                \
	((events)->size >= offsetof(struct fxtrace_events, member) + sizeof((events)->member))

/* The module's own word: NULL unless libfxtrace.so is loaded. As the compiler plugin's (gate.h), it is settled by the dynamic
 * linker, or else, where the linker has settled the weak reference already, by libfxtrace.so through the note. */
#ifndef NTRACE
extern const struct fxtrace_events __fxtrace_events __attribute__((weak));
extern const struct fxtrace_events *__fxtrace_events_gate __attribute__((visibility("hidden")));
__attribute__((weak, used, visibility("hidden")))
const struct fxtrace_events *__fxtrace_events_gate = &__fxtrace_events;
/* Owner and type: FXTRACE_NOTE_OWNER, FXTRACE_NOTE_EVENTS of gate.h. */
__asm__(".pushsection .note.fxtrace.events,\"a\",%note\n"
	"\t.balign 4\n"
	"\t.long 8, 4, 2\n"
	"\t.asciz \"fxtrace\"\n"
	"\t.long __fxtrace_events_gate - .\n"
	"\t.popsection\n");

/* The slow half of fxtrace_on(), apart from it, so that no site has to save a register for it. */
#if __has_attribute(patchable_function_entry)
__attribute__((patchable_function_entry(0)))
#endif
__attribute__((noinline, cold, unused)) FXTRACE_UNTRACED static const struct fxtrace_events *
fxtrace_look(const struct fxtrace_events *events, struct fxtrace_place *place, const char *category)
{
	return events->look(place, category) & FXTRACE_PLACE_ON ? events : NULL;
}

/* What records the events of a category now; NULL: nobody does. */
FXTRACE_INLINE const struct fxtrace_events *fxtrace_on(struct fxtrace_place *place,
						       const char *category)
{
	/* relaxed: settled before the program runs */
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED);
	const char *control;
	uint64_t state, seen;

	if (__builtin_expect(events == NULL, 1))
		return NULL;
	/* relaxed, all: what the place knows is compared with it, and nothing else read through it */
	control = (const char *)__atomic_load_n(events->control, __ATOMIC_RELAXED);
	state =
	    __atomic_load_n((const uint64_t *)(control + FXTRACE_STATE_OFFSET), __ATOMIC_RELAXED);
	seen = __atomic_load_n(&place->state, __ATOMIC_RELAXED);
	if (seen == state)
		return NULL;
	if (__builtin_expect(seen != (state | FXTRACE_PLACE_ON), 0))
		return fxtrace_look(events, place, category);
	return events;
}

FXTRACE_INLINE bool fxtrace_enabled(void)
{
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED); /* as above */

	return events && events->enabled();
}

FXTRACE_INLINE uint64_t fxtrace_nonce(void)
{
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED); /* as above */

	return events ? events->nonce() : 0;
}

FXTRACE_INLINE uint64_t fxtrace_ticks(void)
{
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED); /* as above */

	return events && FXTRACE_HAS(events, ticks) ? events->ticks() : 0;
}

FXTRACE_INLINE uint64_t fxtrace_koid(int fd)
{
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED); /* as above */

	return events && FXTRACE_HAS(events, koid) ? events->koid(fd) : 0;
}

/* What records whatever category there is now; NULL: nobody does. */
FXTRACE_INLINE const struct fxtrace_events *fxtrace_on_at_all(void)
{
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED); /* as above */

	return events && events->enabled() ? events : NULL;
}

FXTRACE_INLINE void fxtrace_describe(const char *category, const char *description)
{
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED); /* as above */

	if (events && FXTRACE_HAS(events, describe))
		events->describe(category, description);
}

FXTRACE_INLINE void fxtrace_put_blob(struct fxtrace_place *place, unsigned type, const char *name,
				     const void *data, size_t size)
{
	const struct fxtrace_events *events = fxtrace_on_at_all();

	if (events && FXTRACE_HAS(events, put))
		events->put(place, FXTRACE_BLOB + type, NULL, name, data, size, NULL, 0);
}

FXTRACE_INLINE void fxtrace_scope_open(struct fxtrace_scope *scope, struct fxtrace_place *place,
				       const char *category, const char *name,
				       const struct fxtrace_arg *args, size_t count)
{
	scope->place = place;
	scope->category = category;
	scope->name = name;
	scope->args = args;
	scope->count = count;
	scope->events->open(scope);
}

FXTRACE_INLINE void fxtrace_scope_close(struct fxtrace_scope *scope)
{
	if (scope->events)
		scope->events->close(scope);
}
#endif

/* --- Values ---------------------------------------------------------------------------------------- */

FXTRACE_INLINE struct fxtrace_value fxtrace_value_of(uint32_t type, uint64_t bits, size_t length)
{
	struct fxtrace_value value;

	value.type = type;
	value.length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	value.bits = bits;
	return value;
}

FXTRACE_INLINE struct fxtrace_value fxtrace_value_double(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return fxtrace_value_of(FXTRACE_DOUBLE, bits, 0);
}

/* NULL is shown as null. */
FXTRACE_INLINE struct fxtrace_value fxtrace_value_chars(const char *text, size_t length)
{
	return fxtrace_value_of(text ? FXTRACE_STRING : FXTRACE_NULL, (uint64_t)(uintptr_t)text,
				length);
}

FXTRACE_INLINE struct fxtrace_value fxtrace_value_text(const char *text)
{
	return fxtrace_value_chars(text, text ? strlen(text) : 0);
}

FXTRACE_INLINE void fxtrace_fill(struct fxtrace_arg *arg, const char *key,
				 struct fxtrace_value value)
{
	arg->key = key;
	arg->value = value;
}

/* A number as another type has it; what is none, a pointer say, does not compile. */
#ifdef __cplusplus
#define FXTRACE_NUMBER(type, value) static_cast<type>(value)
#else
#define FXTRACE_NUMBER(type, value) ((type) + (value))
#endif

#define TA_NULL()		    fxtrace_value_of(FXTRACE_NULL, 0, 0)
#define TA_BOOL(value)		    fxtrace_value_of(FXTRACE_BOOL, (value) ? 1 : 0, 0)
#define TA_INT32(value)		    fxtrace_value_of(FXTRACE_INT32, (uint32_t)FXTRACE_NUMBER(int32_t, value), 0)
#define TA_UINT32(value)	    fxtrace_value_of(FXTRACE_UINT32, FXTRACE_NUMBER(uint32_t, value), 0)
#define TA_INT64(value)		    fxtrace_value_of(FXTRACE_INT64, (uint64_t)FXTRACE_NUMBER(int64_t, value), 0)
#define TA_UINT64(value)	    fxtrace_value_of(FXTRACE_UINT64, FXTRACE_NUMBER(uint64_t, value), 0)
#define TA_DOUBLE(value)	    fxtrace_value_double(value)
#define TA_CHAR_ARRAY(text, length) fxtrace_value_chars(text, length)
#define TA_STRING(text)		    fxtrace_value_text(text)
#define TA_STRING_LITERAL(text)	    fxtrace_value_text(text)
#define TA_POINTER(value)	    fxtrace_value_of(FXTRACE_POINTER, (uint64_t)(uintptr_t)(value), 0)
#define TA_KOID(value)		    fxtrace_value_of(FXTRACE_KOID, FXTRACE_NUMBER(uint64_t, value), 0)

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_EVENT_BASE_H */
