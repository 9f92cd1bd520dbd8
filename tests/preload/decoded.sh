#!/bin/bash
# SPDX-License-Identifier: MIT
# Every class of calls is shown as a person would write it; of the calls on streams and directories those
# that went to the kernel.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

mkdir empty && cd empty || exit 99
expect_ok "$FXTRACE" run -q -o ../trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/decoded"
expect_ok "$FXTRACE" dump ../trace.fxt
cp out dump
expect_clean ../trace.fxt

# shown NAME PATTERN: a slice of this name has just these arguments, and what its descriptor is.
shown() {
	grep "event type=complete .* name=\"$1\"" dump | sed -E 's/, "([a-z]+_)?(file|dir)[_0-9]*":string="[^}]*}/}/' | grep -qE "args=\{$2\}" ||
		fail "no $1 with {$2}; there is:"$'\n'"$(grep "name=\"$1\"" dump | head -n 5)"
}

# count NAME [ARGUMENT]: slices of this name.
count() {
	grep "event type=complete .* name=\"$1\"#" dump | grep -cF -- "${2-}"
}

shown open '"path":string="file", "flags":string="O_RDWR\|O_CREAT\|O_TRUNC", "mode":string="0640", "ret":int32=[0-9]+'
shown stat '"path":string="file", "stat":string="S_IFREG\|0640 10", "ret":int32=0'
shown statx '"dirfd":int32=[0-9]+, "path":string="", "flags":string="AT_EMPTY_PATH", "mask":string="STATX_MODE\|STATX_SIZE", "statx":string="S_IFREG\|0640 10", "ret":int32=0'
shown access '"path":string="file", "mode":string="R_OK\|W_OK", "ret":int32=0'
shown access '"path":string="file", "mode":string="F_OK", "ret":int32=0'
shown lseek '"fd":int32=[0-9]+, "offset":int32=5, "whence":string="SEEK_SET", "ret":int32=5'
shown fcntl '"fd":int32=[0-9]+, "command":string="F_SETFD", "arg":string="FD_CLOEXEC", "ret":int32=0'
shown fcntl '"fd":int32=[0-9]+, "command":string="F_GETFL", "flags":string="O_RDWR(\|[^"]*)?", "ret":int32=[0-9]+'
shown fcntl '"fd":int32=[0-9]+, "command":string="F_SETLK", "arg":string="F_WRLCK SEEK_SET 1 2", "ret":int32=0'
shown rename '"from":string="file", "to":string="renamed", "ret":int32=0'
shown rename '"from":string="does-not-exist", "to":string="elsewhere", "ret":int32=-1, "errno":string="ENOENT"'
shown readlink '"path":string="link", "target":string="renamed", "ret":int32=7'
shown chmod '"path":string="renamed", "mode":string="0600", "ret":int32=0'
# Before glibc 2.33 mknod() is __xmknod(), which has the device's address.
device='"device":uint32=0, '
glibc_since 33 || device=
shown mknod "\"path\":string=\"node\", \"mode\":string=\"S_IFREG\|0600\", $device\"ret\":int32=0"
shown unlinkat '"dirfd":string="AT_FDCWD", "path":string="node", "flags":string="0", "ret":int32=0'
shown ioctl '"fd":int32=[0-9]+, "request":string="FIONREAD", "arg":int32=5, "ret":int32=0'
shown isatty '"fd":int32=[0-9]+, "ret":int32=0'

shown mmap '"addr":pointer=0x0, "length":uint32=8192, "prot":string="PROT_READ\|PROT_WRITE", "flags":string="MAP_PRIVATE\|MAP_ANONYMOUS", "fd":int32=-1, "offset":int32=0, "ret":pointer=0x[0-9a-f]+'
shown mmap '.*"flags":string="MAP_SHARED", .*"errno":string="EBADF"'
shown mprotect '"addr":pointer=0x[0-9a-f]+, "length":uint32=4096, "prot":string="PROT_NONE", "ret":int32=0'
shown madvise '.*"advice":string="MADV_DONTNEED", "ret":int32=0'
shown memfd_create '"name":string="named", "flags":string="MFD_CLOEXEC", "ret":int32=[0-9]+'

shown epoll_ctl '"epfd":int32=[0-9]+, "operation":string="EPOLL_CTL_ADD", "fd":int32=[0-9]+, "events":string="EPOLLIN\|EPOLLET", "data":string="0", "ret":int32=0'
expect_line 'name="epoll_wait".* "ready":string="[0-9]+:EPOLLIN".*"ret":int32=1, "file":string="anon_inode:\[eventfd\] [0-9]+-[0-9]+"' dump
expect_equal 2 "$(grep -cE 'name="epoll_wait".* "ready":string="[0-9]+:EPOLLIN"' dump)" "events of a known descriptor"
shown epoll_wait '.*"ready":string="\(0x11f71fb04cb\):EPOLL[A-Z]+", .*'
shown epoll_wait '"epfd":int32=[0-9]+, "ready":string="[0-9]+:EPOLLIN", "maxevents":int32=1, "timeout_ms":int32=-1, "ret":int32=1'
# A socket keeps its place in the set when it is connected, and loses it when its number is another descriptor.
expect_line 'name="epoll_wait".* "ready":string="[0-9]+:EPOLLOUT".*"ret":int32=1, "file":string="socket:.*' dump
expect_equal 1 "$(grep -cE 'name="epoll_wait".* "ready":string="[0-9]+:EPOLLOUT"' dump)" "a connected socket"
expect_equal 1 "$(grep -cE 'name="epoll_wait".* "ready":string="\(0x7700000000000\):EPOLLOUT"' dump)" "a socket whose number is another one's"
shown poll '"fds":string="([0-9]+:POLLIN\|POLLOUT)", "ready":string="\1", "nfds":uint32=1, "timeout_ms":int32=0, "ret":int32=1'
shown select '"nfds":int32=[0-9]+, "readfds":string="([0-9]+)", "ready":string="in \1", "timeout_ns":null=null, "ret":int32=1'
shown select '"nfds":int32=[0-9]+, "readfds":string="([0-9]+) [0-9]+", "writefds":string="([0-9]+)", "ready":string="in \1, out \2", "timeout_ns":int32=1000000, "left_ns":int32=[0-9]+, "ret":int32=2'
shown select '"nfds":int32=[0-9]+, "readfds":string="[0-9]+", "timeout_ns":int32=1000000, "left_ns":int32=0, "ret":int32=0'
expect_line 'name="select".*"ready":string="in [0-9]+, out [0-9]+".*"ret":int32=2, "file":string="anon_inode:\[eventfd\] [0-9]+-[0-9]+", "file_2":string="pipe:\[[0-9]+\]"' dump
shown pselect '"nfds":int32=[0-9]+, "writefds":string="([0-9]+)", "exceptfds":string="[0-9]+ [0-9]+", "ready":string="out \1", "timeout_ns":int32=1000000000, "ret":int32=1'
shown select '"nfds":int32=[0-9]+, "exceptfds":string="", "timeout_ns":int32=[0-9]+, "ret":int32=-1, "errno":string="EFAULT"'
shown select '"nfds":int32=[0-9]+, "readfds":string="[0-9]+", "timeout_ns":int32=[0-9]+, "ret":int32=-1, "errno":string="EBADF"'

# What is left until a deadline; all of these had passed.
shown sem_timedwait '"sem":pointer=0x[0-9a-f]+, "clock":string="CLOCK_REALTIME", "timeout_ns":int[0-9]+=-[0-9]+, "ret":int32=-1, "errno":string="ETIMEDOUT"'
expect_equal 2 "$(count sem_timedwait '"timeout_ns"')" "waits for a semaphore, one with its deadline elsewhere"
shown sem_clockwait '.*"clock":string="CLOCK_MONOTONIC", "timeout_ns":int64=-5[0-9]{9,}, "ret":int32=-1, "errno":string="ETIMEDOUT"'
shown pthread_mutex_timedlock '.*"clock":string="CLOCK_REALTIME", "timeout_ns":int[0-9]+=-[0-9]+, .*"errno":string="ETIMEDOUT".*'
shown pthread_cond_timedwait '.*"clock":string="CLOCK_REALTIME", "timeout_ns":int[0-9]+=-[0-9]+, "errno":string="ETIMEDOUT"'
shown pthread_cond_timedwait '.*"clock":string="CLOCK_MONOTONIC", "timeout_ns":int64=-5[0-9]{9,}, "errno":string="ETIMEDOUT"'
shown pthread_cond_clockwait '.*"clock":string="CLOCK_MONOTONIC", "timeout_ns":int64=-5[0-9]{9,}, "errno":string="ETIMEDOUT"'
shown clock_nanosleep '"clock":string="CLOCK_MONOTONIC", "flags":string="TIMER_ABSTIME", "time_ns":int[0-9]+=-?[0-9]+, "timeout_ns":int64=-5[0-9]{9,}'
shown mq_timedreceive '"fd":int32=-1, "size":uint32=0, "clock":string="CLOCK_REALTIME", "timeout_ns":int[0-9]+=-[0-9]+, "ret":int32=-1, "errno":string="EBADF"'

shown eventfd '"value":uint32=7, "flags":string="EFD_NONBLOCK", "ret":int32=[0-9]+'
shown eventfd_read '"fd":int32=[0-9]+, "value":uint32=7, "ret":int32=0'
shown timerfd_settime '.*"flags":string="0", "time_ns":int32=1000000000, "interval_ns":int32=2000000000, "ret":int32=0'
shown inotify_add_watch '.*"path":string=".", "mask":string="IN_CREATE\|IN_DELETE", "ret":int32=1'
shown signalfd '"fd":int32=-1, "set":string="SIGINT\|SIGUSR1", "flags":string="SFD_CLOEXEC", "ret":int32=[0-9]+'
shown sigprocmask '"how":string="SIG_BLOCK", "set":string="SIGINT\|SIGUSR1", "ret":int32=0'
shown signal '"sig":string="SIGUSR2", "handler":string="SIG_IGN", "ret":string="SIG_DFL"'
shown raise '"sig":string="SIGUSR2", "ret":int32=0'
shown socketpair '"domain":string="AF_UNIX", "type":string="SOCK_STREAM\|SOCK_CLOEXEC", "protocol":int32=0, "fds":string="[0-9]+ [0-9]+", "ret":int32=0'
shown setsockopt '"fd":int32=[0-9]+, "level":string="SOL_SOCKET", "option":string="SO_SNDBUF", "value":int32=8192, "length":uint32=4, "ret":int32=0'
shown getsockopt '"fd":int32=[0-9]+, "level":string="SOL_SOCKET", "option":string="SO_TYPE", "value":string="SOCK_STREAM", "ret":int32=0'

shown writev '"fd":int32=[0-9]+, "iov":string="5 3", "size":uint32=8, "iovcnt":int32=2, "ret":int32=8'
shown readv '"fd":int32=[0-9]+, "iov":pointer=0x8, "iovcnt":int32=2, "ret":int32=-1, "errno":string="EFAULT"'
shown sendmsg '"fd":int32=([0-9]+), "iov":string="5 3", "size":uint32=8, "control":string="SCM_RIGHTS \1", "flags":string="0", "ret":int32=8'
shown recvmsg '"fd":int32=[0-9]+, "iov":string="5 3", "size":uint32=8, "control":string="SCM_RIGHTS [0-9]+", "flags":string="MSG_CMSG_CLOEXEC", "ret":int32=8'
shown sendmsg '"fd":int32=[0-9]+, "msg":pointer=0x8, "flags":string="MSG_DONTWAIT", "ret":int32=-1, "errno":string="EFAULT"'
shown sendmmsg '"fd":int32=[0-9]+, "messages":string="5 3", "size":uint32=8, "count":uint32=2, "flags":string="0", "ret":int32=2'
shown poll '"fds":string="[0-9]+:POLLIN [0-9]+:POLLIN", "ready":string="[0-9]+:POLLIN", "nfds":uint32=2, "timeout_ms":int32=-1, "ret":int32=1'
expect_line 'name="poll".*"ret":int32=1, "file":string="socket:\[[0-9]+\] unix stream->socket' dump
shown setsockopt '"fd":int32=[0-9]+, "level":string="SOL_SOCKET", "option":string="SO_LINGER", "value":string="on 5s", "length":uint32=8, "ret":int32=0'
shown getsockopt '"fd":int32=[0-9]+, "level":string="SOL_SOCKET", "option":string="SO_PEERCRED", "value":string="pid [0-9]+ uid [0-9]+ gid [0-9]+", "ret":int32=0'
shown sendto '"fd":int32=[0-9]+, "len":uint32=1, "flags":string="0", "addr":string="127.0.0.1:[0-9]+", "ret":int32=1'
shown recvfrom '"fd":int32=[0-9]+, "len":uint32=1, "flags":string="0", "addr":string="127.0.0.1:[0-9]+", "ret":int32=1'
shown recvfrom '"fd":int32=[0-9]+, "len":uint32=1, "flags":string="0", "ret":int32=1'
shown sendfile '"out_fd":int32=[0-9]+, "in_fd":int32=[0-9]+, "offset":int32=2, "count":uint32=3, "ret":int32=3'
expect_line 'name="openat".*"dirfd":int32=[0-9]+, "path":string="renamed",.* "dir":string="/[^"]*"' dump

shown utimensat '"dirfd":string="AT_FDCWD", "path":string="renamed", "times":string="1700000000.000000005 UTIME_OMIT", "flags":string="0", "ret":int32=0'
shown utimes '"path":string="renamed", "times":string="1700000000.000007 1700000001.000000", "ret":int32=0'
shown futimens '"fd":int32=-1, "times":string="now", "ret":int32=-1, "errno":string="EBADF"'
shown sigprocmask '"how":string="SIG_SETMASK", "set":string="all but SIGINT", "old":string="SIGINT\|SIGUSR1", "ret":int32=0'
shown sigaction '"sig":string="SIGTERM", "action":string="SIG_IGN", "flags":string="SA_RESTART\|SA_NODEFER", "mask":string="SIGHUP", "ret":int32=0'
shown sigwaitinfo '"set":string="SIGRTMIN\+2", "info":string="SI_USER", "pid":int32=[0-9]+, "ret":int32=36'
shown nanosleep '"duration_ns":int32=[0-9]+, "rest_ns":int32=[0-9]+, "ret":int32=-1, "errno":string="EINTR"'
shown prlimit '"pid":int32=0, "resource":string="RLIMIT_NOFILE", "old":string="[0-9a-z]+ [0-9a-z]+", "ret":int32=0'
shown statfs '"path":string=".", "statfs":string="[A-Z0-9x]+[A-Z0-9_a-f]* free [0-9]+ of [0-9]+", "ret":int32=0'
shown uname '"release":string="[0-9]+\.[^"]*", "ret":int32=0'
shown getrusage '"who":string="RUSAGE_SELF", "user_ns":int[0-9]*=[0-9]+, "system_ns":int[0-9]*=[0-9]+, "max_rss_kib":int[0-9]*=[0-9]+, "ret":int32=0'
shown sysconf '"what":string="_SC_NPROCESSORS_ONLN", "ret":int32=[0-9]+'
shown waitpid '"pid":int32=[0-9]+, "options":string="WNOHANG", "ret":int32=0'
shown waitid '"type":string="P_PID", "id":int32=([0-9]+), "pid":int32=\1, "signal":string="SIGKILL", "options":string="WEXITED", "ret":int32=0'
shown wait4 '"pid":int32=[0-9]+, "options":string="0", "user_ns":int[0-9]*=[0-9]+, "system_ns":int[0-9]*=[0-9]+, "max_rss_kib":int[0-9]*=[0-9]+, "ret":int32=[0-9]+'

shown semget '"key":string="0", "count":int32=1, "flags":string="IPC_CREAT\|0600", "ret":int32=[0-9]+'
shown semop '"semid":int32=[0-9]+, "operations":string="0:3", "count":uint32=1, "ret":int32=0'
shown semctl '"semid":int32=[0-9]+, "semnum":int32=0, "command":string="SETVAL", "arg":int32=5, "ret":int32=0'
shown mq_open '.*"flags":string="O_RDWR", "ret":int32=-1, "errno":string="[A-Z]+"'
shown setrlimit '"resource":string="RLIMIT_CORE", "limit":string="0 0", "ret":int32=0'
shown getpriority '"which":string="PRIO_PROCESS", "who":int32=0, "ret":int32=-?[0-9]+'
shown getrandom '"length":uint32=8, "flags":string="GRND_NONBLOCK", "ret":int32=8'
shown tcgetattr '"fd":int32=-1, "ret":int32=-1, "errno":string="EBADF"'
shown prctl '"option":string="PR_SET_NAME", "arg":string="decoded", "ret":int32=0'
shown futex '"number":string="futex", "arg0":pointer=0x[0-9a-f]+, "arg1":string="FUTEX_WAKE\|FUTEX_PRIVATE_FLAG", "arg2":int32=1, .*"ret":int32=0'
shown futex '"number":string="futex", .*"arg1":string="FUTEX_WAIT\|FUTEX_PRIVATE_FLAG", "arg2":int32=0, "arg3":int32=1000, .*"errno":string="ETIMEDOUT"'
shown futex '"number":string="futex", .*"arg1":string="FUTEX_WAIT_BITSET\|FUTEX_PRIVATE_FLAG", .*"clock":string="CLOCK_MONOTONIC", "timeout_ns":int[0-9]+=-[0-9]+, .*"errno":string="ETIMEDOUT"'
shown futex '"number":string="futex", .*"arg1":string="FUTEX_WAIT_BITSET\|FUTEX_PRIVATE_FLAG", .*"clock":string="CLOCK_MONOTONIC", "ret":int32=-1, "errno":string="EFAULT"'
shown getppid '"number":string="getppid", "ret":int32=[0-9]+'
shown openat2 '"number":string="openat2", "arg0":string="AT_FDCWD", "arg1":string="renamed", "arg2":string="O_RDONLY\|O_CLOEXEC", "resolve":string="RESOLVE_BENEATH", "arg3":uint32=24, "ret":int32=[0-9]+'
shown openat2 '"number":string="openat2", .*"arg1":string="renamed", "arg2":pointer=0x8, "arg3":uint32=24, "ret":int32=-1, "errno":string="EFAULT"'
shown openat '"number":string="openat", "arg0":string="AT_FDCWD", "arg1":pointer=0x8, "arg2":string="O_RDONLY", "ret":int32=-1, "errno":string="EFAULT"'
shown seccomp '"number":string="seccomp", "arg0":string="SECCOMP_GET_ACTION_AVAIL", "arg1":string="0", "arg2":pointer=0x[0-9a-f]+, "ret":int32=0'
shown bpf '"number":string="bpf", "arg0":string="BPF_MAP_CREATE", "arg1":pointer=0x8, "arg2":uint32=8, "ret":int32=-1, "errno":string="E[A-Z]+"'
shown unshare '"number":string="unshare", "arg0":string="0", "ret":int32=0'
shown tgkill '"number":string="tgkill", "arg0":int32=-1, "arg1":int32=0, "arg2":string="SIGTERM", "ret":int32=-1, "errno":string="EINVAL"'
shown getppid '"ret":int32=[0-9]+'

shown shmget '"key":string="0", "size":uint32=4096, "flags":string="IPC_CREAT\|0640", "ret":int32=[0-9]+'
shown shmctl '"shmid":int32=[0-9]+, "command":string="IPC_STAT", "segment":string="0640 uid [0-9]+ gid [0-9]+, 4096 bytes, 0 attached", "ret":int32=0'
shown shmctl '"shmid":int32=[0-9]+, "command":string="IPC_SET", "segment":string="0600 uid [0-9]+ gid [0-9]+", "ret":int32=0'
shown shmctl '"shmid":int32=[0-9]+, "command":string="IPC_STAT", "ret":int32=-1, "errno":string="EFAULT"'
shown msgctl '"msqid":int32=[0-9]+, "command":string="IPC_STAT", "queue":string="0600 uid [0-9]+ gid [0-9]+, 0 messages, [0-9]+ bytes at most", "ret":int32=0'
shown semctl '"semid":int32=[0-9]+, "semnum":int32=0, "command":string="IPC_STAT", "arg":string="0666 uid [0-9]+ gid [0-9]+, 3 semaphores", "ret":int32=0'
shown semctl '"semid":int32=[0-9]+, "semnum":int32=0, "command":string="IPC_STAT", "ret":int32=-1, "errno":string="EFAULT"'
shown capget '"pid":int32=0, "effective":string="[^"]+", "permitted":string="(all|0|(all but )?CAP_[A-Z_|]+)", "inheritable":string="[^"]+", "ret":int32=0'
shown capget '"ret":int32=-1, "errno":string="EFAULT"'
shown capset '"pid":int32=0, "effective":string="CAP_KILL", "permitted":string="0", "inheritable":string="0", "ret":int32=-1, "errno":string="EPERM"'
shown prctl '"option":string="PR_CAPBSET_READ", "arg":string="CAP_SYS_ADMIN", "ret":int32=[01]'
shown prctl '"option":string="PR_GET_DUMPABLE", "ret":int32=[012]'
shown mount '"source":string="none", "target":string="does-not-exist", "type":string="no-file-system", "flags":string="MS_RDONLY\|MS_NOSUID", "data":string="size=1m", "ret":int32=-1, "errno":string="E[A-Z]+"'
shown mount '.*"flags":string="MS_BIND", "data":pointer=0x8, "ret":int32=-1, "errno":string="EFAULT"'
shown fsopen '"number":string="fsopen", "arg0":string="no-file-system", "arg1":string="FSOPEN_CLOEXEC", "ret":int32=-1, "errno":string="E[A-Z]+"'
shown fsconfig '"number":string="fsconfig", "arg0":int32=-1, "arg1":string="FSCONFIG_SET_STRING", "arg2":string="source", "arg3":string="/dev/none", "arg4":int32=0, .*"ret":int32=-1, .*'
shown fsconfig '"number":string="fsconfig", .*"arg2":string="source", "arg3":pointer=0x8, .*'
shown open_tree '"number":string="open_tree", "arg0":int32=-1, "arg1":string="tree", "arg2":string="OPEN_TREE_CLONE\|AT_RECURSIVE", "ret":int32=-1, .*'
# The library knows the calls that the headers of its build know; this one is of Linux 5.12.
if printf '#include <asm/unistd.h>\n' | $FX_CC -E -dM - | grep -q ' __NR_mount_setattr '; then
	shown mount_setattr '"number":string="mount_setattr", "arg0":int32=-1, "arg1":string="tree", "arg2":string="AT_RECURSIVE", "set":string="MOUNT_ATTR_RDONLY\|MOUNT_ATTR_NOSUID", "clear":string="MOUNT_ATTR_NODEV", "propagation":string="MS_PRIVATE", .*'
	shown mount_setattr '"number":string="mount_setattr", .*"arg2":string="AT_RECURSIVE", "arg3":pointer=0x8, .*'
else
	echo "left out: mount_setattr, which is newer than the headers"
fi

# 9000 and 10000 bytes through 4096: printf fills the buffer twice, putc twice more, fclose writes the rest.
shown fopen '"path":string="text", "mode":string="w", "ret":pointer=0x[0-9a-f]+'
expect_equal 2 "$(count fprintf)" "calls of fprintf that emptied the buffer"
expect_equal 2 "$(count putc '"c":string="x"')" "calls of putc that did"
expect_equal 3 "$(count fgets)" "calls of fgets that filled it"
expect_equal 2 "$(count getc)" "calls of getc that did"
shown fclose '"stream":pointer=0x[0-9a-f]+, "fd":int32=[0-9]+, "ret":int32=0'
shown opendir '"path":string=".", "ret":pointer=0x[0-9a-f]+'
expect_equal 2 "$(count readdir)" "calls of readdir that asked the kernel"
shown getpwnam '"name":string="root", "ret":pointer=0x[0-9a-f]+'
shown getaddrinfo '"node":string="no.number", "service":string="80", "ret":string="EAI_NONAME"'
shown system '"command":string="exit 2", "exited":int32=2, "ret":int32=512'
shown system '"command":string="kill -9 \$\$", "signal":string="SIGKILL", "ret":int32=9'
shown system '"command":null=null, "ret":int32=1'
shown popen '"command":string="exit 3", "mode":string="r", "ret":pointer=0x[0-9a-f]+'
# Before glibc 2.33 no shell is started with it.
shown system '"command":pointer=0x8, ("exited":int32=127, "ret":int32=32512|"ret":int32=-1, "errno":string="EFAULT")'
shown popen '"command":pointer=0x8, "mode":string="r", "ret":pointer=0x0, "errno":string="E[A-Z]+"'
shown pclose '.*"ret":int32=768, "exited":int32=3'
shown sigaction '"sig":string="SIGRTMIN\+3", "action":string="SIG_IGN", "ret":int32=0'
shown sigaction '"sig":int32=33, "ret":int32=-1, "errno":string="EINVAL"'
shown sigsetmask '"mask":string="SIGHUP\|SIGINT", "ret":int32=[0-9]+'
shown timer_create '"clock":string="CLOCK_MONOTONIC", "event":string="SIGEV_SIGNAL", "signal":string="SIGUSR2", "id":pointer=0x[0-9a-f]+, "ret":int32=0'
shown umask '"mode":string="022", "ret":string="[0-7]+"'
shown umask '"mode":string="[0-7]+", "ret":string="022"'
shown statvfs '"path":string=".", "statvfs":string="free [0-9]+ of [0-9]+", "ret":int32=0'
shown getgroups '"count":int32=0, "ret":int32=[0-9]+'
shown getgroups '"count":int32=100, "groups":string="[0-9 ]*", "ret":int32=[0-9]+'
shown pathconf '"path":string=".", "what":string="_PC_NAME_MAX", "ret":int32=[0-9]+'
shown newlocale '"mask":string="LC_CTYPE_MASK\|LC_TIME_MASK", "locale":string="C", .*'
shown getaddrinfo '"node":string="127.0.0.1", "service":string="80", "result":string="127.0.0.1:80"'
shown getnameinfo '"addr":string="127.0.0.1:80", "host":string="127.0.0.1", "flags":string="NI_NUMERICHOST\|NI_NUMERICSERV"'
shown bind '"fd":int32=[0-9]+, "addr":string="AF_NETLINK pid 0 groups 0x1", "ret":int32=0'
shown setsockopt '.*"level":string="SOL_NETLINK", "option":string="NETLINK_EXT_ACK", "value":int32=1, .*'
expect_line 'name="setsockopt".*"SOL_NETLINK".* "file":string="socket:\[[0-9]+\] AF_NETLINK raw' dump
shown getsockopt '.*"level":string="IPPROTO_TCP", "option":string="TCP_CONGESTION", "value":string="[a-z0-9_]+", "ret":int32=0'
shown ioctl '.*"request":string="SIOCGIFFLAGS", "arg":string="lo", "ret":int32=0'
shown puts '"fd":int32=1, "ret":int32=[0-9]+'
expect_line 'name="puts".*"file":string="/[^"]*/out"' dump

shown dlopen '"path":string="./does-not-exist.so", "mode":string="RTLD_NOW\|RTLD_GLOBAL", "ret":pointer=0x0'

cd .. && rm -rf empty && mkdir empty && cd empty || exit 99
expect_ok "$FXTRACE" run -q -c '#default,stdio:all' -o ../trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/decoded"
expect_ok "$FXTRACE" dump ../trace.fxt
cp out dump
for name in fprintf:1000 putc:10000 fgets:1000 getc:10000; do
	expect_equal "${name#*:}" "$(count "${name%:*}")" "calls of ${name%:*} in stdio:all"
done
