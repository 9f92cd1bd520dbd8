/* SPDX-License-Identifier: MIT */
/* Arguments of calls that administer: mounts, capabilities, the objects of System V. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "preload/show/args.h"
#include "preload/host/peek.h"

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000 /* Linux 5.12 */
#endif

static void args_admin_arg_text(struct fx_call *call, unsigned name, const struct fx_text *t)
{
	fx_arg_bytes(call, name, t->begin, fx_text_length(t));
}

/* --- Mounts --------------------------------------------------------------------------------------- */

static bool is_text(const char *s, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)s[i] < ' ')
			return false;
	return true;
}

/* Most file systems take a text; some a structure. */
void fx_arg_mount_data(struct fx_call *call, unsigned name, const void *data)
{
	const long length = data ? fx_peek_string(data, FX_FLAGS_TEXT + 1) : -1;

	if (length < 0 || !is_text(data, (size_t)length))
		fx_arg_ptr(call, name, data);
	else
		fx_arg_bytes(call, name, data, fx_text_cut(data, (size_t)length, FX_FLAGS_TEXT));
}

void fx_arg_fs_name(struct fx_call *call, unsigned name, const char *text)
{
	if (text)
		fx_arg_text(call, name, text);
}

void fx_arg_fs_value(struct fx_call *call, unsigned name, const void *value, int command, int aux)
{
	switch (command) {
	case FSCONFIG_SET_STRING:
		fx_arg_text(call, name, value);
		break;
	case FSCONFIG_SET_PATH:
	case FSCONFIG_SET_PATH_EMPTY:
		fx_arg_text(call, name, value);
		fx_arg_dirfd(call, FX_STR_fd, aux);
		break;
	case FSCONFIG_SET_BINARY:
		fx_arg_ptr(call, name, value);
		fx_arg_int(call, FX_STR_size, aux);
		break;
	case FSCONFIG_SET_FD:
		fx_arg_fd(call, FX_STR_fd, aux);
		break;
	}
}

void fx_arg_mount_attr(struct fx_call *call, unsigned name, const void *attributes, size_t size)
{
	const struct { /* the kernel's struct mount_attr, which older headers do not have */
		uint64_t attr_set, attr_clr, propagation, userns_fd;
	} *attr = attributes;

	if (size < sizeof *attr || !fx_peek_near(attr, sizeof *attr, &call)) {
		fx_arg_ptr(call, name, attributes);
		return;
	}
	if (attr->attr_set)
		fx_arg_mount_attributes(call, FX_STR_set, (unsigned)attr->attr_set);
	if (attr->attr_clr)
		fx_arg_mount_attributes(call, FX_STR_clear, (unsigned)attr->attr_clr);
	if (attr->propagation)
		fx_arg_mount_flags(call, FX_STR_propagation, (unsigned)attr->propagation);
	if (attr->attr_set & MOUNT_ATTR_IDMAP)
		fx_arg_fd(call, FX_STR_userns, (int)attr->userns_fd);
}

/* --- Capabilities --------------------------------------------------------------------------------- */

/* EPERM comes after both have been read. */
static bool capabilities_were_read(int error)
{
	return error == 0 || error == EPERM;
}

void fx_arg_cap_header(struct fx_call *call, unsigned name, const void *header)
{
	const struct __user_cap_header_struct *h = header;

	(void)name;
	if (h && capabilities_were_read(call->error))
		fx_arg_int(call, FX_STR_pid, h->pid);
}

static uint64_t every_capability(void)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < fx_count_capability; i++)
		all |= 1ull << fx_list_capability[i].value;
	return all;
}

static void text_capabilities(struct fx_text *t, uint64_t set)
{
	bool first = true;

	for (unsigned i = 0; i < fx_count_capability; i++) {
		if (!(set >> fx_list_capability[i].value & 1))
			continue;
		if (!first)
			fx_text_char(t, '|');
		first = false;
		fx_text_string(t, fx_list_capability[i].name);
	}
}

static void arg_capabilities(struct fx_call *call, unsigned name, uint64_t set)
{
	const uint64_t all = every_capability();
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	set &= all;
	if (__builtin_popcountll(set) > __builtin_popcountll(all) / 2) {
		fx_text_string(&t, set == all ? "all" : "all but ");
		set = all & ~set;
	} else if (!set) {
		fx_text_char(&t, '0');
	}
	text_capabilities(&t, set);
	args_admin_arg_text(call, name, &t);
}

/* Since version 2 there are two words of each set, of which the second stands behind all of the first. */
void fx_arg_capabilities(struct fx_call *call, unsigned name, const void *data, const void *header)
{
	const struct __user_cap_header_struct *h = header;
	const struct __user_cap_data_struct *d = data;
	uint64_t high;

	(void)name;
	if (!h || !d || !capabilities_were_read(call->error))
		return;
	high = h->version == _LINUX_CAPABILITY_VERSION_1 ? 0 : 1;
	arg_capabilities(call, FX_STR_effective,
			 d->effective | (high ? (uint64_t)d[1].effective << 32 : 0));
	arg_capabilities(call, FX_STR_permitted,
			 d->permitted | (high ? (uint64_t)d[1].permitted << 32 : 0));
	arg_capabilities(call, FX_STR_inheritable,
			 d->inheritable | (high ? (uint64_t)d[1].inheritable << 32 : 0));
}

/* --- System V ------------------------------------------------------------------------------------- */

/* "0600 uid 0 gid 0" */
static void text_owner(struct fx_text *t, const struct ipc_perm *perm)
{
	fx_text_octal(t, perm->mode & 0777);
	fx_text_string(t, " uid ");
	fx_text_number(t, perm->uid, 10);
	fx_text_string(t, " gid ");
	fx_text_number(t, perm->gid, 10);
}

static void text_amount(struct fx_text *t, uint64_t n, const char *unit)
{
	fx_text_string(t, ", ");
	fx_text_number(t, n, 10);
	fx_text_string(t, unit);
}

/* The other commands take another structure, or none. */
static bool is_owned(const struct fx_call *call, const void *object, int command)
{
	return !call->error && object && (command == IPC_STAT || command == IPC_SET);
}

void fx_arg_shm_segment(struct fx_call *call, unsigned name, const struct shmid_ds *segment,
			int command)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!is_owned(call, segment, command))
		return;
	text_owner(&t, &segment->shm_perm);
	if (command == IPC_STAT) {
		text_amount(&t, segment->shm_segsz, " bytes");
		text_amount(&t, segment->shm_nattch, " attached");
	}
	args_admin_arg_text(call, name, &t);
}

void fx_arg_msg_queue(struct fx_call *call, unsigned name, const struct msqid_ds *queue,
		      int command)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!is_owned(call, queue, command))
		return;
	text_owner(&t, &queue->msg_perm);
	if (command == IPC_STAT)
		text_amount(&t, queue->msg_qnum, " messages");
	text_amount(&t, queue->msg_qbytes, " bytes at most");
	args_admin_arg_text(call, name, &t);
}

static void arg_semaphores(struct fx_call *call, unsigned name, const struct semid_ds *set,
			   int command)
{
	char buffer[FX_FLAGS_TEXT];
	struct fx_text t = FX_TEXT(buffer);

	if (!is_owned(call, set, command))
		return;
	text_owner(&t, &set->sem_perm);
	if (command == IPC_STAT)
		text_amount(&t, set->sem_nsems, " semaphores");
	args_admin_arg_text(call, name, &t);
}

void fx_arg_semctl(struct fx_call *call, unsigned name, long arg, int command)
{
	if (command == SETVAL)
		fx_arg_int(call, name, (int)arg);
	else
		arg_semaphores(call, name, (const struct semid_ds *)arg, command);
}
