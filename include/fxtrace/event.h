/* SPDX-License-Identifier: MIT */
/*
 * The program's own events: the macros of Fuchsia's libtrace, for C11 and C++17.
 *
 *	#include <fxtrace/event.h>
 *
 *	void answer(struct request *r)
 *	{
 *		TRACE_DURATION("server", "answer", "bytes", TA_UINT64(r->size));
 *		...
 *		TRACE_COUNTER("server", "queue", 0, "waiting", TA_INT32(waiting));
 *	}
 *
 * Nothing is linked. In a program that runs by itself a macro costs a load and a branch; started by fxtrace-run, or with
 * libfxtrace.so preloaded, its events are recorded if their category is wanted (--categories). Their arguments are evaluated
 * only then.
 *
 * Categories, names and keys are string literals, or other texts that stay what and where they are as long as the module (the
 * program or a shared library) is loaded. Up to 15 arguments follow as key, value, key, value...; in C a value is a TA_ macro,
 * in C++ it may also be a number, a bool, an enum, a pointer, nullptr, or a text: what has data() and size(), or a char
 * pointer. Texts are copied when the record is written (at the end of a TRACE_DURATION: in C they must stay until then; in C++
 * objects are copied at its beginning), and cut where a record of 1000 bytes is full.
 *
 * They may stand in signal handlers, in inline functions and in templates, but not in constexpr functions: each has a static
 * variable. With NTRACE defined before this header nothing is left of them, and their arguments are not looked at.
 *
 * Source: Fuchsia's trace-event.h. Ids are numbers that the program chooses; TRACE_NONCE() gives new ones.
 */
#ifndef FXTRACE_EVENT_H
#define FXTRACE_EVENT_H

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
	FXTRACE_ASYNC_BEGIN_EVENT = 5,
	FXTRACE_ASYNC_INSTANT_EVENT = 6,
	FXTRACE_ASYNC_END_EVENT = 7,
	FXTRACE_FLOW_BEGIN_EVENT = 8,
	FXTRACE_FLOW_STEP_EVENT = 9,
	FXTRACE_FLOW_END_EVENT = 10,
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

/* What libfxtrace.so can do. A later one may have more at its end, never less. */
struct fxtrace_events {
	size_t size; /* of this struct */
	/* The word of state stands `state_offset` bytes behind the address that is found at `control`. */
	const void *const *control;
	size_t state_offset;
	/* Slow half of fxtrace_on(): the place's new state. */
	uint64_t (*look)(struct fxtrace_place *place, const char *category);
	bool (*enabled)(void);
	uint64_t (*nonce)(void);
	/* `number`: of an instant its scope, of counters, async events and flows their id. */
	void (*write)(struct fxtrace_place *place, unsigned type, const char *category,
		      const char *name, uint64_t number, const struct fxtrace_arg *args,
		      size_t count);
	void (*open)(struct fxtrace_scope *scope);
	void (*close)(struct fxtrace_scope *scope);
	int (*alert)(const char *name); /* as fxtrace_alert() of alert.h */
};

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
	    __atomic_load_n((const uint64_t *)(control + events->state_offset), __ATOMIC_RELAXED);
	seen = __atomic_load_n(&place->state, __ATOMIC_RELAXED);
	if (__builtin_expect((seen & ~FXTRACE_PLACE_ON) != state, 0))
		seen = events->look(place, category);
	return seen & FXTRACE_PLACE_ON ? events : NULL;
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

#define TA_NULL()		    fxtrace_value_of(FXTRACE_NULL, 0, 0)
#define TA_BOOL(value)		    fxtrace_value_of(FXTRACE_BOOL, (value) ? 1 : 0, 0)
#define TA_INT32(value)		    fxtrace_value_of(FXTRACE_INT32, (uint32_t)(int32_t)(value), 0)
#define TA_UINT32(value)	    fxtrace_value_of(FXTRACE_UINT32, (uint32_t)(value), 0)
#define TA_INT64(value)		    fxtrace_value_of(FXTRACE_INT64, (uint64_t)(int64_t)(value), 0)
#define TA_UINT64(value)	    fxtrace_value_of(FXTRACE_UINT64, (uint64_t)(value), 0)
#define TA_DOUBLE(value)	    fxtrace_value_double(value)
#define TA_CHAR_ARRAY(text, length) fxtrace_value_chars(text, length)
#define TA_STRING(text)		    fxtrace_value_text(text)
#define TA_STRING_LITERAL(text)	    fxtrace_value_text(text)
#define TA_POINTER(value)	    fxtrace_value_of(FXTRACE_POINTER, (uint64_t)(uintptr_t)(value), 0)
#define TA_KOID(value)		    fxtrace_value_of(FXTRACE_KOID, (uint64_t)(value), 0)

/* Of an instant: whom it is of interest to. */
#define TRACE_SCOPE_THREAD  0
#define TRACE_SCOPE_PROCESS 1
#define TRACE_SCOPE_GLOBAL  2

#ifdef __cplusplus
}
#endif

/* --- What the macros are made of -------------------------------------------------------------------- */

#define FXTRACE_FIRST(...)	   FXTRACE_FIRST_(__VA_ARGS__, 0)
#define FXTRACE_FIRST_(first, ...) first
#define FXTRACE_JOIN(a, b)	   FXTRACE_JOIN_(a, b)
#define FXTRACE_JOIN_(a, b)	   a##b

/* How many parameters there are, up to 32. */
#define FXTRACE_COUNT(...)                                                                         \
	FXTRACE_COUNT_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,    \
		       17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define FXTRACE_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, \
		       a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,  \
		       n, ...)                                                                     \
	n

/* First, key, value, key, value...: fills an array. What is not defined has a key without its value, or more than 15. */
#define FXTRACE_FILL(at, ...)                                                                      \
	FXTRACE_JOIN(FXTRACE_FILL_, FXTRACE_COUNT(__VA_ARGS__))(at, __VA_ARGS__)
#define FXTRACE_FILL_1(at, first)
#define FXTRACE_FILL_3(at, first, key, value) fxtrace_fill(at, key, value);
#define FXTRACE_FILL_5(at, first, key, value, ...)                                                 \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_3((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_7(at, first, key, value, ...)                                                 \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_5((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_9(at, first, key, value, ...)                                                 \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_7((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_11(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_9((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_13(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_11((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_15(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_13((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_17(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_15((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_19(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_17((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_21(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_19((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_23(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_21((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_25(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_23((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_27(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_25((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_29(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_27((at) + 1, first, __VA_ARGS__)
#define FXTRACE_FILL_31(at, first, key, value, ...)                                                \
	fxtrace_fill(at, key, value);                                                              \
	FXTRACE_FILL_29((at) + 1, first, __VA_ARGS__)

#if defined(NTRACE)
#define FXTRACE_WRITE(type, category, name, ...) ((void)0)
#elif defined(__cplusplus)
#define FXTRACE_WRITE(type, category, name, ...)                                                   \
	do {                                                                                       \
		FXTRACE_PLACE(fxtrace_place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                 \
		const struct fxtrace_events *fxtrace_on_ =                                         \
		    fxtrace_on(&fxtrace_place_.place, category);                                   \
                                                                                                   \
		if (fxtrace_on_)                                                                   \
			::fxtrace::write(fxtrace_on_, &fxtrace_place_.place, type, category, name, \
					 __VA_ARGS__);                                             \
	} while (0)
#else
#define FXTRACE_WRITE(type, category, name, ...)                                                   \
	do {                                                                                       \
		FXTRACE_PLACE(fxtrace_place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                 \
		const struct fxtrace_events *fxtrace_on_ =                                         \
		    fxtrace_on(&fxtrace_place_.place, category);                                   \
                                                                                                   \
		if (fxtrace_on_) {                                                                 \
			struct fxtrace_arg fxtrace_args_[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];      \
                                                                                                   \
			FXTRACE_FILL(fxtrace_args_, __VA_ARGS__)                                   \
			fxtrace_on_->write(&fxtrace_place_.place, type, category, name,            \
					   (uint64_t)(FXTRACE_FIRST(__VA_ARGS__)), fxtrace_args_,  \
					   FXTRACE_COUNT(__VA_ARGS__) / 2);                        \
		}                                                                                  \
	} while (0)
#endif

/* --- The macros -------------------------------------------------------------------------------------- */

#ifdef NTRACE
#define TRACE_ENABLED()			 false
#define TRACE_CATEGORY_ENABLED(category) false
#define TRACE_NONCE()			 UINT64_C(0)
#define TRACE_DURATION(category, ...)	 ((void)0)
#else
/* Whether tracing runs; whether events of the category are recorded; a number that no other has in this session. */
#define TRACE_ENABLED() fxtrace_enabled()
#define TRACE_NONCE()	fxtrace_nonce()
#define TRACE_CATEGORY_ENABLED(category)                                                           \
	(__extension__({                                                                           \
		static struct fxtrace_place fxtrace_place_;                                        \
		fxtrace_on(&fxtrace_place_, category) != NULL;                                     \
	}))

/* TRACE_DURATION(category, name, key, value...): from here to the end of the block. */
#define TRACE_DURATION(category, ...) FXTRACE_DURATION(__COUNTER__, category, __VA_ARGS__)
#define FXTRACE_DURATION(number, category, ...)                                                    \
	FXTRACE_DURATION_(FXTRACE_JOIN(fxtrace_place_, number),                                    \
			  FXTRACE_JOIN(fxtrace_args_, number),                                     \
			  FXTRACE_JOIN(fxtrace_scope_, number), category, __VA_ARGS__)
#ifdef __cplusplus
#define FXTRACE_DURATION_(place_, args_, scope, category, ...)                                     \
	FXTRACE_PLACE(place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                                 \
	::fxtrace::duration scope(fxtrace_on(&place_.place, category), &place_.place, category,    \
				  FXTRACE_FIRST(__VA_ARGS__), [&]() FXTRACE_UNTRACED {             \
					  return ::fxtrace::hold_all(__VA_ARGS__);                 \
				  })
#else
#define FXTRACE_DURATION_(place_, args_, scope, category, ...)                                     \
	FXTRACE_PLACE(place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                                 \
	struct fxtrace_arg args_[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];                              \
	__attribute__((cleanup(fxtrace_scope_close))) struct fxtrace_scope scope = {               \
	    .events = fxtrace_on(&place_.place, category)};                                        \
                                                                                                   \
	if (scope.events) {                                                                        \
		FXTRACE_FILL(args_, __VA_ARGS__)                                                   \
		fxtrace_scope_open(&scope, &place_.place, category, FXTRACE_FIRST(__VA_ARGS__),    \
				   args_, FXTRACE_COUNT(__VA_ARGS__) / 2);                         \
	}                                                                                          \
	(void)0
#endif
#endif

/* TRACE_DURATION_BEGIN(category, name, key, value...), and the same at its end, on the same thread. Their arguments are shown
 * together. */
#define TRACE_DURATION_BEGIN(category, ...)                                                        \
	FXTRACE_NUMBERLESS(FXTRACE_DURATION_BEGIN_EVENT, category, __VA_ARGS__)
#define TRACE_DURATION_END(category, ...)                                                          \
	FXTRACE_NUMBERLESS(FXTRACE_DURATION_END_EVENT, category, __VA_ARGS__)
#define FXTRACE_NUMBERLESS(type, category, ...)                                                    \
	FXTRACE_JOIN(FXTRACE_NUMBERLESS_, FXTRACE_MORE(__VA_ARGS__))(type, category, __VA_ARGS__)
#define FXTRACE_NUMBERLESS_0(type, category, name) FXTRACE_WRITE(type, category, name, 0)
#define FXTRACE_NUMBERLESS_1(type, category, name, ...)                                            \
	FXTRACE_WRITE(type, category, name, 0, __VA_ARGS__)

/* Whether there are parameters behind the first. */
#define FXTRACE_MORE(...)                                                                          \
	FXTRACE_COUNT_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
		       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0)

/* TRACE_INSTANT(category, name, scope, key, value...) */
#define TRACE_INSTANT(category, name, ...)                                                         \
	FXTRACE_WRITE(FXTRACE_INSTANT_EVENT, category, name, __VA_ARGS__)

/* TRACE_COUNTER(category, name, id, key, value...): each numeric argument is a series of its own. */
#define TRACE_COUNTER(category, name, ...)                                                         \
	FXTRACE_WRITE(FXTRACE_COUNTER_EVENT, category, name, __VA_ARGS__)

/* TRACE_ASYNC_BEGIN(category, name, id, key, value...): goes on until TRACE_ASYNC_END of the same id, on any thread. */
#define TRACE_ASYNC_BEGIN(category, name, ...)                                                     \
	FXTRACE_WRITE(FXTRACE_ASYNC_BEGIN_EVENT, category, name, __VA_ARGS__)
#define TRACE_ASYNC_INSTANT(category, name, ...)                                                   \
	FXTRACE_WRITE(FXTRACE_ASYNC_INSTANT_EVENT, category, name, __VA_ARGS__)
#define TRACE_ASYNC_END(category, name, ...)                                                       \
	FXTRACE_WRITE(FXTRACE_ASYNC_END_EVENT, category, name, __VA_ARGS__)

/* TRACE_FLOW_BEGIN(category, name, id, key, value...): arrows between the durations that these stand in. */
#define TRACE_FLOW_BEGIN(category, name, ...)                                                      \
	FXTRACE_WRITE(FXTRACE_FLOW_BEGIN_EVENT, category, name, __VA_ARGS__)
#define TRACE_FLOW_STEP(category, name, ...)                                                       \
	FXTRACE_WRITE(FXTRACE_FLOW_STEP_EVENT, category, name, __VA_ARGS__)
#define TRACE_FLOW_END(category, name, ...)                                                        \
	FXTRACE_WRITE(FXTRACE_FLOW_END_EVENT, category, name, __VA_ARGS__)

/* TRACE_INSTAFLOW_BEGIN(category, flow, step, id, key, value...): a flow, and a duration of no length for it to stand in, which
 * is called `step` and has the arguments. */
#define TRACE_INSTAFLOW_BEGIN(category, flow, step, ...)                                           \
	FXTRACE_INSTAFLOW(TRACE_FLOW_BEGIN, category, flow, step, __VA_ARGS__)
#define TRACE_INSTAFLOW_STEP(category, flow, step, ...)                                            \
	FXTRACE_INSTAFLOW(TRACE_FLOW_STEP, category, flow, step, __VA_ARGS__)
#define TRACE_INSTAFLOW_END(category, flow, step, ...)                                             \
	FXTRACE_INSTAFLOW(TRACE_FLOW_END, category, flow, step, __VA_ARGS__)
#define FXTRACE_INSTAFLOW(write, category, flow, step, ...)                                        \
	FXTRACE_JOIN(FXTRACE_INSTAFLOW_, FXTRACE_MORE(__VA_ARGS__))                                \
	(write, category, flow, step, __VA_ARGS__)
#define FXTRACE_INSTAFLOW_0(write, category, flow, step, id)                                       \
	do {                                                                                       \
		TRACE_DURATION(category, step);                                                    \
		write(category, flow, id);                                                         \
	} while (0)
#define FXTRACE_INSTAFLOW_1(write, category, flow, step, id, ...)                                  \
	do {                                                                                       \
		TRACE_DURATION(category, step, __VA_ARGS__);                                       \
		write(category, flow, id);                                                         \
	} while (0)

/* TRACE_ALERT(category, name): what whoever traces the program has set for the alert happens (alert.h): 1 to 14 bytes. */
#ifdef NTRACE
#define TRACE_ALERT(category, name) ((void)0)
#else
#define TRACE_ALERT(category, name)                                                                \
	do {                                                                                       \
		static struct fxtrace_place fxtrace_place_;                                        \
		const struct fxtrace_events *fxtrace_on_ = fxtrace_on(&fxtrace_place_, category);  \
		if (fxtrace_on_)                                                                   \
			(void)fxtrace_on_->alert(name);                                            \
	} while (0)
#endif

/* --- C++ ----------------------------------------------------------------------------------------------- */

#if defined(__cplusplus) && !defined(NTRACE)

#if __cplusplus < 201703L
#error "<fxtrace/event.h> takes C++17 or later"
#endif

#include <new>
#include <type_traits>
#include <utility>

namespace fxtrace
{

template <typename T, typename = void> struct is_text : std::false_type {
};
template <typename T>
struct is_text<
    T, decltype(static_cast<void>(static_cast<const char *>(std::declval<const T &>().data())),
		static_cast<void>(static_cast<size_t>(std::declval<const T &>().size())))>
    : std::true_type {
};

template <typename T> FXTRACE_UNTRACED inline fxtrace_value value_of(const T &v)
{
	if constexpr (std::is_same_v<T, fxtrace_value>)
		return v;
	else if constexpr (std::is_same_v<T, bool>)
		return TA_BOOL(v);
	else if constexpr (std::is_same_v<T, std::nullptr_t>)
		return TA_NULL();
	else if constexpr (std::is_enum_v<T>)
		return value_of(static_cast<std::underlying_type_t<T>>(v));
	else if constexpr (std::is_floating_point_v<T>)
		return TA_DOUBLE(static_cast<double>(v));
	else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
		return sizeof(T) <= 4 ? TA_INT32(v) : TA_INT64(v);
	else if constexpr (std::is_integral_v<T>)
		return sizeof(T) <= 4 ? TA_UINT32(v) : TA_UINT64(v);
	else if constexpr (std::is_convertible_v<T, const char *>)
		return TA_STRING(static_cast<const char *>(v));
	else if constexpr (std::is_pointer_v<T>)
		return TA_POINTER(v);
	else {
		static_assert(is_text<T>::value,
			      "a value is a number, a pointer, an enum or a text");
		return TA_CHAR_ARRAY(v.data(), v.size());
	}
}

FXTRACE_UNTRACED inline void fill_all(fxtrace_arg *)
{
}
template <typename V, typename... Rest>
FXTRACE_UNTRACED inline void fill_all(fxtrace_arg *arg, const char *key, const V &value,
				      const Rest &...rest)
{
	fxtrace_fill(arg, key, value_of<std::decay_t<const V>>(value));
	fill_all(arg + 1, rest...);
}

template <typename Number, typename... Args>
FXTRACE_UNTRACED inline void write(const fxtrace_events *events, fxtrace_place *place,
				   unsigned type, const char *category, const char *name,
				   Number number, const Args &...args)
{
	static_assert(sizeof...(args) % 2 == 0, "arguments come as key, value");
	static_assert(sizeof...(args) <= 30, "an event has 15 arguments at most");
	fxtrace_arg filled[sizeof...(args) / 2 + 1];

	fill_all(filled, args...);
	events->write(place, type, category, name, static_cast<uint64_t>(number), filled,
		      sizeof...(args) / 2);
}

/* The arguments of a duration, from its beginning to its end. */
template <typename... Args> struct held {
	static constexpr size_t count = 0;
	FXTRACE_UNTRACED void fill(fxtrace_arg *) const
	{
	}
};
template <typename K, typename V, typename... Rest> struct held<K, V, Rest...> {
	static constexpr size_t count = 1 + held<Rest...>::count;
	const char *key;
	std::decay_t<V> value;
	held<Rest...> rest;
	FXTRACE_UNTRACED void fill(fxtrace_arg *arg) const
	{
		fxtrace_fill(arg, key, value_of<std::decay_t<const V>>(value));
		rest.fill(arg + 1);
	}
};

FXTRACE_UNTRACED inline held<> hold()
{
	return {};
}
template <typename K, typename V, typename... Rest>
FXTRACE_UNTRACED inline held<K, V, Rest...> hold(K &&key, V &&value, Rest &&...rest)
{
	return {key, static_cast<V &&>(value), hold(static_cast<Rest &&>(rest)...)};
}
template <typename... Args> FXTRACE_UNTRACED inline auto hold_all(const char *, Args &&...args)
{
	static_assert(sizeof...(args) % 2 == 0, "arguments come as key, value");
	static_assert(sizeof...(args) <= 30, "an event has 15 arguments at most");
	return hold(static_cast<Args &&>(args)...);
}

template <typename Evaluate> class duration
{
	using arguments = decltype(std::declval<Evaluate>()());

	union {
		char none;
		arguments values;
	};
	fxtrace_arg args[arguments::count + 1];
	fxtrace_scope scope;

      public:
	FXTRACE_UNTRACED duration(const fxtrace_events *events, fxtrace_place *place,
				  const char *category, const char *name, Evaluate evaluate)
	    : none(0)
	{
		scope.events = events;
		if (!events)
			return;
		new (&values) arguments(evaluate());
		values.fill(args);
		fxtrace_scope_open(&scope, place, category, name, args, arguments::count);
	}
	duration(const duration &) = delete;
	duration &operator=(const duration &) = delete;
	FXTRACE_UNTRACED ~duration()
	{
		if (!scope.events)
			return;
		scope.events->close(&scope);
		values.~arguments();
	}
};

} // namespace fxtrace

#endif

#endif /* FXTRACE_EVENT_H */
