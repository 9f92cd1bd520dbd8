/* SPDX-License-Identifier: MIT */
/*
 * Being a provider of events: a program that is traced without being started by fxtrace.
 *
 * A program that is linked with libfxtrace-provider registers with the manager of its user (fxtrace-manager, or the one of
 * `fxtrace run' that has started it) when it creates a provider. From then on the events of its macros, <fxtrace/event.h>, are
 * recorded in each session, and those of all libraries that it has loaded or will load. Nothing else is: no call of a function is
 * wrapped, no signal handled, no thread made, no descriptor left open.
 *
 *     #include <fxtrace/event.h>
 *     #include <fxtrace/provider.h>
 *
 *     int main(void)
 *     {
 *             struct fxtrace_provider *provider;
 *
 *             fxtrace_provider_create(&provider, NULL);
 *             serve();
 *             fxtrace_provider_destroy(provider);
 *             return 0;
 *     }
 *
 * Without a manager nothing happens, a macro costs what one of a category does that nobody wants, and what is returned may be
 * ignored. It is looked for where $FXTRACE_SOCKET says, else where fxtrace itself looks (fxtrace-manager(1)).
 *
 * A process has one engine, whichever comes first. Where libfxtrace.so is preloaded, that one records, with all that it records
 * anyway: then the provider has categories and handlers, while name and buffer are that one's. Where this library comes first, it
 * records, and libfxtrace.so, loaded later, is idle.
 *
 * A static program is linked with libfxtrace-provider.a (pkg-config --static). So may others be; that libraries which are loaded
 * later find it, the program is linked with -Wl,--export-dynamic-symbol=__fxtrace_events, which pkg-config --static says.
 *
 * A forked child is a provider of its own from its first event on, and has its parent's handles. A program that the process becomes
 * by exec is one if it creates one. What a thread has recorded is in the archive when it ends, and when the process is killed. A child
 * of vfork() must not use macros before it execs.
 *
 * Under a filter of system calls, of which the library cannot know, a new thread asks for its number and name (gettid, prctl), a full
 * buffer wakes the manager (futex), and a child makes memory and connects: a program that forbids these destroys its provider
 * first.
 */
#ifndef FXTRACE_PROVIDER_H
#define FXTRACE_PROVIDER_H

#include <fxtrace/event_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Options --------------------------------------------------------------------------------- */

/* What a provider would like its buffer to do when it is full; the numbers are the protocol's. */
enum fxtrace_provider_mode {
	FXTRACE_PROVIDER_MODE_ANY = 0, /* as the session has it */
	FXTRACE_PROVIDER_MODE_ONESHOT = 1,
	FXTRACE_PROVIDER_MODE_CIRCULAR = 2,
	FXTRACE_PROVIDER_MODE_STREAMING = 3,
};

/* A category of the program's: `fxtrace list-categories' shows it. */
struct fxtrace_provider_category {
	const char *name;
	const char *description; /* may be NULL */
};

struct fxtrace_provider_options {
	size_t size; /* of this struct: later versions may have more at its end */
	const char *name;
	const struct fxtrace_provider_category *categories;
	size_t category_count;
	void (*changed)(void *data, enum fxtrace_phase phase);
	void *data;
	uint64_t buffer_size;
	enum fxtrace_provider_mode mode;
};

/*
 * All but @size may be zero; texts are copied, up to 100 bytes of names and 400 of descriptions.
 *
 * @name is what the provider is called, 1 to 100 bytes; NULL: as the program is.
 *
 * @changed is called, with @data, when tracing has started, is being stopped, and has stopped: by the first macro of the program's that
 * finds it, on the thread that comes to it, as observers are (fxtrace_observer(3)), which also says how a thread waits for it. If
 * tracing runs when the provider is created, started is the first that it hears.
 *
 * @buffer_size is a wish, in bytes: a buffer that is larger than the session's, up to 64 MB. @mode is one, too, which is taken into
 * account where the session streams, as most do. Both give way to what the session's user says of this provider
 * (--provider-buffer), of all providers (--buffering-mode, --on-full block), and of memory (--max-memory).
 */
#define FXTRACE_PROVIDER_OPTIONS_INIT                                                              \
	{                                                                                          \
		sizeof(struct fxtrace_provider_options), NULL, NULL, 0, NULL, NULL, 0,             \
		    FXTRACE_PROVIDER_MODE_ANY                                                      \
	}

/* --- Providers ------------------------------------------------------------------------------- */

struct fxtrace_provider;

/*
 * Creates a provider: registers the process, if it is not yet, and waits for the manager's answer, for seconds at most. @options
 * may be NULL. Returns 0, and *@ret is the caller's to destroy; or an error, and *@ret is NULL:
 *
 *     -EINVAL        the options make no sense
 *     -ENOENT        there is no manager; -ECONNREFUSED: it is not there any more
 *     -EAGAIN        it does not answer
 *     -EPERM         it is another user's, or does not want the process; or the program is privileged (set-user-ID and the like)
 *     -ECANCELED     the environment says that this process is not to be traced: FXTRACE_DISABLE, fxtrace run --no-follow
 *     -EDQUOT        there is no room for another buffer; -EUSERS: nor for another provider
 *     -EDEADLK       called by a handler of @changed, or in a signal handler that has interrupted a creation or destruction
 *
 * and what else the system says, -ENOMEM or -EMFILE. After an error it may be tried again.
 *
 * Any thread may, at any time; constructors of libraries, too, and destructors of a thread that ends; the provider stays when it
 * has ended. In a signal handler the process's first creation must not be, which loads (dlopen); later ones allocate nothing while
 * there are no more than 16 providers. Of providers that are created while there is one, here or by a library, all categories and
 * handlers count, and the name and the wishes of the first; each is to be destroyed. Each creation also makes macros come alive in
 * modules that were loaded before it and were not alive yet.
 */
int fxtrace_provider_create(struct fxtrace_provider **ret,
			    const struct fxtrace_provider_options *options);

/* The same, and says whether tracing has started already: then the very next event is recorded if its category is wanted. After an
 * error *@ret_started is false. */
int fxtrace_provider_create_synchronously(struct fxtrace_provider **ret,
					  const struct fxtrace_provider_options *options,
					  bool *ret_started);

/*
 * Destroys a provider; NULL is none. Its handler is not called any more. With the last one the process stops recording, unless the
 * engine is libfxtrace.so's, and goes on if another is created. Durations that are open then are shown as unfinished. The manager
 * has the process among its providers until it ends.
 *
 * Returns 0; -EDEADLK: called by a handler, as above, and nothing has happened. A signal handler may call it otherwise.
 */
int fxtrace_provider_destroy(struct fxtrace_provider *provider);

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_PROVIDER_H */
