/* SPDX-License-Identifier: MIT */
#include "client/allow.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A number that can be an id: (uid_t)-1 means nobody. */
static bool parse_id(const char *text, unsigned *ret)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*ret = (unsigned)n;
	return errno == 0 && *end == 0 && n < UINT32_MAX;
}

static bool find_user(const char *text, uid_t *ret)
{
	const struct passwd *entry;

	if (parse_id(text, ret))
		return true;
	entry = getpwnam(text);
	if (entry)
		*ret = entry->pw_uid;
	return entry;
}

const char *fx_allow_users(struct fx_policy *policy, const char *list)
{
	char name[LOGIN_NAME_MAX];

	if (strcmp(list, "all") == 0) {
		policy->all = true;
		return NULL;
	}
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");

		if (policy->user_count == FX_POLICY_USERS)
			return "more than 64 users";
		if (length == 0 || length >= sizeof(name))
			return "not a comma list of users";
		memcpy(name, at, length);
		name[length] = 0;
		if (!find_user(name, &policy->users[policy->user_count]))
			return "no such user";
		policy->user_count++;
		at += length;
		if (!*at)
			return NULL;
	}
}

const char *fx_allow_group(struct fx_policy *policy, const char *name)
{
	const struct group *entry;

	policy->has_group = true;
	if (parse_id(name, &policy->group))
		return NULL;
	entry = getgrnam(name);
	if (!entry)
		return "no such group";
	policy->group = entry->gr_gid;
	return NULL;
}
