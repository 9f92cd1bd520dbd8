/* SPDX-License-Identifier: MIT */
/* The types that the prototypes in wrappers.tbl name. Of many a pointer is all that is ever seen. */
#ifndef FX_PRELOAD_TYPES_H
#define FX_PRELOAD_TYPES_H

#include <aio.h>
#include <dirent.h>
#include <glob.h>
#include <iconv.h>
#include <locale.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <nl_types.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <wchar.h>
#include <wordexp.h>

typedef char *const *fx_strings; /* argv, envp: ends with NULL */
typedef void *(*fx_thread_main)(void *);
typedef int (*fx_clone_main)(void *);
typedef int (*fx_main)(int, char **, char **);
typedef void (*fx_nothing)(void);
typedef void (*fx_once_main)(void);
typedef void (*fx_signal_handler)(int);
typedef int (*fx_scan_filter)(const struct dirent *);
typedef int (*fx_scan_compare)(const struct dirent **, const struct dirent **);
typedef int (*fx_walk_visit)(void);
typedef int (*fx_glob_error)(const char *, int);

typedef struct _IO_FILE FILE; /* not by stdio.h: nothing here may use it */

struct addrinfo;
struct aliasent;
struct ether_addr;
struct fstab;
struct gaicb;
struct group;
struct hostent;
struct if_nameindex;
struct ifaddrs;
struct mntent;
struct mq_attr;
struct msqid_ds;
struct netent;
struct ntptimeval;
struct passwd;
struct protoent;
struct rpcent;
struct servent;
struct sgrp;
struct shmid_ds;
struct sigstack;
struct spwd;
struct statfs;
struct statvfs;
struct statx;
struct sysinfo;
struct termios;
struct timex;
struct timezone;
struct ttyent;
struct utimbuf;
struct utmp;
struct utmpx;
struct utsname;
struct winsize;
struct file_handle;

#endif
