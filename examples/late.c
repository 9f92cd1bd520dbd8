/* SPDX-License-Identifier: MIT */
/*
 * late: a program that tells its tracer that a frame came late, and is the same without one.
 *
 *	cc -o late late.c $(pkg-config --cflags fxtrace)
 *	fxtrace run -m circular --trigger late-frame:snapshot -- ./late
 */
#include <fxtrace/alert.h>
#include <stdio.h>
#include <time.h>

#define FRAMES	 20
#define LATE	 13 /* the frame that takes longer */
#define LIMIT_NS 20000000L

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void draw_frame(int number)
{
	struct timespec t = {.tv_sec = 0, .tv_nsec = number == LATE ? 30000000 : 1000000};

	nanosleep(&t, NULL);
}

int main(void)
{
	for (int number = 0; number < FRAMES; number++) {
		long begun = now_ns();

		draw_frame(number);
		if (now_ns() - begun > LIMIT_NS) {
			printf("frame %d was late\n", number);
			fxtrace_alert("late-frame");
		}
	}
	return 0;
}
