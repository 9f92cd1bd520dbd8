/* SPDX-License-Identifier: MIT */
#include "manager/settings/policy.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/socket.h"

bool fx_policy_is_own(uid_t uid)
{
	return uid == geteuid() || uid == 0;
}

static bool is_listed(const struct fx_policy *policy, uid_t uid)
{
	for (unsigned i = 0; i < policy->user_count; i++) {
		if (policy->users[i] == uid)
			return true;
	}
	return false;
}

bool fx_policy_admits(const struct fx_policy *policy, int fd, uid_t uid)
{
	return fx_policy_is_own(uid) || policy->all || is_listed(policy, uid) ||
	       (policy->has_group && fx_socket_peer_in(fd, policy->group));
}

bool fx_policy_controls(const struct fx_policy *policy, int fd, uid_t uid)
{
	return fx_policy_is_own(uid) || (policy->control && fx_policy_admits(policy, fd, uid));
}

/* Others' processes have no other users among their children, but by programs that cannot be traced. */
static bool is_open_to_kin(const struct fx_policy *policy)
{
	return policy->kin && geteuid() == 0;
}

bool fx_policy_is_open(const struct fx_policy *policy)
{
	return policy->all || policy->user_count || policy->has_group || is_open_to_kin(policy);
}

int fx_policy_open(const struct fx_policy *policy, const char *path)
{
	/* Users of a list need not be of the group; then credentials alone keep out the others. */
	bool any = policy->all || policy->user_count || is_open_to_kin(policy);
	mode_t mode = any ? 0666 : 0660;

	if (!fx_policy_is_open(policy))
		return 0;
	if (policy->has_group && chown(path, (uid_t)-1, policy->group) < 0)
		return -errno;
	return chmod(path, mode) < 0 ? -errno : 0;
}
