/* SPDX-License-Identifier: MIT */
/*
 * A set of objects by their addresses, for what an object does not say of itself. It has room for thousands; what does
 * not find room is not in it. Nobody waits here, and a signal handler may do all of it in the middle of itself.
 */
#ifndef FX_PRELOAD_OBJECTS_H
#define FX_PRELOAD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#define FX_OBJECTS_BUCKETS 512u
#define FX_OBJECTS_WAYS	   8u

struct fx_objects {
	uint64_t addresses[FX_OBJECTS_BUCKETS][FX_OBJECTS_WAYS]; /* 0: free */
	bool used;						 /* something was ever put there */
};

/* `object` is in the set from now on, or not. */
void fx_objects_set(struct fx_objects *set, const volatile void *object, bool is_in);
void fx_objects_each(const struct fx_objects *set, void (*visit)(volatile void *object));
bool fx_objects_have(const struct fx_objects *set, const volatile void *object);

#endif
