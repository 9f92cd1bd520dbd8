#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that has memcpy(), strlen(), pthread_self() and the like of its own, instrumented and making calls that are recorded: the
# tracer has its own, and calls none of the program's.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >own.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((visibility("default"), noinline))
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

static int calls;

static void note(void)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	getppid();
}

OWN void *memcpy(void *to, const void *from, size_t n)
{
	note();
	EACH(i, n)
	((volatile char *)to)[i] = ((const char *)from)[i];
	return to;
}

OWN void *memmove(void *to, const void *from, size_t n)
{
	note();
	if ((char *)to < (const char *)from)
		return memcpy(to, from, n);
	while (n--)
		((volatile char *)to)[n] = ((const char *)from)[n];
	return to;
}

OWN void *memset(void *to, int c, size_t n)
{
	note();
	EACH(i, n)
	((volatile char *)to)[i] = (char)c;
	return to;
}

OWN int memcmp(const void *a, const void *b, size_t n)
{
	note();
	EACH(i, n)
	if (((const char *)a)[i] != ((const char *)b)[i])
		return ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
	return 0;
}

OWN int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

OWN size_t strlen(const char *s)
{
	size_t n = 0;

	note();
	while (s[n])
		n++;
	return n;
}

OWN size_t strnlen(const char *s, size_t most)
{
	size_t n = 0;

	note();
	while (n < most && s[n])
		n++;
	return n;
}

OWN int strcmp(const char *a, const char *b)
{
	note();
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

OWN int strncmp(const char *a, const char *b, size_t n)
{
	note();
	for (; n && *a && *a == *b; a++, b++)
		n--;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

OWN char *strchr(const char *s, int c)
{
	note();
	while (*s && *s != (char)c)
		s++;
	return *s == (char)c ? (char *)s : NULL;
}

#ifdef __x86_64__
OWN pthread_t pthread_self(void)
{
	pthread_t self;

	note();
	__asm__("mov %%fs:16, %0" : "=r"(self));
	return self;
}
#endif

static void *run(void *p)
{
	struct stat st;

	for (int i = 0; i < 10; i++) {
		int fd = open("/dev/null", O_RDWR);

		if (write(fd, "x", 1) != 1 || fstat(fd, &st) || close(fd))
			return "wrong";
	}
	return p;
}

int main(int argc, char **argv)
{
	void *wrong = "wrong";
	int status = 1;
	pthread_t thread;
	pid_t child;

	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, &wrong);
	mkdir("/nothing/like/this", 0700);
	child = fork();
	if (child == 0) {
		if (run(NULL) == NULL)
			execl(argv[1], argv[1], NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("%s, %d: %d calls\n", wrong ? "wrong" : "right", status, calls);
	return argc != 2;
}
END
compile own -O1 -w -fno-builtin -finstrument-functions -rdynamic own.c
for categories in '#default' 'syscall,malloc,pthread:all,stdio:all'; do
	export FXTRACE_CATEGORIES=$categories
	expect_unharmed 0 ./own "$(type -P true)"
	expect_line '^right, 0: [0-9]+ calls$' traced.out
	list_archive trace.fxt
	expect_events 20 'name == "write" && has("fd=3")'
done
expect_ok env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT=private.fxt ./own "$(type -P true)"
expect_same_file plain.out out
wait_archive private.fxt || fail "the private manager's archive: $("$FXTRACE" check private.fxt 2>&1)"
