/* SPDX-License-Identifier: MIT */
#include "preload/call/title.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/call/call.h"
#include "preload/call/words.h"
#include "preload/host/peek.h"

#define HEAD_WORDS  2u
#define TITLE_WORDS (FX_TITLE_BYTES / 8u)

/* Where the kernel has put arguments and environment, one behind the other, above the auxiliary vector on the first thread's
 * stack; that stays for as long as the process. */
static struct {
	const char *begin; /* NULL: not known */
	const char *arguments_end, *end;
	uint64_t hash; /* of what stood there, or was told last */
} title;

/* As the kernel shows it: a program that overwrites the last argument's NUL goes on into the environment, up to a NUL of its
 * own. */
static size_t title_length(void)
{
	const char *end = title.arguments_end[-1] ? title.end : title.arguments_end;
	size_t room = (size_t)(end - title.begin);

	if (room > FX_TITLE_BYTES)
		room = FX_TITLE_BYTES;
	return title.arguments_end[-1] ? strnlen(title.begin, room) : room;
}

static uint64_t title_hash(void)
{
	uint64_t hash = 0xcbf29ce484222325u;
	size_t length = title_length();

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)title.begin[i]) * 0x100000001b3u;
	return hash;
}

/* The first stack goes on for longer than this below the arguments, with nothing else in it. */
#define CLOSE (1u << 20)

/* Whether it is still there. Code that runs close below it runs on the first stack; else the program may have unmapped that,
 * and the kernel is asked. */
static bool title_is_there(void)
{
	const char *frame = __builtin_frame_address(0);
	size_t size = (size_t)(title.end - title.begin);

	if (frame < title.begin && frame + CLOSE > title.begin)
		return true;
	return fx_peek(title.begin, size < FX_TITLE_BYTES ? size : FX_TITLE_BYTES) &&
	       fx_peek(title.arguments_end - 1, 1);
}

static const char *string_end(const char *string)
{
	return string + strlen(string) + 1;
}

void fx_title_begin(int argc, char *const *argv, char *const *envp)
{
	const char *last, *end;

	/* A library that is loaded later may find pointers that are the program's. */
	if (argc < 1 || envp != argv + argc + 1)
		return;
	last = argv[argc - 1];
	if (argv[0] < (const char *)envp || last < argv[0])
		return;
	end = string_end(last);
	title.arguments_end = title.end = end;
	if (envp[0] == end) {
		while (envp[1])
			envp++;
		if (envp[0] >= end)
			title.end = string_end(envp[0]);
	}
	title.begin = argv[0];
	title.hash = title_hash();
}

/* A Kernel Object Record of type process, of number 0, whose name is the title. */
static void write_title(struct fx_thread *t)
{
	uint64_t words[HEAD_WORDS + TITLE_WORDS] = {0};
	char *text = (char *)(words + HEAD_WORDS);
	size_t length = title_length(), count;

	memcpy(text, title.begin, length);
	while (length > 0 && (text[length - 1] == 0 || text[length - 1] == ' '))
		text[--length] = 0;
	count = HEAD_WORDS + (length + 7) / 8;
	if (length > 0)
		fx_words_write(t, words, (unsigned)count,
			       FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) |
				   FXT_PUT(RECORD_SIZE, count) |
				   FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) |
				   FXT_PUT(KERNEL_OBJECT_NAME, FXT_STRING_INLINE | length));
}

void fx_title_tell(void)
{
	uint64_t hash = title.begin && title_is_there() ? title_hash() : title.hash;
	struct fx_thread *t = hash != title.hash ? fx_thread_on(UINT32_MAX) : NULL;

	if (!t)
		return;
	title.hash = hash;
	write_title(t);
}
