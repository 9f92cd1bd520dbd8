/* SPDX-License-Identifier: MIT */
#include "manager/door/private-place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manager/door/stale.h"
#include "protocol/place.h"

#define RUNTIME_OF_USERS "/run/user/"

/* Makes a directory of mode 0700 with a name of its own below `base`. */
static int directory_make(struct fx_private_place *ret, const char *base)
{
	int n =
	    snprintf(ret->directory, sizeof(ret->directory), "%s/%s", base, FX_PRIVATE_TEMPLATE);

	/* The socket's name must fit as well. */
	if (n < 0 || (size_t)n + 3 > sizeof(ret->directory))
		return -ENAMETOOLONG;
	if (!mkdtemp(ret->directory)) {
		ret->directory[0] = 0;
		return -errno;
	}
	fx_stale_remove(base);
	return 0;
}

/* What is made for each user lets no other enter. */
static bool is_closed(const struct fx_policy *policy, const char *runtime)
{
	return policy && fx_policy_is_open(policy) &&
	       strncmp(runtime, RUNTIME_OF_USERS, strlen(RUNTIME_OF_USERS)) == 0;
}

int fx_private_place_make(struct fx_private_place *ret, const struct fx_policy *policy)
{
	int r = -ENOENT;

	ret->directory[0] = ret->path[0] = 0;
	for (unsigned i = 0; i < FX_PLACES && r < 0; i++) {
		const char *place = fx_place_number(i);

		if (place && !is_closed(policy, place))
			r = directory_make(ret, place);
	}
	if (r < 0)
		return r;
	if (policy && fx_policy_is_open(policy) && chmod(ret->directory, 0711) < 0)
		return -errno;
	snprintf(ret->path, sizeof(ret->path), "%.*s/" FX_PRIVATE_SOCKET,
		 (int)sizeof(ret->path) - 3, ret->directory);
	return 0;
}
