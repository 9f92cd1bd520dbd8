/* SPDX-License-Identifier: MIT */
#include "preload/host/peek.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "engine/provider/engine.h"

/* The smallest that there are: a larger one is asked for more than once. */
#define PAGE 4096u

static uintptr_t page_of(const void *p)
{
	return (uintptr_t)p / PAGE;
}

/* The kernel copies a signal set before it refuses the way to use it: nothing happens but that a bad
 * pointer is told from a good one. An aligned word is in one page. The first word is no set at all. */
static bool word_is_readable(uintptr_t word)
{
	return word && fx_syscall4(SYS_rt_sigprocmask, -1, word, 0, 8) != -EFAULT;
}

static bool byte_is_readable(const void *p)
{
	return word_is_readable((uintptr_t)p & ~(uintptr_t)7);
}

bool fx_peek(const void *p, size_t size)
{
	const char *at = p, *last = at + size - 1;

	if (!size)
		return true;
	if (!fx_engine_may(FX_ASK_LOOK) || last < at || !byte_is_readable(at))
		return false;
	for (uintptr_t page = page_of(at) + 1; page <= page_of(last); page++)
		if (!word_is_readable(page * PAGE))
			return false;
	return true;
}

/* Frames of callers are there, and the stack does not end close above them. */
#define NEAR 4096u

bool fx_peek_near(const void *p, size_t size, const void *good)
{
	const char *frame = __builtin_frame_address(0), *at = p;

	if (page_of(at) == page_of(good) && page_of(at + size - 1) == page_of(good))
		return true;
	if (at > frame && at < frame + NEAR && size < NEAR)
		return true;
	return fx_peek(p, size);
}

/* What the kernel copies it may refuse at any page. */
static long copy_by_kernel(void *to, const void *from, size_t first, size_t size)
{
	struct iovec into = {to, size};
	struct iovec parts[2] = {{(void *)from, first}, {(char *)from + first, size - first}};

	return fx_syscall6(SYS_process_vm_readv, fx_engine.pid, (long)&into, 1, (long)parts,
			   size > first ? 2 : 1, 0);
}

/* Without the kernel's help: between the look and the copy it may be gone. */
static size_t copy_after_look(void *to, const void *from, size_t first, size_t size)
{
	if (!fx_peek(from, first))
		return 0;
	if (size > first && !fx_peek((const char *)from + first, size - first))
		size = first;
	memcpy(to, from, size);
	return size;
}

size_t fx_peek_copy(void *to, const void *from, size_t size)
{
	const char *frame = __builtin_frame_address(0), *at = from;
	size_t first = PAGE - (uintptr_t)from % PAGE;
	long n;

	if (first > size)
		first = size;
	if (at > frame && at < frame + NEAR && size < NEAR) {
		memcpy(to, from, size);
		return size;
	}
	if (!fx_engine_may(FX_ASK_COPY))
		return copy_after_look(to, from, first, size);
	n = copy_by_kernel(to, from, first, size);
	if (n >= 0)
		return (size_t)n;
	return n == -EFAULT ? 0 : copy_after_look(to, from, first, size);
}

long fx_peek_string(const char *s, size_t max)
{
	return fx_peek_string_near(s, max, NULL);
}

long fx_peek_string_near(const char *s, size_t max, const void *good)
{
	size_t n;

	for (n = 0; n < max; n++) {
		if ((!n || (uintptr_t)(s + n) % PAGE == 0) &&
		    !(good && page_of(s + n) == page_of(good)) &&
		    !(fx_engine_may(FX_ASK_LOOK) && byte_is_readable(s + n)))
			return -1;
		if (!s[n])
			break;
	}
	return (long)n;
}

bool fx_peek_strings(char *const *strings)
{
	const char *last = NULL; /* that was asked for */

	for (char *const *s = strings;; s++) {
		if ((s == strings || page_of(s) != page_of(s - 1)) && !fx_peek(s, sizeof *s))
			return false;
		if (!*s)
			return true;
		if ((!last || page_of(*s) != page_of(last)) && !byte_is_readable(*s))
			return false;
		last = *s;
	}
}
