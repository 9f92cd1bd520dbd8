/* SPDX-License-Identifier: MIT */
#include "manager/door/applicant.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "manager/process/kin.h"

static const struct fx_policy nobody_else;

static const struct fx_policy *policy_of(const struct fx_registry_owner *owner)
{
	return owner->policy ? owner->policy : &nobody_else;
}

struct fx_peer fx_peer_of(int fd, pid_t given)
{
	struct fx_peer peer = {.fd = fd, .given = given};

	peer.unknown = fx_socket_peer(fd, &peer.pid, &peer.uid);
	return peer;
}

int fx_peer_authorize(const struct fx_peer *peer, const struct fx_registry_owner *owner)
{
	if (peer->unknown < 0)
		return peer->unknown;
	return fx_policy_controls(policy_of(owner), peer->fd, peer->uid) ? 0 : -EPERM;
}

/* Of a process that has ended since, the kernel knows no parent: the one that it names must be known here, live, and be
 * the same user's. */
static bool is_kin(const struct fx_registry_owner *owner, const struct fx_applicant *applicant)
{
	pid_t parent = (pid_t)applicant->own_parent;

	if (!policy_of(owner)->kin)
		return false;
	if (fx_kin_descends(applicant->pid, owner->is_head, owner->opaque))
		return true;
	return applicant->brought && fx_kin_is_over(applicant->pid) &&
	       owner->is_head(owner->opaque, parent) && fx_kin_has_user(parent, applicant->uid);
}

/* Where the kernel has no pidfds, or a filter keeps them from us, the end of the process is looked for. */
static int without_pidfd(int error, struct fx_applicant *ret)
{
	ret->pidfd = -1;
	return error == -ENOSYS || error == -EPERM ? 0 : error;
}

/* A process that brings memory has said all, and may have ended since. Before Linux 6.9 the kernel calls that EINVAL;
 * without pidfds it says nothing. */
static bool may_have_ended(const struct fx_applicant *applicant, int error)
{
	if (!applicant->brought)
		return false;
	if (error == -ENOSYS || error == -EPERM)
		return fx_kin_is_over(applicant->pid);
	return error == -ESRCH || error == -EINVAL;
}

bool fx_peer_admits(int fd, const struct fx_registry_owner *owner,
		    const struct fx_applicant *applicant)
{
	return fx_policy_admits(policy_of(owner), fd, applicant->uid) || is_kin(owner, applicant);
}

int fx_peer_identify(const struct fx_peer *peer, const struct fx_registry_owner *owner,
		     struct fx_applicant *ret)
{
	int r;

	if (peer->unknown < 0)
		return peer->unknown;
	ret->pid = peer->pid;
	ret->uid = peer->uid;
	if (!fx_peer_admits(peer->fd, owner, ret))
		return -EPERM;
	if (peer->given) {
		ret->pid = peer->given;
		ret->pidfd = (int)syscall(SYS_pidfd_open, peer->given, 0);
		return ret->pidfd < 0 ? without_pidfd(-errno, ret) : 0;
	}
	if (ret->pid <= 0)
		return -ESRCH;
	ret->pidfd = fx_socket_peer_pidfd(peer->fd, ret->pid);
	if (ret->pidfd >= 0)
		return 0;
	ret->ended = may_have_ended(ret, ret->pidfd);
	r = without_pidfd(ret->pidfd, ret);
	return ret->ended ? 0 : r;
}
