/* SPDX-License-Identifier: MIT */
#include "base/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/syscall.h"

static const char *const names[] = {
#define FX_FAULT_POINT(name, run, passing, where) #name,
#include "base/fault.def"
#undef FX_FAULT_POINT
};

static const char *const actions[] = {"kill", "stop",	 "sleep", "spin", "raise",
				      "fail", "forward", "back",  "every"};

enum action { KILL, STOP, SLEEP, SPIN, RAISE, FAIL, FORWARD, BACK, EVERY, ACTION_COUNT };

static struct {
	uint64_t passings;
	enum fx_fault_point point; /* FX_FAULT_COUNT: none */
	enum action action;
	uint64_t at;
	long value;
	bool known; /* the environment has been read */
} fault = {.point = FX_FAULT_COUNT};

/* Before libc has set `environ`. */
static char **early_environ;

void fx_fault_begin(char **envp)
{
	early_environ = envp;
}

static const char *variable(const char *name)
{
	size_t length = strlen(name);

	for (char **e = environ ? environ : early_environ; e && *e; e++) {
		if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
			return *e + length + 1;
	}
	return NULL;
}

/* The place of the first `length` bytes of `word` in a list, or `count`. */
static unsigned base_fault_find(const char *const *list, unsigned count, const char *word,
				size_t length)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		if (strlen(list[i]) == length && strncmp(list[i], word, length) == 0)
			break;
	}
	return i;
}

static uint64_t number(const char **text)
{
	uint64_t value = 0;

	while (**text >= '0' && **text <= '9')
		value = value * 10 + (uint64_t)(*(*text)++ - '0');
	return value;
}

/* NAME[@N]:ACTION[=VALUE]; anything else is no fault. Two threads that both read it read the same. */
static void environment_read(void)
{
	const char *text = variable("FXTRACE_FAULT");
	unsigned point = FX_FAULT_COUNT;
	size_t length;

	if (text) {
		length = strcspn(text, "@:");
		point = base_fault_find(names, FX_FAULT_COUNT, text, length);
		text += length;
		fault.at = 1;
		if (*text == '@') {
			text++;
			fault.at = number(&text);
			fault.at += !fault.at;
		}
		text += *text == ':';
		length = strcspn(text, "=");
		fault.action = (enum action)base_fault_find(actions, ACTION_COUNT, text, length);
		text += length;
		text += *text == '=';
		fault.value = (long)number(&text);
		if (fault.action == ACTION_COUNT)
			point = FX_FAULT_COUNT;
	}
	fx_store_release(&fault.point, (enum fx_fault_point)point);
	fx_store_release(&fault.known, true);
}

bool fx_fault_is_set(enum fx_fault_point point)
{
	if (!fx_load_acquire(&fault.known))
		environment_read();
	return fx_load_relaxed(&fault.point) == point;
}

/* False: it has happened before. */
static bool mark(void)
{
	const char *path = variable("FXTRACE_FAULT_MARK");
	char text[12] = "            ";
	size_t at = sizeof(text) - 1;
	long fd;

	if (!path)
		return true;
	fd = fx_syscall4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	text[at] = '\n';
	for (unsigned pid = (unsigned)fx_getpid(); pid; pid /= 10)
		text[--at] = (char)('0' + pid % 10);
	fx_syscall3(SYS_write, fd, text + at, sizeof(text) - at);
	fx_syscall1(SYS_close, fd);
	return true;
}

static int64_t fault_clock(void)
{
	struct timespec now = {0};

	fx_syscall2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int act(void)
{
	int64_t until;

	struct timespec nap = {.tv_sec = fault.value / 1000,
			       .tv_nsec = fault.value % 1000 * 1000000};

	switch (fault.action) {
	case KILL:
		fx_syscall2(SYS_kill, fx_getpid(), SIGKILL);
		break;
	case STOP:
		fx_syscall2(SYS_kill, fx_getpid(), SIGSTOP);
		break;
	case SLEEP:
		fx_syscall2(SYS_nanosleep, &nap, 0);
		break;
	case SPIN:
		until = fault_clock() + fault.value * 1000000;
		while (fault_clock() < until)
			;
		break;
	case RAISE:
	case EVERY:
		fx_syscall3(SYS_tgkill, fx_getpid(), fx_gettid(), fault.value);
		break;
	case FAIL:
		return (int)-fault.value;
	default: /* fx_fault_shift() */
		break;
	}
	return 0;
}

/* Before the program has set its handler, a signal would only end it: that does not count. */
static bool is_handled(void)
{
	struct {
		uint64_t handler, rest[15];
	} action = {0};

	return (fault.action != RAISE && fault.action != EVERY) ||
	       (fx_syscall4(SYS_rt_sigaction, fault.value, 0, &action, 8) == 0 && action.handler);
}

/* Whether the fault happens at this passing of its point. */
static bool is_due(void)
{
	uint64_t passing = fx_add_relaxed(&fault.passings, 1) + 1;

	if (fault.action == EVERY) {
		if (passing == fault.at)
			mark();
		return passing % fault.at == 0;
	}
	return passing == fault.at && mark();
}

int fx_fault_pass(enum fx_fault_point point)
{
	return fx_fault_is_set(point) && is_handled() && is_due() ? act() : 0;
}

int64_t fx_fault_shift(enum fx_fault_point point)
{
	fx_fault_pass(point);
	if (!fx_fault_is_set(point) || fx_load_relaxed(&fault.passings) < fault.at)
		return 0;
	return fault.action == FORWARD ? fault.value * 1000000
	       : fault.action == BACK  ? -fault.value * 1000000
				       : 0;
}
