/* SPDX-License-Identifier: MIT */
/* The constructor: from here on the process is a provider, or runs as if we were not there. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/fault.h"
#include "base/clock.h"
#include "base/vdso.h"
#include "engine/provider/engine.h"
#include "engine/provider/number.h"
#include "preload/boot/asked.h"
#include "preload/attach/attach.h"
#include "preload/attach/bring.h"
#include "preload/boot/environ.h"
#include "preload/boot/equip.h"
#include "preload/show/fdtable.h"
#include "preload/attach/manager-user.h"
#include "preload/call/heap.h"
#include "preload/call/tables.h"
#include "preload/call/title.h"
#include "preload/events/engines.h"
#include "preload/hooks/hooks.h"
#include "preload/host/found.h"
#include "preload/host/gates.h"
#include "preload/host/number.h"
#include "preload/boot/patch.h"
#include "preload/boot/private.h"
#include "preload/host/real.h"
#include "preload/host/self.h"
#include "preload/strings.h"
#include "preload/host/unwind.h"
#include "preload/host/variables.h"

/* libc may not have been initialised yet, which keeps it in program_invocation_short_name. */
static const char *program = "";

static void program_name(int argc, char **argv)
{
	const char *last = argc > 0 && argv[0] ? strrchr(argv[0], '/') : NULL;

	if (program_invocation_short_name && program_invocation_short_name[0])
		program = program_invocation_short_name;
	else if (argc > 0 && argv[0])
		program = last ? last + 1 : argv[0];
}

static int reattach(void)
{
	int r = fx_bring();

	return r == -ENOSYS ? fx_attach(FX_REGISTER_FORK) : r;
}

static int attach_somewhere(void)
{
	const char *socket = fx_environ_value("FXTRACE_SOCKET");
	int fd;

	if (socket && socket[0]) {
		fx_attach_set_socket(socket);
		return fx_attach(FX_REGISTER_START);
	}
	fd = fx_private_manager_start(program);
	return fd < 0 ? fd : fx_attach_over(fd, FX_REGISTER_START);
}

/* Behind the environment lies the auxiliary vector, if that is still the one which the kernel has made: a library that
 * is loaded later gets another. False, with 0: there is no such value. */
static const unsigned long *auxv_of(int argc, char **argv, char **envp)
{
	if (envp != argv + argc + 1)
		return NULL;
	while (*envp)
		envp++;
	return (const unsigned long *)(envp + 1);
}

/* Where the vDSO lies; NULL: nowhere. What the vector does not tell there is none of: an emulator such as valgrind has taken it
 * away, and the kernel, when it is asked, still says where it was. */
static const void *vdso_of(const unsigned long *auxv)
{
	unsigned long image;

	if (!auxv)
		return (const void *)getauxval(AT_SYSINFO_EHDR);
	fx_auxv_find(auxv, AT_SYSINFO_EHDR, &image);
	return (const void *)image;
}

/* Set-user-ID, with capabilities of its file and the like: its caller must not steer it. Where that cannot be told it is
 * taken to be so. */
static bool is_privileged(const unsigned long *auxv)
{
	unsigned long secure;

	if (!auxv || !fx_auxv_find(auxv, AT_SECURE, &secure))
		return !fx_auxv_value(AT_SECURE, &secure) || secure;
	return secure;
}

/* The kernel has named it after the file that was executed; by a descriptor, after another. */
static void first_thread_name(const unsigned long *auxv)
{
	static const char by_descriptor[] = "/dev/fd/";
	unsigned long file;
	const char *last;

	if (!fx_auxv_find(auxv, AT_EXECFN, &file) ||
	    strncmp((const char *)file, by_descriptor, sizeof by_descriptor - 1) == 0)
		return;
	last = strrchr((const char *)file, '/');
	fx_thread_has_name(last ? last + 1 : (const char *)file);
}

/* Whether the process is attached, by this library. */
static bool process_attach(bool begins)
{
	int r;

	if (begins) { /* with the thread that has its number */
		int number = fx_libc_number();

		fx_attach_set_pid(number);
		if (number)
			fx_number_find((uint32_t)number);
	}
	r = attach_somewhere();
	fx_attach_set_pid(0);
	if (r != 0) {
		fx_engines_waive();
		return false;
	}
	fx_engines_settle();
	return true;
}

/* So far below its arguments a program's first functions run, at most. */
#define FIRST_STACK (UINT64_C(1) << 20)

/* Whether this is the process's first thread, not far from its beginning: another one may load a library, too. */
static bool is_first_thread(char **argv)
{
	return (uintptr_t)argv - (uintptr_t)__builtin_frame_address(0) < FIRST_STACK;
}

static void trace_process(const unsigned long *auxv, bool begins)
{
	/* Another engine may have been there before: a program that loads this library has one already. */
	if (!fx_engines_claim(0))
		return;
	fx_gates_open(&(struct fx_gates){.calls = &__fxtrace_calls, .events = &fx_events_table});
	fx_equip();
	fx_engine.reattach = reattach;
	fx_attach_set_name(program);
	fx_manager_user_init(auxv);
	fx_found_init();
	fx_unwind_init();
	if (process_attach(begins)) {
		if (begins) {
			fx_thread_is_first_of(fx_engine.pid);
			first_thread_name(auxv);
		}
		fx_fd_table_init();
		fx_tables_make();
		fx_patch_begin();
	}
	fx_manager_user_began();
	fx_environ_init(); /* last: it hands on what the above has set */
	if (!fx_environ_follows() || fx_asked_alone())
		fx_engine.reattach = NULL;
}

/*
 * The dynamic linker initialises this library first (-z initfirst), libc included, so that the constructors of the
 * program's libraries and .preinit_array are traced. Only one library can have that: the last that was loaded with it,
 * which in glibc before 2.34 is libpthread. Then, and for one that is loaded later, this runs in its turn.
 */
__attribute__((constructor(101))) static void boot(int argc, char **argv, char **envp)
{
	int saved = errno;
	const unsigned long *auxv = auxv_of(argc, argv, envp);

	fx_fault_begin(envp);
	fx_heap_find_real();
	program_name(argc, argv);
	fx_environ_begin(envp);
	fx_clock_init(vdso_of(auxv));
	/* the first before any variable is looked at */
	if (fx_self_is_late())
		;
	else if (is_privileged(auxv) || fx_asked_of_another())
		fx_environ_forget();
	else if (fx_asked()) {
		fx_title_begin(argc, argv, envp);
		trace_process(auxv, auxv && is_first_thread(argv));
	}
	errno = saved;
}

/* The last of all: a program that returns from main() calls no exit() that is wrapped. */
__attribute__((destructor(101))) static void leave(void)
{
	fx_title_tell();
}

/* All constructors have run: what needed libc is made up for. */
int fx_wrap___libc_start_main(fx_main main, int argc, char **argv, fx_nothing init, fx_nothing fini,
			      fx_nothing end_of_linker, void *end_of_stack)
{
	int saved = errno;

	fx_private_manager_remember();
	errno = saved;
	return FX_REAL(__libc_start_main)(main, argc, argv, init, fini, end_of_linker,
					  end_of_stack);
}
