/* SPDX-License-Identifier: MIT */
/* Programs that cannot load this library: they are given an environment without it. */
#include "preload/boot/environ.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/loadable.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/attach/attach.h"
#include "preload/host/peek.h"
#include "preload/host/variables.h"
#include "preload/show/text.h"
#include "preload/call/untraced.h"

static long environ_access(const char *path, int mode)
{
#ifdef SYS_access /* a filter knows it: the dynamic linker begins with it */
	return fx_syscall2(SYS_access, path, mode);
#else
	return fx_syscall3(SYS_faccessat, AT_FDCWD, path, mode);
#endif
}

static bool is_landlocked; /* children that are forked have it, too */

void fx_environ_landlocked(void)
{
	/* pairs with library_is_reachable()'s; nothing else is published by it */
	fx_store_relaxed(&is_landlocked, true);
}

/* 0 or -errno. */
static long library_open(void)
{
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, fx_environ_library(), O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	fx_syscall1(SYS_close, fd);
	return 0;
}

/* As the dynamic linker will look for it: not from another root directory, nor as a user that its folder
 * keeps out, even if the capabilities that a program is left with until it execs would let it in; nor under Landlock, which
 * refuses to open what access() says may be read. Other errors pass. */
static bool library_is_reachable(void)
{
	long error = environ_access(fx_environ_library(), R_OK);

	if (error == 0 && fx_load_relaxed(&is_landlocked)) /* pairs with fx_environ_landlocked() */
		error = library_open();
	return error != -ENOENT && error != -ENOTDIR && error != -EACCES && error != -ELOOP;
}

static void note_untraced(const struct fx_environ *e, const char *path, enum fx_loadable verdict)
{
	if (!e->is_childs || fx_engine_has_children())
		fx_untraced_note(path, verdict);
}

static bool command_is_executable(const char *path)
{
	return environ_access(path, X_OK) == 0;
}

/* What cannot load it itself may start others, that would complain. */
static void environ_take_verdict(struct fx_environ *e, const char *path, enum fx_loadable verdict,
				 bool may_be_missing)
{
	/* It would bear the answers, and nobody would hear of it. */
	if (verdict == FX_LOADABLE && !fx_engine_may(FX_ASK_MEET))
		verdict = FX_LOADABLE_CONFINED;
	if (verdict == FX_LOADABLE)
		verdict = fx_loadable_here();
	e->strip = fx_loadable_complains(verdict);
	if (!e->strip && !library_is_reachable()) {
		e->strip = true;
		if (verdict == FX_LOADABLE)
			verdict = FX_LOADABLE_UNREACHABLE;
	}
	if (verdict == FX_LOADABLE && !fx_attach_sees_manager())
		verdict = FX_LOADABLE_APART;
	e->traced = verdict == FX_LOADABLE;
	if (!e->traced && !(may_be_missing && !command_is_executable(path)))
		note_untraced(e, path, verdict);
}

bool fx_environ_is_confined(struct fx_environ *e, const char *path)
{
	e->strip = fx_environ_follows() && !fx_engine_may(FX_ASK_START);
	e->traced = false;
	if (e->strip)
		note_untraced(e,
			      fx_peek_string(path, FX_ENVIRON_PATH_BYTES) > 0 ? path : "a program",
			      FX_LOADABLE_CONFINED);
	return e->strip;
}

/* What is looked for in all folders of PATH is not missed where it is not. */
void fx_environ_for_file(struct fx_environ *e, const char *path)
{
	if (!fx_environ_is_confined(e, path) && fx_environ_follows())
		environ_take_verdict(e, path, fx_loadable_file(AT_FDCWD, path), true);
}

void fx_environ_for_fd(struct fx_environ *e, int fd)
{
	/* of which no more is told */
	char link[32], path[FX_TEXT_MAX + 2] = "a file by its descriptor";
	struct fx_text t = FX_TEXT(link);
	enum fx_loadable verdict;
	long n;

	if (fx_environ_is_confined(e, path) || !fx_environ_follows())
		return;
	verdict = fx_loadable_fd(fd);
	fx_text_string(&t, "/proc/self/fd/");
	fx_text_signed(&t, fd);
	fx_text_char(&t, 0);
	n = fx_syscall4(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (n > 0)
		path[n] = 0;
	environ_take_verdict(e, path, verdict, false);
}

/* Of the longest folder in a PATH. */
static size_t longest_folder(const char *path)
{
	size_t longest = 0;

	for (size_t length; path; path = path[length] ? path + length + 1 : NULL) {
		length = strcspn(path, ":");
		if (length > longest)
			longest = length;
	}
	return longest;
}

/* The first one in PATH that may be run. Its path has no more of the stack than it needs: libc's own look takes as much. */
void fx_environ_for_command(struct fx_environ *e, const char *file)
{
	const char *path = fx_environ_value("PATH");
	char *candidate;
	size_t bytes;

	e->strip = e->traced = false;
	if (!fx_environ_follows() || !file || fx_environ_is_confined(e, file))
		return;
	if (strchr(file, '/')) {
		fx_environ_for_file(e, file);
		return;
	}
	path = path ? path : "/bin:/usr/bin";
	bytes = longest_folder(path) + strlen(file) + 3;
	if (bytes > FX_ENVIRON_PATH_BYTES)
		bytes = FX_ENVIRON_PATH_BYTES;
	candidate = __builtin_alloca(bytes);
	for (; path; path = strchr(path, ':')) {
		struct fx_text t = {candidate, candidate, candidate + bytes};

		path += *path == ':';
		fx_text_bytes(&t, path, strcspn(path, ":"));
		fx_text_char(&t, '/');
		fx_text_string(&t, file);
		fx_text_char(&t, 0);
		if (t.at < t.end && command_is_executable(candidate)) {
			fx_environ_for_file(e, candidate);
			return;
		}
	}
}
