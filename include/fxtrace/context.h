/* SPDX-License-Identifier: MIT */
/*
 * For sources that have macros of their own on Fuchsia's trace-engine: contexts, references, and functions that write an event
 * whose arguments TRACE_DECLARE_ARGS() has declared. Others need <fxtrace/event.h> alone, whose macros cost less: here each
 * event looks its texts up.
 *
 *	#define MY_COUNTER(category, name, id, ...)							\
 *		do {											\
 *			trace_string_ref_t category_ref, name_ref;					\
 *			trace_thread_ref_t thread_ref;							\
 *			trace_context_t *context =							\
 *			    trace_acquire_context_for_category(category, &category_ref);		\
 *			if (context) {									\
 *				TRACE_DECLARE_ARGS(context, args, __VA_ARGS__);				\
 *				trace_context_register_current_thread(context, &thread_ref);		\
 *				trace_context_register_string_literal(context, name, &name_ref);	\
 *				TRACE_COMPLETE_ARGS(context, args, TRACE_NUM_ARGS(args));		\
 *				trace_context_write_counter_event_record(				\
 *				    context, trace_ticks(), &thread_ref, &category_ref, &name_ref, id,	\
 *				    args, TRACE_NUM_ARGS(args));					\
 *				trace_release_context(context);						\
 *			}										\
 *		} while (0)
 *
 * What differs: an event of the calling thread has the time at which it is written, whatever `ticks' says, for what a thread did
 * nests; a duration begins when it says, but ends then, and is cut, or counted as lost, where it would not nest. One of a virtual thread has the
 * time that is given. A context is nothing that is held: between acquire and
 * release tracing may stop, and what is written then is not recorded. Where tracing does not run there is none.
 */
#ifndef FXTRACE_CONTEXT_H
#define FXTRACE_CONTEXT_H

#include <fxtrace/event.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#elif defined(__clang__)
#pragma clang system_header
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef const struct fxtrace_events trace_context_t;
typedef struct fxtrace_arg trace_arg_t;
typedef struct fxtrace_value trace_arg_value_t;
typedef uint64_t trace_ticks_t;
typedef uint64_t trace_vthread_id_t;

/* A literal. */
typedef struct {
	const char *text;
} trace_string_ref_t;

/* The calling thread, or a virtual one. */
typedef struct {
	bool is_virtual;
	struct fxtrace_at at;
} trace_thread_ref_t;

/* What a place that writes remembers of its category; zeroes at first. */
typedef struct {
	struct fxtrace_place place;
} trace_site_t;

/* The place of an event that remembers nothing. */
struct fxtrace_passing {
	struct fxtrace_place place;
	uint16_t keys[15];
};

#ifdef NTRACE
#define FXTRACE_UNLESS_NTRACE(...) ((void)0)
#else
#define FXTRACE_UNLESS_NTRACE(...) __VA_ARGS__
#endif

/* --- Whether there is one ---------------------------------------------------------------------------- */

FXTRACE_INLINE bool trace_is_enabled(void)
{
	return TRACE_ENABLED();
}

FXTRACE_INLINE uint64_t trace_generate_nonce(void)
{
	return TRACE_NONCE();
}

/* In the place of zx_ticks_get(). */
FXTRACE_INLINE trace_ticks_t trace_ticks(void)
{
	return TRACE_TICKS();
}

/* NULL: events of the category are not recorded. */
FXTRACE_INLINE trace_context_t *trace_acquire_context_for_category_cached(const char *category,
									  trace_site_t *site,
									  trace_string_ref_t *ret)
{
	trace_context_t *context = NULL;

	(void)site;
	FXTRACE_UNLESS_NTRACE(context = fxtrace_on(&site->place, category));
	ret->text = category;
	return context;
}

FXTRACE_INLINE trace_context_t *trace_acquire_context_for_category(const char *category,
								   trace_string_ref_t *ret)
{
	trace_site_t site = {{0, 0, NULL}};

	return trace_acquire_context_for_category_cached(category, &site, ret);
}

FXTRACE_INLINE bool trace_is_category_enabled(const char *category)
{
	trace_string_ref_t ref;

	return trace_acquire_context_for_category(category, &ref) != NULL;
}

/* NULL: tracing does not run. */
FXTRACE_INLINE trace_context_t *trace_acquire_context(void)
{
	trace_context_t *context = NULL;

	FXTRACE_UNLESS_NTRACE(context = fxtrace_on_at_all());
	return context;
}

FXTRACE_INLINE void trace_release_context(trace_context_t *context)
{
	(void)context;
}

/* --- References ---------------------------------------------------------------------------------------- */

FXTRACE_INLINE void trace_context_register_string_literal(trace_context_t *context,
							  const char *literal,
							  trace_string_ref_t *ret)
{
	(void)context;
	ret->text = literal;
}

FXTRACE_INLINE void trace_context_register_current_thread(trace_context_t *context,
							  trace_thread_ref_t *ret)
{
	(void)context;
	memset(ret, 0, sizeof(*ret));
}

/* `process' is not looked at: a virtual thread is of the calling process. */
FXTRACE_INLINE void trace_context_register_vthread(trace_context_t *context, uint64_t process,
						   const char *name, trace_vthread_id_t id,
						   trace_thread_ref_t *ret)
{
	(void)context;
	(void)process;
	ret->is_virtual = true;
	ret->at.vthread = name;
	ret->at.id = id;
	ret->at.ticks = 0;
}

/* --- Events ---------------------------------------------------------------------------------------------- */

FXTRACE_INLINE void fxtrace_context_write(trace_context_t *context, unsigned type,
					  trace_ticks_t ticks, const trace_thread_ref_t *thread,
					  const trace_string_ref_t *category,
					  const trace_string_ref_t *name, uint64_t number,
					  const trace_arg_t *args, size_t count)
{
	if (thread->is_virtual) {
		struct fxtrace_at at = thread->at;

		at.ticks = ticks;
		if (FXTRACE_HAS(context, write_at))
			context->write_at(&at, type, category->text, name->text, number, args,
					  count);
	} else {
		struct fxtrace_passing passing;

		memset(&passing, 0, sizeof(passing));
		context->write(&passing.place, type, category->text, name->text, number, args,
			       count);
	}
}

#define FXTRACE_CONTEXT_WRITER(kind, type)                                                         \
	FXTRACE_INLINE void trace_context_write_##kind##_event_record(                             \
	    trace_context_t *context, trace_ticks_t ticks, const trace_thread_ref_t *thread,       \
	    const trace_string_ref_t *category, const trace_string_ref_t *name,                    \
	    const trace_arg_t *args, size_t count)                                                 \
	{                                                                                          \
		fxtrace_context_write(context, type, ticks, thread, category, name, 0, args,       \
				      count);                                                      \
	}
#define FXTRACE_CONTEXT_NUMBERED(kind, type, number)                                               \
	FXTRACE_INLINE void trace_context_write_##kind##_event_record(                             \
	    trace_context_t *context, trace_ticks_t ticks, const trace_thread_ref_t *thread,       \
	    const trace_string_ref_t *category, const trace_string_ref_t *name, uint64_t number,   \
	    const trace_arg_t *args, size_t count)                                                 \
	{                                                                                          \
		fxtrace_context_write(context, type, ticks, thread, category, name, number, args,  \
				      count);                                                      \
	}

FXTRACE_CONTEXT_WRITER(duration_begin, FXTRACE_DURATION_BEGIN_EVENT)
FXTRACE_CONTEXT_WRITER(duration_end, FXTRACE_DURATION_END_EVENT)
FXTRACE_CONTEXT_NUMBERED(instant, FXTRACE_INSTANT_EVENT, scope)
FXTRACE_CONTEXT_NUMBERED(counter, FXTRACE_COUNTER_EVENT, id)
FXTRACE_CONTEXT_NUMBERED(async_begin, FXTRACE_ASYNC_BEGIN_EVENT, id)
FXTRACE_CONTEXT_NUMBERED(async_instant, FXTRACE_ASYNC_INSTANT_EVENT, id)
FXTRACE_CONTEXT_NUMBERED(async_end, FXTRACE_ASYNC_END_EVENT, id)
FXTRACE_CONTEXT_NUMBERED(flow_begin, FXTRACE_FLOW_BEGIN_EVENT, id)
FXTRACE_CONTEXT_NUMBERED(flow_step, FXTRACE_FLOW_STEP_EVENT, id)
FXTRACE_CONTEXT_NUMBERED(flow_end, FXTRACE_FLOW_END_EVENT, id)

/* Of the calling thread it ends now. */
FXTRACE_INLINE void trace_context_write_duration_event_record(
    trace_context_t *context, trace_ticks_t start, trace_ticks_t end,
    const trace_thread_ref_t *thread, const trace_string_ref_t *category,
    const trace_string_ref_t *name, const trace_arg_t *args, size_t count)
{
	if (thread->is_virtual) {
		trace_context_write_duration_begin_event_record(context, start, thread, category,
								name, args, count);
		trace_context_write_duration_end_event_record(context, end, thread, category, name,
							      NULL, 0);
	} else {
		fxtrace_context_write(context, FXTRACE_DURATION_COMPLETE_EVENT, end, thread,
				      category, name, start, args, count);
	}
}

/* --- Blobs, logs ------------------------------------------------------------------------------------------ */

FXTRACE_INLINE void fxtrace_context_put(trace_context_t *context, unsigned payload,
					const trace_string_ref_t *category,
					const trace_string_ref_t *name, const void *data,
					size_t size, const trace_arg_t *args, size_t count)
{
	struct fxtrace_passing passing;

	memset(&passing, 0, sizeof(passing));
	if (FXTRACE_HAS(context, put))
		context->put(&passing.place, payload, category ? category->text : NULL,
			     name ? name->text : NULL, data, size, args, count);
}

/* TRACE_BLOB_TYPE_DATA and TRACE_BLOB_TYPE_LAST_BRANCH. */
typedef unsigned trace_blob_type_t;

/* As TRACE_BLOB(). */
FXTRACE_INLINE void trace_context_write_blob_record(trace_context_t *context,
						    trace_blob_type_t type,
						    const trace_string_ref_t *name,
						    const void *blob, size_t size)
{
	fxtrace_context_put(context, FXTRACE_BLOB + type, NULL, name, blob, size, NULL, 0);
}

/* As TRACE_BLOB_EVENT(), of the calling thread and now. */
FXTRACE_INLINE void trace_context_write_blob_event_record(
    trace_context_t *context, trace_ticks_t ticks, const trace_thread_ref_t *thread,
    const trace_string_ref_t *category, const trace_string_ref_t *name, const void *blob,
    size_t size, const trace_arg_t *args, size_t count)
{
	(void)ticks;
	(void)thread;
	fxtrace_context_put(context, FXTRACE_BLOB_EVENT, category, name, blob, size, args, count);
}

/* As TRACE_BLOB_ATTACHMENT(). */
FXTRACE_INLINE void trace_context_write_blob_attachment_record(trace_context_t *context,
							       const trace_string_ref_t *category,
							       const trace_string_ref_t *name,
							       const void *blob, size_t size)
{
	fxtrace_context_put(context, FXTRACE_BLOB_ATTACHMENT, category, name, blob, size, NULL, 0);
}

/* As TRACE_LOG(), of the calling thread and now. */
FXTRACE_INLINE void trace_context_write_log_record(trace_context_t *context, trace_ticks_t ticks,
						   const trace_thread_ref_t *thread,
						   const char *message, size_t length)
{
	(void)ticks;
	(void)thread;
	fxtrace_context_put(context, FXTRACE_LOG, NULL, NULL, message, length, NULL, 0);
}

/* --- Objects, alerts -------------------------------------------------------------------------------------- */

/* As TRACE_KERNEL_OBJECT(). */
FXTRACE_INLINE void trace_context_write_kernel_object_record_for_handle(trace_context_t *context,
									int fd,
									const trace_arg_t *args,
									size_t count)
{
	struct fxtrace_passing passing;

	memset(&passing, 0, sizeof(passing));
	if (FXTRACE_HAS(context, put))
		context->put(&passing.place, FXTRACE_KERNEL_OBJECT, NULL, NULL, NULL, (size_t)fd,
			     args, count);
}

/* As TRACE_USERSPACE_OBJECT(), but whenever tracing runs. `thread': whose process it is of, the calling one. */
FXTRACE_INLINE void trace_context_write_userspace_object_record(
    trace_context_t *context, uintptr_t pointer, const trace_thread_ref_t *thread,
    const trace_string_ref_t *name, const trace_arg_t *args, size_t count)
{
	struct fxtrace_passing passing;

	(void)thread;
	memset(&passing, 0, sizeof(passing));
	if (FXTRACE_HAS(context, put))
		context->put(&passing.place, FXTRACE_OBJECT, NULL, name->text,
			     (const void *)pointer, 0, args, count);
}

/* As TRACE_ALERT(), of whatever category. */
FXTRACE_INLINE void trace_context_send_alert(trace_context_t *context, const char *name)
{
	(void)context->alert(name);
}

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_CONTEXT_H */
