/* SPDX-License-Identifier: MIT */
#include "preload/environ.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/loadable.h"
#include "base/syscall.h"
#include "preload/peek.h"
#include "preload/self.h"
#include "preload/text.h"
#include "preload/untraced.h"

#define PRELOAD	   "LD_PRELOAD="
#define OURS	   "FXTRACE_"
#define NO_FOLLOW  "FXTRACE_NO_FOLLOW="
#define PATH_BYTES 4096u
#define OURS_MAX   48u
#define OURS_BYTES 8192u

static struct {
	bool follows;
	char path[PATH_BYTES]; /* of this library; empty: not known */
	unsigned count;
	const char *ours[OURS_MAX]; /* "FXTRACE_NAME=VALUE", in text */
	size_t used;
	char text[OURS_BYTES];
} self;

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* As the client reads the variables of options that take no argument. */
static bool is_on(const char *value)
{
	return value[0] && strcmp(value, "0") != 0;
}

const char *fx_environ_value(const char *name)
{
	size_t length = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
			return *e + length + 1;
	return NULL;
}

/* Bytes of "NAME=" in "NAME=VALUE". */
static size_t name_length(const char *variable)
{
	return strcspn(variable, "=") + 1;
}

static size_t count_strings(fx_strings s)
{
	size_t n = 0;

	while (s && s[n])
		n++;
	return n;
}

static const char *last_part(const char *path, size_t length, size_t *ret_length)
{
	size_t n = length;

	while (n && path[n - 1] != '/')
		n--;
	*ret_length = length - n;
	return path + n;
}

/* One element of LD_PRELOAD is this library, by whatever path. */
static bool is_self(const char *element, size_t length)
{
	size_t own, other;
	const char *a = last_part(self.path, strlen(self.path), &own);
	const char *b = last_part(element, length, &other);

	return own == other && memcmp(a, b, own) == 0;
}

/* The next element of a list that colons and blanks separate; NULL at its end. */
static const char *next_element(const char *list, size_t *ret_length)
{
	list += strspn(list, ": \t\n");
	*ret_length = strcspn(list, ": \t\n");
	return *ret_length ? list : NULL;
}

static bool has_self(const char *list)
{
	size_t length;

	for (const char *e = next_element(list, &length); e; e = next_element(e + length, &length))
		if (is_self(e, length))
			return true;
	return false;
}

/* --- In the constructor ----------------------------------------------------------------------- */

/* Absolute, since a child may start elsewhere. */
static void remember_path(void)
{
	const char *path = fx_self_path();
	size_t directory = 0, length;

	if (!path)
		return;
	length = strlen(path);
	if (path[0] != '/') {
		long n = fx_syscall2(SYS_getcwd, self.path, PATH_BYTES);

		if (n <= 1 || self.path[0] != '/')
			n = 0;
		directory = n > 2 ? (size_t)n : 1; /* the NUL becomes the slash */
		self.path[directory - 1] = '/';
	}
	if (directory + length >= PATH_BYTES)
		length = directory = 0;
	memcpy(self.path + directory, path, length);
	self.path[directory + length] = 0;
}

static void remember_variable(const char *variable)
{
	size_t size = strlen(variable) + 1;

	if (self.count == OURS_MAX || self.used + size > OURS_BYTES)
		return;
	self.ours[self.count++] = memcpy(self.text + self.used, variable, size);
	self.used += size;
}

/* LD_PRELOAD without this library, in place; false if nothing is left. */
static bool preload_strip(char *variable)
{
	char *out = variable + strlen(PRELOAD);
	const char *e = out;
	size_t length, kept = 0;

	for (e = next_element(e, &length); e; e = next_element(e + length, &length)) {
		if (is_self(e, length))
			continue;
		if (kept++)
			*out++ = ':';
		memmove(out, e, length);
		out += length;
	}
	*out = 0;
	return kept != 0;
}

static void environ_strip(void)
{
	char **out = environ;

	for (char **e = environ; *e; e++) {
		if (starts_with(*e, OURS))
			continue;
		if (starts_with(*e, PRELOAD) && !preload_strip(*e))
			continue;
		*out++ = *e;
	}
	*out = NULL;
}

void fx_environ_init(void)
{
	bool follows = true;

	remember_path();
	if (!environ || !self.path[0])
		return;
	for (char **e = environ; *e; e++) {
		if (starts_with(*e, NO_FOLLOW))
			follows = !is_on(*e + strlen(NO_FOLLOW));
		if (starts_with(*e, OURS))
			remember_variable(*e);
	}
	self.follows = follows;
	if (!follows)
		environ_strip();
}

bool fx_environ_follows(void)
{
	return self.follows;
}

/* --- For a child ------------------------------------------------------------------------------ */

static bool names_variable(fx_strings envp, const char *variable)
{
	size_t length = name_length(variable);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, variable, length) == 0)
			return true;
	return false;
}

/* LD_PRELOAD as it stands there; NULL without. The dynamic linker believes the last of several. */
static const char *preload_variable(fx_strings envp)
{
	const char *variable = NULL;

	for (; envp && *envp; envp++)
		if (starts_with(*envp, PRELOAD))
			variable = *envp;
	return variable;
}

static size_t count_missing(fx_strings envp)
{
	size_t missing = 0;

	for (unsigned i = 0; i < self.count; i++)
		missing += !names_variable(envp, self.ours[i]);
	return missing;
}

/* How an environment has to change. */
struct change {
	const char *preload; /* as it stands there, or NULL */
	bool rewrite_preload;
	size_t missing;	       /* variables to be added */
	size_t pointers, text; /* what that takes, the end's NULL included; text in bytes */
};

static struct change change_for(const struct fx_environ *e, fx_strings envp)
{
	struct change c = {.preload = preload_variable(envp)};
	bool has = c.preload && has_self(c.preload + strlen(PRELOAD));

	c.rewrite_preload = has == e->strip;
	c.missing = e->strip ? 0 : count_missing(envp);
	c.pointers = count_strings(envp) + c.missing + 2;
	c.text = strlen(PRELOAD) + strlen(self.path) + 2 + (c.preload ? strlen(c.preload) : 0);
	return c;
}

void fx_environ_see(struct fx_environ *e, fx_strings envp)
{
	const char *preload;

	if (!self.follows || e->strip || (envp && !fx_peek_strings(envp)))
		return;
	preload = preload_variable(envp);
	if (!preload || !fx_loadable_names_sanitizer(preload + strlen(PRELOAD)))
		return;
	e->strip = true;
	fx_untraced_note(preload, FX_LOADABLE_SANITIZER_NAMED);
}

size_t fx_environ_room(const struct fx_environ *e, fx_strings envp)
{
	struct change c;

	if (!self.follows || (envp && !fx_peek_strings(envp)))
		return 0; /* a bad environment is the kernel's to refuse */
	c = change_for(e, envp);
	if (!c.missing && !c.rewrite_preload)
		return 0;
	return c.pointers * sizeof(char *) + c.text;
}

/* "LD_PRELOAD=us", or "LD_PRELOAD=us:theirs". */
static void preload_join(char *out, const char *theirs)
{
	size_t n = strlen(self.path);

	memcpy(out, PRELOAD, strlen(PRELOAD));
	out += strlen(PRELOAD);
	memcpy(out, self.path, n);
	out += n;
	if (theirs && theirs[0]) {
		*out++ = ':';
		memcpy(out, theirs, strlen(theirs));
		out += strlen(theirs);
	}
	*out = 0;
}

/* The new LD_PRELOAD; NULL if there is to be none. */
static char *preload_rewrite(const struct fx_environ *e, const struct change *c, char *text)
{
	if (!e->strip) {
		preload_join(text, c->preload ? c->preload + strlen(PRELOAD) : NULL);
		return text;
	}
	memcpy(text, c->preload, strlen(c->preload) + 1);
	return preload_strip(text) ? text : NULL;
}

static void build(const struct fx_environ *e, char **out, fx_strings envp)
{
	struct change c = change_for(e, envp);
	size_t n = 0;

	if (c.rewrite_preload) {
		out[0] = preload_rewrite(e, &c, (char *)(out + c.pointers));
		n = out[0] != NULL;
	}
	for (fx_strings v = envp; v && *v; v++)
		if (!c.rewrite_preload || !starts_with(*v, PRELOAD))
			out[n++] = *v;
	for (unsigned i = 0; c.missing && i < self.count; i++)
		if (!names_variable(envp, self.ours[i]))
			out[n++] = (char *)self.ours[i];
	out[n] = NULL;
}

void fx_environ_build(struct fx_environ *e, fx_strings envp, size_t room, void *memory)
{
	e->envp = envp;
	e->mapped = 0;
	if (!room)
		return;
	if (!memory) {
		long p = fx_syscall6(SYS_mmap, 0, (long)room, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p < 0 && p > -4096)
			return;
		memory = (void *)p;
		e->mapped = room;
	}
	build(e, memory, envp);
	e->envp = memory;
}

void fx_environ_release(const struct fx_environ *e)
{
	if (e->mapped)
		fx_syscall2(SYS_munmap, e->envp, e->mapped);
}

/* --- Programs that cannot load this library --------------------------------------------------- */

/* As the dynamic linker will look for it: not from another root directory, nor as a user whom its folder
 * keeps out, even if the capabilities that a program is left with until it execs would let it in. Other
 * errors pass. */
static bool is_reachable(void)
{
#ifdef SYS_access /* a filter knows it: the dynamic linker begins with it */
	long error = fx_syscall2(SYS_access, self.path, R_OK);
#else
	long error = fx_syscall3(SYS_faccessat, AT_FDCWD, self.path, R_OK);
#endif

	return error != -ENOENT && error != -ENOTDIR && error != -EACCES && error != -ELOOP;
}

/* What cannot load it itself may start others, that would complain. */
static void take_verdict(struct fx_environ *e, const char *path, enum fx_loadable verdict)
{
	e->strip = fx_loadable_complains(verdict);
	if (!e->strip && !is_reachable()) {
		e->strip = true;
		if (verdict == FX_LOADABLE)
			verdict = FX_LOADABLE_UNREACHABLE;
	}
	if (verdict != FX_LOADABLE)
		fx_untraced_note(path, verdict);
}

void fx_environ_for_file(struct fx_environ *e, const char *path)
{
	e->strip = false;
	if (self.follows)
		take_verdict(e, path, fx_loadable_file(AT_FDCWD, path));
}

void fx_environ_for_fd(struct fx_environ *e, int fd)
{
	char link[32], path[PATH_BYTES] = "a file by its descriptor";
	struct fx_text t = FX_TEXT(link);
	enum fx_loadable verdict;
	long n;

	e->strip = false;
	if (!self.follows)
		return;
	verdict = fx_loadable_fd(fd);
	fx_text_string(&t, "/proc/self/fd/");
	fx_text_signed(&t, fd);
	fx_text_char(&t, 0);
	n = fx_syscall4(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (n > 0)
		path[n] = 0;
	take_verdict(e, path, verdict);
}

static bool is_executable(const char *path)
{
	return fx_syscall3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
}

/* The first one in PATH that may be run. */
void fx_environ_for_command(struct fx_environ *e, const char *file)
{
	const char *path = fx_environ_value("PATH");
	char candidate[PATH_BYTES];

	e->strip = false;
	if (!self.follows || !file)
		return;
	if (strchr(file, '/')) {
		fx_environ_for_file(e, file);
		return;
	}
	for (path = path ? path : "/bin:/usr/bin"; path; path = strchr(path, ':')) {
		struct fx_text t = FX_TEXT(candidate);

		path += *path == ':';
		fx_text_bytes(&t, path, strcspn(path, ":"));
		fx_text_char(&t, '/');
		fx_text_string(&t, file);
		fx_text_char(&t, 0);
		if (t.at < t.end && is_executable(candidate)) {
			fx_environ_for_file(e, candidate);
			return;
		}
	}
}
