/* SPDX-License-Identifier: MIT */
/* The headers that have the names of names.tbl, and how a list of them is made. For those alone who include one. */
#ifndef FX_PRELOAD_NAMES_HEADERS_H
#define FX_PRELOAD_NAMES_HEADERS_H

#include <aio.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/if_alg.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <linux/mount.h>
#include <linux/netlink.h>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <locale.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syslog.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include "base/compiler.h"

#if !__GLIBC_PREREQ(2, 36)
#define P_PIDFD 3
#endif

/* The C library has them in a header that cannot be included together with the kernel's. */
#ifndef MNT_FORCE
#define MNT_FORCE	1
#define MNT_DETACH	2
#define MNT_EXPIRE	4
#define UMOUNT_NOFOLLOW 8
#endif

/* What F_GETFL tells; libc calls it 0 where all files are large. */
#if defined(__x86_64__)
#undef O_LARGEFILE
#define O_LARGEFILE 0100000
#endif

/* Either one number has one name, or a set of bits has a name each. */
#define NAMED(constant)                                                                            \
	{                                                                                          \
		(uint32_t)(constant), #constant                                                    \
	}

#endif
