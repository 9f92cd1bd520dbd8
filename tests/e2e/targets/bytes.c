/* SPDX-License-Identifier: MIT */
/*
 * Names that are no UTF-8, or seem to be escaped already: of functions, of a thread and of files; each file is opened
 * and closed. Compile with -finstrument-functions.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))

#define FUNCTION(function, name)                                                                   \
	__attribute__((noinline)) void function(void) __asm__(name);                               \
	void function(void)                                                                        \
	{                                                                                          \
		__asm__ volatile("");                                                              \
	}

FUNCTION(latin, "caf\xe9")
FUNCTION(other_latin, "caf\xe8")
FUNCTION(overlong, "over\xc0\xaf")
FUNCTION(surrogate, "half\xed\xa0\x80")
FUNCTION(truncated, "cut\xe6\x99")
FUNCTION(sound, "größe")
FUNCTION(first_long, LONG_NAME "a")
FUNCTION(second_long, LONG_NAME "b")

static const char *const files[] = {
    "f\xe9",  "f\xc0\xaf", "f\xed\xa0\x80", "f\xe6\x99", "f\xf4\x90\x80\x80",
    "f\\xE9", "f\\n",	   "größe",	    "f\x1b[31m", "f\xc2\x9b",
};

HIDDEN static void *thread_main(void *unused)
{
	pthread_setname_np(pthread_self(), "th\xe9\xff");
	sound();
	return unused;
}

HIDDEN int main(void)
{
	pthread_t thread;

	latin();
	other_latin();
	overlong();
	surrogate();
	truncated();
	first_long();
	second_long();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		close(open(files[i], O_RDWR | O_CREAT, 0600));
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	return 0;
}
