/* SPDX-License-Identifier: MIT */
#include "preload/host/number.h"

#include <pthread.h>

#include "preload/host/real.h"

int fx_libc_number(void)
{
	/* Nobody else has it, so nothing is waited for; libc writes into it whose it is. */
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int number;

	/* Of other libraries, which may have these functions too, none is initialised yet. */
	if (!fx_real_is_of_libc((void *)FX_REAL(pthread_mutex_lock)) ||
	    !fx_real_is_of_libc((void *)FX_REAL(pthread_mutex_unlock)))
		return 0;
	FX_REAL(pthread_mutex_lock)(&mutex);
	number = mutex.__data.__owner;
	FX_REAL(pthread_mutex_unlock)(&mutex);
	return number > 0 ? number : 0;
}
