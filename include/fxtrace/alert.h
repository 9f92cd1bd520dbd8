/* SPDX-License-Identifier: MIT */
/*
 * Alerts: a traced program tells the manager that something has happened. What it does about it, the
 * user says: `fxtrace run --trigger NAME:snapshot', `--trigger NAME:stop'.
 *
 *	#include <fxtrace/alert.h>
 *
 *	if (latency_ns > 50000000)
 *		fxtrace_alert("late-frame");
 *
 * Nothing is linked with (but, before glibc 2.34, libdl): the program looks once for libfxtrace.so in itself. Untraced, a call is a
 * comparison and does nothing.
 */
#ifndef FXTRACE_ALERT_H
#define FXTRACE_ALERT_H

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a name without its NUL, as in the Fuchsia trace provider protocol. */
#define FXTRACE_ALERT_NAME_MAX 14

/* What libfxtrace.so exports; for other languages, which find it by dlsym(). */
int fxtrace_alert_raise(const char *name);

/*
 * Raises the alert `name`: 1 to FXTRACE_ALERT_NAME_MAX bytes and a NUL, compared byte by byte with the
 * names of triggers. Any thread may, at any time; in signal handlers too, once it has been called
 * outside of one. It does not wait, takes no lock and leaves errno as it is. When it returns the manager
 * has been woken; it hears alerts in their order, unless a process raises more than 64 before it looks.
 *
 * Returns 0; -EINVAL: a name of another length, or NULL; -ESHUTDOWN: tracing does not run now, nobody would
 * hear; -ENOSYS: the program is not traced.
 */
static inline int fxtrace_alert(const char *name)
{
	static void *found; /* NULL: not looked for yet; its own address: there is none */
	/* relaxed: every thread that looks finds the same */
	void *raise = __atomic_load_n(&found, __ATOMIC_RELAXED);
	int (*function)(const char *);
	int before;

	if (!raise) {
		before = errno;
		raise = dlsym((void *)0 /* RTLD_DEFAULT */, "fxtrace_alert_raise");
		if (!raise) {
			dlerror(); /* of no interest to anybody */
			raise = &found;
		}
		__atomic_store_n(&found, raise, __ATOMIC_RELAXED);
		errno = before;
	}
	if (raise == &found)
		return -ENOSYS;
	memcpy(&function, &raise, sizeof(function));
	return function(name);
}

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_ALERT_H */
