/* SPDX-License-Identifier: MIT */
/*
 * jumps: leaves functions in every way but by return: longjmp across frames, from a signal handler
 * too, pthread_exit and cancellation from nested calls, and changes stacks by swapcontext. After each
 * a plain call tells whether the depth is right again. Compile with -finstrument-functions.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf target;
static sigjmp_buf signal_target;
static ucontext_t outside, inside;
static int ready[2];

static NOINLINE void after(void)
{
	__asm__ volatile("");
}

static NOINLINE void deep(int levels)
{
	if (levels == 0)
		longjmp(target, 1);
	deep(levels - 1);
}

static NOINLINE void jump(void)
{
	if (setjmp(target) == 0)
		deep(3);
	after();
}

/* Again and again from the same place, so that frames left behind would pile up. */
static NOINLINE void jump_often(void)
{
	for (volatile int i = 0; i < 3; i++) {
		if (setjmp(target) == 0)
			deep(1);
	}
	after();
}

/* What comes next is not an instrumented call: the function's own end, or a call of libc. */
static NOINLINE void jump_and_return(void)
{
	if (setjmp(target) == 0)
		deep(1);
}

static NOINLINE void jump_and_close(void)
{
	if (setjmp(target) == 0)
		deep(1);
	close(-1);
}

static NOINLINE void handler(int signal)
{
	(void)signal;
	after();
}

static NOINLINE void interrupted(void)
{
	raise(SIGUSR1);
	after();
}

static NOINLINE void handler_that_jumps(int signal)
{
	(void)signal;
	siglongjmp(signal_target, 1);
}

static NOINLINE void jump_from_handler(void)
{
	if (sigsetjmp(signal_target, 1) == 0)
		raise(SIGUSR2);
	after();
}

static NOINLINE void exit_deep(int levels)
{
	if (levels == 0)
		pthread_exit(NULL);
	exit_deep(levels - 1);
}

static NOINLINE void *thread_that_exits(void *unused)
{
	exit_deep(2);
	return unused;
}

static NOINLINE void clean_up(void *unused)
{
	(void)unused;
	after();
}

static NOINLINE void wait_to_be_cancelled(void)
{
	write(ready[1], "", 1);
	for (;;)
		pause();
}

static NOINLINE void *thread_that_is_cancelled(void *unused)
{
	pthread_cleanup_push(clean_up, NULL);
	wait_to_be_cancelled();
	pthread_cleanup_pop(0);
	return unused;
}

static NOINLINE void exit_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_that_exits, NULL);
	pthread_join(thread, NULL);
	after();
}

static NOINLINE void cancel_thread(void)
{
	pthread_t thread;
	char byte;

	pthread_create(&thread, NULL, thread_that_is_cancelled, NULL);
	read(ready[0], &byte, 1);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	after();
}

static NOINLINE void on_other_stack(void)
{
	after();
	swapcontext(&inside, &outside);
	after();
}

static NOINLINE void change_stacks(void)
{
	static char stack[65536];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, on_other_stack, 0);
	swapcontext(&outside, &inside);
	after();
	swapcontext(&outside, &inside);
	after();
}

int main(void)
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler_that_jumps);
	if (pipe(ready) != 0)
		return 1;
	jump();
	jump_often();
	jump_and_return();
	jump_and_close();
	interrupted();
	jump_from_handler();
	exit_thread();
	cancel_thread();
	change_stacks();
	after();
	return 0;
}
