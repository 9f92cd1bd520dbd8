/* SPDX-License-Identifier: MIT */
#include "preload/boot/asked.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/syscall.h"
#include "preload/host/self.h"
#include "preload/host/variables.h"
#include "preload/show/text.h"

#define PROCESS	       "FXTRACE_PID"
#define SYSTEM_PRELOAD "/etc/ld.so.preload"

/* Bytes of that file that are looked at. */
#define SYSTEM_BYTES 2048u

/* The programs of fxtrace have this; for others there is none. */
extern const char fxtrace_untraced __attribute__((weak, visibility("default")));

static bool asked_is_set(const char *variable)
{
	const char *value = fx_environ_value(variable);

	return value && value[0];
}

static bool is_off(void)
{
	const char *value = fx_environ_value("FXTRACE_DISABLE");

	return value && value[0] && strcmp(value, "0") != 0;
}

static bool is_preloaded(void)
{
	const char *list = fx_environ_value("LD_PRELOAD");

	return list && fx_self_is_in(list);
}

/* As the dynamic linker does: from # to the end of the line there is nothing. */
static void blank_comments(char *text)
{
	while ((text = strchr(text, '#')))
		while (*text && *text != '\n')
			*text++ = ' ';
}

static bool is_preloaded_everywhere(void)
{
	char text[SYSTEM_BYTES];
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, SYSTEM_PRELOAD, O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return false;
	n = fx_syscall3(SYS_read, fd, text, sizeof text - 1);
	fx_syscall1(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	blank_comments(text);
	return fx_self_is_in(text);
}

static bool is_own_number(const char *value)
{
	char number[24];
	struct fx_text t = FX_TEXT(number);

	fx_text_signed(&t, fx_getpid());
	fx_text_char(&t, 0);
	return strcmp(value, number) == 0;
}

bool fx_asked_of_another(void)
{
	return !&fxtrace_untraced && !is_off() && asked_is_set(PROCESS) &&
	       !is_own_number(fx_environ_value(PROCESS));
}

bool fx_asked_alone(void)
{
	return asked_is_set(PROCESS) && is_own_number(fx_environ_value(PROCESS));
}

bool fx_asked(void)
{
	if (&fxtrace_untraced || is_off())
		return false;
	return is_preloaded() || asked_is_set("FXTRACE_SOCKET") || asked_is_set("FXTRACE_OUTPUT") ||
	       !is_preloaded_everywhere();
}
