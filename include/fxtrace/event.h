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

#include <fxtrace/event_base.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#elif defined(__clang__)
#pragma clang system_header
#endif

/* Of an instant: how far it is of interest. */
#define TRACE_SCOPE_THREAD  0
#define TRACE_SCOPE_PROCESS 1
#define TRACE_SCOPE_GLOBAL  2

/* --- What the macros are made of -------------------------------------------------------------------- */

#define FXTRACE_FIRST(...)	   FXTRACE_FIRST_(__VA_ARGS__, 0)
#define FXTRACE_FIRST_(first, ...) first
#define FXTRACE_JOIN(a, b)	   FXTRACE_JOIN_(a, b)
#define FXTRACE_JOIN_(a, b)	   a##b

/* How many parameters there are, up to 64. */
#define FXTRACE_COUNT(...)                                                                         \
	FXTRACE_COUNT_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50,    \
		       49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, \
		       30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, \
		       11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define FXTRACE_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, \
		       a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,  \
		       a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47,  \
		       a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62,  \
		       a63, a64, n, ...)                                                           \
	n

/* First, key, value, key, value...: fills an array. By the number of parameters, where an even one is as 2, and more than 31 are as 33. */
#define FXTRACE_FILL(at, ...)                                                                      \
	FXTRACE_JOIN(FXTRACE_FILL_, FXTRACE_FILLS(__VA_ARGS__))(at, __VA_ARGS__)
#define FXTRACE_FILLS(...)                                                                         \
	FXTRACE_COUNT_(__VA_ARGS__, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33,    \
		       33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 2, 31,  \
		       2, 29, 2, 27, 2, 25, 2, 23, 2, 21, 2, 19, 2, 17, 2, 15, 2, 13, 2, 11, 2, 9, \
		       2, 7, 2, 5, 2, 3, 2, 1, 0)
#define FXTRACE_FILL_2(...)  _Static_assert(0, "arguments come as key, value");
#define FXTRACE_FILL_33(...) _Static_assert(0, "an event has 15 arguments at most");
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

#if defined(NTRACE)
#define FXTRACE_PUT(payload, category, name, data, ...) ((void)0)
#elif defined(__cplusplus)
#define FXTRACE_PUT(payload, category, name, data, ...)                                            \
	do {                                                                                       \
		FXTRACE_PLACE(fxtrace_place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                 \
		const struct fxtrace_events *fxtrace_on_ =                                         \
		    fxtrace_on(&fxtrace_place_.place, category);                                   \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, put))                                  \
			::fxtrace::put(fxtrace_on_, &fxtrace_place_.place, payload, category,      \
				       name, data, __VA_ARGS__);                                   \
	} while (0)
#else
#define FXTRACE_PUT(payload, category, name, data, ...)                                            \
	do {                                                                                       \
		FXTRACE_PLACE(fxtrace_place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                 \
		const struct fxtrace_events *fxtrace_on_ =                                         \
		    fxtrace_on(&fxtrace_place_.place, category);                                   \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, put)) {                                \
			struct fxtrace_arg fxtrace_args_[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];      \
                                                                                                   \
			FXTRACE_FILL(fxtrace_args_, __VA_ARGS__)                                   \
			fxtrace_on_->put(&fxtrace_place_.place, payload, category, name, data,     \
					 (size_t)(FXTRACE_FIRST(__VA_ARGS__)), fxtrace_args_,      \
					 FXTRACE_COUNT(__VA_ARGS__) / 2);                          \
		}                                                                                  \
	} while (0)
#endif

/* The same without a category: whenever tracing runs. */
#if defined(NTRACE)
#define FXTRACE_PUT_ANYHOW(payload, ...) ((void)0)
#elif defined(__cplusplus)
#define FXTRACE_PUT_ANYHOW(payload, ...)                                                           \
	do {                                                                                       \
		FXTRACE_PLACE(fxtrace_place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                 \
		const struct fxtrace_events *fxtrace_on_ = fxtrace_on_at_all();                    \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, put))                                  \
			::fxtrace::put(fxtrace_on_, &fxtrace_place_.place, payload, nullptr,       \
				       nullptr, nullptr, __VA_ARGS__);                             \
	} while (0)
#else
#define FXTRACE_PUT_ANYHOW(payload, ...)                                                           \
	do {                                                                                       \
		FXTRACE_PLACE(fxtrace_place_, FXTRACE_COUNT(__VA_ARGS__) / 2 + 1);                 \
		const struct fxtrace_events *fxtrace_on_ = fxtrace_on_at_all();                    \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, put)) {                                \
			struct fxtrace_arg fxtrace_args_[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];      \
                                                                                                   \
			FXTRACE_FILL(fxtrace_args_, __VA_ARGS__)                                   \
			fxtrace_on_->put(&fxtrace_place_.place, payload, NULL, NULL, NULL,         \
					 (size_t)(FXTRACE_FIRST(__VA_ARGS__)), fxtrace_args_,      \
					 FXTRACE_COUNT(__VA_ARGS__) / 2);                          \
		}                                                                                  \
	} while (0)
#endif

#if defined(NTRACE)
#define FXTRACE_WRITE_AT(type, category, name, vthread, id, number, ...) ((void)0)
#elif defined(__cplusplus)
#define FXTRACE_WRITE_AT(type, category, name, vthread, id, number, ...)                           \
	do {                                                                                       \
		static struct fxtrace_place fxtrace_place_;                                        \
		const struct fxtrace_events *fxtrace_on_ = fxtrace_on(&fxtrace_place_, category);  \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, write_at))                             \
			::fxtrace::write_at(fxtrace_on_, type, category, name, vthread, id,        \
					    number, __VA_ARGS__);                                  \
	} while (0)
#else
#define FXTRACE_WRITE_AT(type, category, name, vthread_, id_, number, ...)                         \
	do {                                                                                       \
		static struct fxtrace_place fxtrace_place_;                                        \
		const struct fxtrace_events *fxtrace_on_ = fxtrace_on(&fxtrace_place_, category);  \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, write_at)) {                           \
			struct fxtrace_arg fxtrace_args_[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];      \
			const struct fxtrace_at fxtrace_at_ = {                                    \
			    .vthread = (vthread_),                                                 \
			    .id = (uint64_t)(id_),                                                 \
			    .ticks = (uint64_t)(FXTRACE_FIRST(__VA_ARGS__))};                      \
                                                                                                   \
			FXTRACE_FILL(fxtrace_args_, __VA_ARGS__)                                   \
			fxtrace_on_->write_at(&fxtrace_at_, type, category, name,                  \
					      (uint64_t)(number), fxtrace_args_,                   \
					      FXTRACE_COUNT(__VA_ARGS__) / 2);                     \
		}                                                                                  \
	} while (0)
#endif

/* --- The macros -------------------------------------------------------------------------------------- */

#ifdef NTRACE
#define TRACE_ENABLED()			 false
#define TRACE_CATEGORY_ENABLED(category) false
#define TRACE_NONCE()			 UINT64_C(0)
#define TRACE_TICKS()			 UINT64_C(0)
#define TRACE_KOID(fd)			 UINT64_C(0)
#define TRACE_DURATION(category, ...)	 ((void)0)
#else
/* Whether tracing runs; whether events of the category are recorded; a number that no other has in this session; the time, for
 * the macros that take one: 0 unless tracing runs; what TRACE_KERNEL_OBJECT() gives a descriptor, 0 likewise. */
#define TRACE_ENABLED() fxtrace_enabled()
#define TRACE_NONCE()	fxtrace_nonce()
#define TRACE_TICKS()	fxtrace_ticks()
#define TRACE_KOID(fd)	fxtrace_koid(fd)
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
	__attribute__((cleanup(fxtrace_scope_close))) struct fxtrace_scope scope;                  \
                                                                                                   \
	scope.events = fxtrace_on(&place_.place, category);                                        \
	if (scope.events) {                                                                        \
		FXTRACE_FILL(args_, __VA_ARGS__)                                                   \
		fxtrace_scope_open(&scope, &place_.place, category, FXTRACE_FIRST(__VA_ARGS__),    \
				   args_, FXTRACE_COUNT(__VA_ARGS__) / 2);                         \
	}                                                                                          \
	(void)0
#endif
#endif

/*
 * For macros of one's own, on <fxtrace/context.h>: TRACE_DECLARE_ARGS(context, array, key, value...); declares and fills an
 * array of arguments, which has TRACE_NUM_ARGS(array) of them. In C++ objects are copied, and stay as long as the array.
 * TRACE_COMPLETE_ARGS(context, array, count); is for Fuchsia's engine, and nothing here.
 */
#ifdef __cplusplus
#define TRACE_DECLARE_ARGS(context, ...)                                                           \
	FXTRACE_DECLARE_ARGS(FXTRACE_JOIN(fxtrace_held_, __COUNTER__), context,                    \
			     FXTRACE_FIRST(__VA_ARGS__), __VA_ARGS__)
#define FXTRACE_DECLARE_ARGS(held, context, array, ...)                                            \
	const auto held = FXTRACE_HOLD(__VA_ARGS__);                                               \
	struct fxtrace_arg array[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];                              \
	(void)(context);                                                                           \
	held.fill(array)
#define FXTRACE_HOLD(...)	   FXTRACE_JOIN(FXTRACE_HOLD_, FXTRACE_MORE(__VA_ARGS__))(__VA_ARGS__)
#define FXTRACE_HOLD_0(array)	   ::fxtrace::hold_all(nullptr)
#define FXTRACE_HOLD_1(array, ...) ::fxtrace::hold_all(nullptr, __VA_ARGS__)
#else
#define TRACE_DECLARE_ARGS(context, ...)                                                           \
	struct fxtrace_arg FXTRACE_FIRST(__VA_ARGS__)[FXTRACE_COUNT(__VA_ARGS__) / 2 + 1];         \
	(void)(context);                                                                           \
	FXTRACE_FILL(FXTRACE_FIRST(__VA_ARGS__), __VA_ARGS__)                                      \
	(void)0
#endif
#define TRACE_NUM_ARGS(array)			   (sizeof(array) / sizeof((array)[0]) - 1)
#define TRACE_COMPLETE_ARGS(context, array, count) ((void)(context), (void)(array), (void)(count))

/* TRACE_CATEGORY(category, description);, outside of functions: the module has events of the category. It is known, and listed
 * with its description (400 bytes of it), from the time on that the module is loaded, whether tracing runs or not, and not
 * only from its first event on. */
#ifdef NTRACE
#define TRACE_CATEGORY(category, description) struct fxtrace_category_
#else
#define TRACE_CATEGORY(category, description)                                                      \
	FXTRACE_CATEGORY(FXTRACE_JOIN(fxtrace_category_, __COUNTER__), category, description)
#define FXTRACE_CATEGORY(function, category, description)                                          \
	__attribute__((constructor, used)) FXTRACE_UNTRACED static void function(void)             \
	{                                                                                          \
		fxtrace_describe(category, description);                                           \
	}                                                                                          \
	struct fxtrace_category_ /* for a semicolon */
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
		       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  \
		       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)

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

/* TRACE_FLOW_BEGIN(category, name, id, key, value...): arrows between the durations that these stand in. One outside of any
 * gets an instant of its name to stand in, and the summary counts these. */
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
#ifdef NTRACE
#define FXTRACE_INSTAFLOW(write, category, flow, step, ...) ((void)0)
#else
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
#endif

/*
 * Virtual threads: what happens elsewhere, or another time, on a device as it may be. Each is a track of its own beside the
 * threads of its process, known there by its id, of which bit 63 does not count, and called `vthread' as in the first event
 * of it. `ticks' is when it happened, of TRACE_TICKS(), earlier than now or later; nothing is recorded of 0, nor of what has
 * bit 63. What is begun is ended with the same name, by any thread of the process, in any order of the calls: times count.
 * Of a process 16384 are recorded; of others events are lost, and counted.
 *
 * TRACE_VTHREAD_DURATION_BEGIN(category, name, vthread, vthread id, ticks, key, value...)
 * TRACE_VTHREAD_FLOW_BEGIN(category, name, vthread, vthread id, flow id, ticks, key, value...)
 * TRACE_VTHREAD_COUNTER(category, name, vthread, vthread id, counter id, ticks, key, value...)
 */
#define TRACE_VTHREAD_DURATION_BEGIN(category, name, vthread, vthread_id, ...)                     \
	FXTRACE_WRITE_AT(FXTRACE_DURATION_BEGIN_EVENT, category, name, vthread, vthread_id, 0,     \
			 __VA_ARGS__)
#define TRACE_VTHREAD_DURATION_END(category, name, vthread, vthread_id, ...)                       \
	FXTRACE_WRITE_AT(FXTRACE_DURATION_END_EVENT, category, name, vthread, vthread_id, 0,       \
			 __VA_ARGS__)
#define TRACE_VTHREAD_FLOW_BEGIN(category, name, vthread, vthread_id, flow_id, ...)                \
	FXTRACE_WRITE_AT(FXTRACE_FLOW_BEGIN_EVENT, category, name, vthread, vthread_id, flow_id,   \
			 __VA_ARGS__)
#define TRACE_VTHREAD_FLOW_STEP(category, name, vthread, vthread_id, flow_id, ...)                 \
	FXTRACE_WRITE_AT(FXTRACE_FLOW_STEP_EVENT, category, name, vthread, vthread_id, flow_id,    \
			 __VA_ARGS__)
#define TRACE_VTHREAD_FLOW_END(category, name, vthread, vthread_id, flow_id, ...)                  \
	FXTRACE_WRITE_AT(FXTRACE_FLOW_END_EVENT, category, name, vthread, vthread_id, flow_id,     \
			 __VA_ARGS__)
#define TRACE_VTHREAD_COUNTER(category, name, vthread, vthread_id, counter_id, ...)                \
	FXTRACE_WRITE_AT(FXTRACE_COUNTER_EVENT, category, name, vthread, vthread_id, counter_id,   \
			 __VA_ARGS__)

/* TRACE_BLOB_EVENT(category, name, blob, size, key, value...): an event of this moment and thread with `size' bytes of the
 * program's, which are copied: up to 256 KB with all else. What is larger, or finds no room, is lost as a whole, and counted. */
#define TRACE_BLOB_EVENT(category, name, blob, ...)                                                \
	FXTRACE_PUT(FXTRACE_BLOB_EVENT, category, name, blob, __VA_ARGS__)
/* The same of no moment and no thread: it belongs to the trace. */
#define TRACE_BLOB_ATTACHMENT(category, name, blob, size)                                          \
	FXTRACE_PUT(FXTRACE_BLOB_ATTACHMENT, category, name, blob, size)

/* TRACE_USERSPACE_OBJECT(category, pointer, name, key, value...): what the object at an address is called, and is. */
#define TRACE_USERSPACE_OBJECT(category, pointer, ...)                                             \
	FXTRACE_JOIN(FXTRACE_OBJECT_, FXTRACE_MORE(__VA_ARGS__))(category, pointer, __VA_ARGS__)
#define FXTRACE_OBJECT_0(category, pointer, name)                                                  \
	FXTRACE_PUT(FXTRACE_OBJECT, category, name, pointer, 0)
#define FXTRACE_OBJECT_1(category, pointer, name, ...)                                             \
	FXTRACE_PUT(FXTRACE_OBJECT, category, name, pointer, 0, __VA_ARGS__)

/*
 * TRACE_KERNEL_OBJECT(fd, key, value...): what a descriptor leads to, as the kernel tells: a file, pipe, socket, eventfd, epoll or
 * timer, with its type, its name and a koid. That is the number by which events refer to it, as TA_KOID(TRACE_KOID(fd)); it
 * is the same in every process that has the object, but for what has no inode of its own (eventfd and the like), which is known
 * by process and descriptor. Recorded whenever tracing runs. Either macro asks the kernel: they are for where an object is made
 * or met, not for each use. Threads and processes are named without; their koids are tid and pid.
 */
#define TRACE_KERNEL_OBJECT(...) FXTRACE_PUT_ANYHOW(FXTRACE_KERNEL_OBJECT, __VA_ARGS__)

/* TRACE_LOG(category, text): a line of the program's log, of this moment and thread; 32 KB of it at most. In C++ `text' may be
 * what has data() and size(). TRACE_BLOB(type, name, blob, size) is the older way of TRACE_BLOB_ATTACHMENT: recorded whenever
 * tracing runs, 32 KB at most; `type' is TRACE_BLOB_TYPE_DATA or TRACE_BLOB_TYPE_LAST_BRANCH. Names that
 * begin with fxtrace: are the tracer's own, and not recorded. */
#if defined(NTRACE)
#define TRACE_LOG(category, text)	   ((void)0)
#define TRACE_BLOB(type, name, blob, size) ((void)0)
#else
#ifdef __cplusplus
#define TRACE_LOG(category, text)                                                                  \
	do {                                                                                       \
		static struct fxtrace_place fxtrace_place_;                                        \
		const struct fxtrace_events *fxtrace_on_ = fxtrace_on(&fxtrace_place_, category);  \
                                                                                                   \
		if (fxtrace_on_ && FXTRACE_HAS(fxtrace_on_, put))                                  \
			::fxtrace::log(fxtrace_on_, &fxtrace_place_, category, text);              \
	} while (0)
#else
#define TRACE_LOG(category, text) FXTRACE_PUT(FXTRACE_LOG, category, "", text, SIZE_MAX)
#endif
#define TRACE_BLOB(type, name, blob, size)                                                         \
	do {                                                                                       \
		static struct fxtrace_place fxtrace_place_;                                        \
                                                                                                   \
		fxtrace_put_blob(&fxtrace_place_, type, name, blob, size);                         \
	} while (0)
#endif

/* TRACE_ALERT(category, name): what the tracer has set for the alert happens (alert.h): 1 to 14 bytes. */
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

#ifdef __cplusplus
#include <fxtrace/event_deduced.hpp>
#endif

#endif /* FXTRACE_EVENT_H */
