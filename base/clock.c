/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <elf.h>
#include <sys/auxv.h>

#include "base/syscall.h"
#include "base/vdso.h"

#if defined(__x86_64__)
#define VDSO_NAME "__vdso_clock_gettime"
#elif defined(__aarch64__)
#define VDSO_NAME "__kernel_clock_gettime"
#endif

static int ask_kernel(clockid_t clock, struct timespec *ret)
{
	return (int)fx_syscall2(SYS_clock_gettime, clock, ret);
}

/* Two threads, or a thread and its signal handler, may both do this: they find the same. */
static int find_and_read(clockid_t clock, struct timespec *ret)
{
	/* As the dynamic linker was told: an emulator may have no vDSO where the kernel's own answer has one. */
	fx_clock_init((const void *)getauxval(AT_SYSINFO_EHDR));
	return fx_load_relaxed(&fx_clock_read)(clock, ret);
}

fx_clock_function *fx_clock_read = find_and_read;

void fx_clock_init(const void *image)
{
	fx_clock_function *found = (fx_clock_function *)fx_vdso_find(image, VDSO_NAME);

	fx_store_relaxed(&fx_clock_read,
			 found ? found : ask_kernel); /* nothing is read through it */
}

bool fx_clock_has_vdso(void)
{
	fx_clock_function *read = fx_load_relaxed(&fx_clock_read);

	return read != ask_kernel && read != find_and_read;
}
