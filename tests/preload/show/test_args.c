/* SPDX-License-Identifier: MIT */
/* Arguments as words: what stands in the record, and that it stays within FX_WORDS_KIND. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include <criterion/criterion.h>

#include "preload/show/args.h"
#include "preload/strings.h"

#define NAME	 77u
#define ROOM	 64u
#define SENTINEL 0x5555555555555555ull

static uint64_t words[ROOM];
static struct fx_call call;

static void begin(void)
{
	for (unsigned i = 0; i < ROOM; i++)
		words[i] = SENTINEL;
	call = (struct fx_call){.record = words, .next = words};
}

TestSuite(args, .init = begin);

/* One argument of this type was written, of at most `most` words; nothing behind it. */
static void expect_one(unsigned type, unsigned most)
{
	cr_assert_eq(call.nargs, 1);
	cr_assert_eq(FXT_GET(words[0], ARG_TYPE), type);
	cr_assert_eq(FXT_GET(words[0], ARG_NAME), NAME);
	cr_assert_eq(FXT_GET(words[0], ARG_SIZE), (uint64_t)(call.next - words));
	cr_assert_leq((unsigned)(call.next - words), most);
	cr_assert_eq(*call.next, SENTINEL, "written beyond the argument");
}

static void expect_text(const char *want, unsigned most)
{
	size_t length = strlen(want), padded = (length + 7) / 8 * 8;
	const char *text = (const char *)(words + 1);

	expect_one(FXT_ARG_STRING, most);
	cr_assert_eq(FXT_GET(words[0], ARG_STRING_VALUE),
		     length ? FXT_STRING_INLINE | length : FXT_STRING_EMPTY);
	cr_assert_eq((size_t)(call.next - words), 1 + padded / 8);
	cr_assert(memcmp(text, want, length) == 0, "\"%.*s\" instead of \"%s\"", (int)length, text,
		  want);
	for (size_t i = length; i < padded; i++)
		cr_assert_eq(text[i], 0, "padding is not zero");
	begin();
}

Test(args, numbers)
{
	fx_arg_int(&call, NAME, -5);
	expect_one(FXT_ARG_INT32, FX_WORDS_int);
	cr_assert_eq((int32_t)FXT_GET(words[0], ARG_VALUE32_VALUE), -5);
	begin();
	fx_arg_size(&call, NAME, UINT32_MAX);
	expect_one(FXT_ARG_UINT32, FX_WORDS_size);
	begin();
	fx_arg_size(&call, NAME, 1ull << 32);
	expect_one(FXT_ARG_UINT64, FX_WORDS_size);
	cr_assert_eq(words[1], 1ull << 32);
	begin();
	fx_arg_long(&call, NAME, INT32_MIN);
	expect_one(FXT_ARG_INT32, FX_WORDS_long);
	begin();
	fx_arg_long(&call, NAME, (int64_t)INT32_MIN - 1);
	expect_one(FXT_ARG_INT64, FX_WORDS_long);
	begin();
	fx_arg_ptr(&call, NAME, &call);
	expect_one(FXT_ARG_POINTER, FX_WORDS_ptr);
	cr_assert_eq(words[1], (uint64_t)(uintptr_t)&call);
}

Test(args, names_of_errors_and_signals)
{
	fx_arg_errno(&call, NAME, ENOENT);
	expect_one(FXT_ARG_STRING, FX_WORDS_errno);
	cr_assert_eq(FXT_GET(words[0], ARG_STRING_VALUE), FX_STR_ENOENT);
	begin();
	fx_arg_errno(&call, NAME, 12345);
	expect_one(FXT_ARG_INT32, FX_WORDS_errno);
	begin();
	fx_arg_signal(&call, NAME, SIGKILL);
	cr_assert_eq(FXT_GET(words[0], ARG_STRING_VALUE), FX_STR_SIGKILL);
	begin();
	fx_arg_signal(&call, NAME, -1);
	expect_one(FXT_ARG_INT32, FX_WORDS_signal);
}

Test(args, path)
{
	char path[4000];

	fx_arg_path(&call, NAME, "/etc/passwd");
	expect_text("/etc/passwd", FX_WORDS_path);
	fx_arg_path(&call, NAME, "");
	expect_text("", FX_WORDS_path);
	fx_arg_path(&call, NAME, "12345678");
	expect_text("12345678", FX_WORDS_path);

	memset(path, 'a', sizeof path);
	path[sizeof path - 1] = 0;
	memcpy(path + 254, "\xe2\x82\xac", 3);
	fx_arg_path(&call, NAME, path);
	path[254] = 0; /* the euro sign would have been split */
	expect_text(path, FX_WORDS_path);
}

Test(args, a_path_that_cannot_be_read_is_an_address)
{
	const int errors[] = {EFAULT, EINVAL, ENOSYS};

	for (size_t i = 0; i < FX_ARRAY_LEN(errors); i++) {
		begin();
		call.error = errors[i];
		fx_arg_path(&call, NAME, (const char *)1);
		expect_one(FXT_ARG_POINTER, FX_WORDS_path);
		begin();
		call.error = errors[i];
		fx_arg_path(&call, NAME, "somewhere");
		expect_text("somewhere", FX_WORDS_path);
	}
	begin();
	fx_arg_path(&call, NAME, NULL);
	expect_one(FXT_ARG_NULL, FX_WORDS_path);
	begin();
	call.error = ENOENT;
	fx_arg_path(&call, NAME, "nowhere");
	call.error = 0;
	expect_text("nowhere", FX_WORDS_path);
}

Test(args, bad_pointers_of_failed_calls_are_not_followed)
{
	call.error = EFAULT;
	fx_arg_timespec(&call, NAME, (const struct timespec *)1);
	fx_arg_sockaddr(&call, NAME, (const struct sockaddr *)1, 16);
	fx_arg_sockaddr_out(&call, NAME, (const struct sockaddr *)1, (const socklen_t *)1);
	fx_arg_fd_pair(&call, NAME, (const int *)1);
	fx_arg_wait_status(&call, NAME, (const int *)1, -1);
	fx_arg_out_pid(&call, NAME, (const pid_t *)1);
	fx_arg_out_ptr(&call, NAME, (void *const *)1);
	call.error = EBADF;
	fx_arg_sockaddr(&call, NAME, (const struct sockaddr *)1, 16);
	cr_assert_eq(call.nargs, 0);
}

Test(args, open_flags)
{
	fx_arg_open_flags(&call, NAME, O_RDONLY);
	expect_text("O_RDONLY", FX_WORDS_open_flags);
	fx_arg_open_flags(&call, NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC);
	expect_text("O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC", FX_WORDS_open_flags);
	fx_arg_open_flags(&call, NAME, O_WRONLY | O_SYNC | O_DIRECTORY);
	expect_text("O_WRONLY|O_SYNC|O_DIRECTORY", FX_WORDS_open_flags);
	fx_arg_open_flags(&call, NAME, O_WRONLY | O_TMPFILE);
	expect_text("O_WRONLY|O_TMPFILE", FX_WORDS_open_flags);
	fx_arg_open_flags(&call, NAME, O_RDONLY | 0x40000000);
	expect_text("O_RDONLY|0x40000000", FX_WORDS_open_flags);
	fx_arg_open_flags(&call, NAME, -1);
	cr_assert_leq((size_t)(call.next - words), FX_WORDS_open_flags);
}

Test(args, other_names)
{
	fx_arg_mode(&call, NAME, 0644);
	expect_text("0644", FX_WORDS_mode);
	fx_arg_mode(&call, NAME, 037777777777);
	expect_text("037777777777", FX_WORDS_mode);
	fx_arg_dirfd(&call, NAME, AT_FDCWD);
	expect_text("AT_FDCWD", FX_WORDS_dirfd);
	fx_arg_sock_domain(&call, NAME, AF_INET6);
	expect_text("AF_INET6", FX_WORDS_sock_domain);
	fx_arg_sock_domain(&call, NAME, 4711);
	expect_text("4711", FX_WORDS_sock_domain);
	fx_arg_sock_type(&call, NAME, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	expect_text("SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK", FX_WORDS_sock_type);
	fx_arg_msg_flags(&call, NAME, 0);
	expect_text("0", FX_WORDS_msg_flags);
	fx_arg_msg_flags(&call, NAME, MSG_DONTWAIT | MSG_NOSIGNAL);
	expect_text("MSG_DONTWAIT|MSG_NOSIGNAL", FX_WORDS_msg_flags);
	fx_arg_wait_options(&call, NAME, WNOHANG | WUNTRACED);
	expect_text("WNOHANG|WUNTRACED", FX_WORDS_wait_options);
	fx_arg_clock(&call, NAME, CLOCK_BOOTTIME);
	expect_text("CLOCK_BOOTTIME", FX_WORDS_clock);
}

static void sockaddr4(const char *address, uint16_t port, const char *want)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	cr_assert_eq(inet_pton(AF_INET, address, &in.sin_addr), 1);
	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&in, sizeof in);
	expect_text(want, FX_WORDS_sockaddr);
}

static void sockaddr6(const char *address)
{
	struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
	char text[INET6_ADDRSTRLEN], want[80];

	cr_assert_eq(inet_pton(AF_INET6, address, &in.sin6_addr), 1);
	inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
	snprintf(want, sizeof want, "[%s]:80", text);
	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&in, sizeof in);
	expect_text(want, FX_WORDS_sockaddr);
}

Test(args, internet_addresses)
{
	sockaddr4("127.0.0.1", 80, "127.0.0.1:80");
	sockaddr4("255.255.255.255", 65535, "255.255.255.255:65535");
	sockaddr4("0.0.0.0", 0, "0.0.0.0:0");
	sockaddr6("::");
	sockaddr6("::1");
	sockaddr6("1::");
	sockaddr6("2001:db8::ff00:42:8329");
	sockaddr6("1:0:0:2:0:0:0:3");
	sockaddr6("1:0:2:3:4:5:6:7");
	sockaddr6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	sockaddr6("fe80:0:0:0:1::");
}

Test(args, other_addresses)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/socket"};
	struct sockaddr other = {.sa_family = 99}, packet = {.sa_family = AF_PACKET};
	struct sockaddr_nl netlink = {.nl_family = AF_NETLINK, .nl_pid = 12, .nl_groups = 16};
	const size_t head = offsetof(struct sockaddr_un, sun_path);
	char longest[sizeof un.sun_path + 1] = {0};

	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&un, sizeof un);
	expect_text("/run/socket", FX_WORDS_sockaddr);
	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&un, (socklen_t)head);
	expect_text("", FX_WORDS_sockaddr);
	memcpy(un.sun_path, "\0hidden", 7);
	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&un, (socklen_t)head + 7);
	expect_text("@hidden", FX_WORDS_sockaddr);
	memset(un.sun_path, 'p', sizeof un.sun_path);
	memset(longest, 'p', sizeof un.sun_path);
	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&un, 1 << 20);
	expect_text(longest, FX_WORDS_sockaddr);
	fx_arg_sockaddr(&call, NAME, &other, sizeof other);
	expect_text("family 99", FX_WORDS_sockaddr);
	fx_arg_sockaddr(&call, NAME, &packet, sizeof packet);
	expect_text("AF_PACKET", FX_WORDS_sockaddr);
	fx_arg_sockaddr(&call, NAME, (struct sockaddr *)&netlink, sizeof netlink);
	expect_text("AF_NETLINK pid 12 groups 0x10", FX_WORDS_sockaddr);
	fx_arg_sockaddr(&call, NAME, &other, 1);
	expect_text("", FX_WORDS_sockaddr);
}

Test(args, time_and_lists)
{
	struct timespec ts = {5, 7};
	char *many[40], *argv[] = {"ls", "-l", NULL}, *bad[] = {"ls", (char *)8, NULL};
	int fds[2] = {3, 1000}, status = 0x100;

	fx_arg_timespec(&call, NAME, &ts);
	expect_one(FXT_ARG_INT64, FX_WORDS_timespec);
	cr_assert_eq(words[1], 5000000007ull);
	begin();
	fx_arg_timespec(&call, NAME, NULL);
	expect_one(FXT_ARG_NULL, FX_WORDS_timespec);
	begin();
	fx_arg_far_argv(&call, NAME, argv);
	expect_text("ls -l", FX_WORDS_far_argv);
	for (int i = 0; i < 39; i++)
		many[i] = "0123456789";
	many[39] = NULL;
	fx_arg_far_argv(&call, NAME, many);
	expect_one(FXT_ARG_STRING, FX_WORDS_far_argv);
	begin();
	fx_arg_far_argv(&call, NAME, bad);
	expect_one(FXT_ARG_POINTER, FX_WORDS_far_argv);
	begin();
	fx_arg_far_argv(&call, NAME, (fx_strings)8);
	expect_one(FXT_ARG_POINTER, FX_WORDS_far_argv);
	begin();
	fx_arg_far_argv(&call, NAME, NULL);
	expect_one(FXT_ARG_NULL, FX_WORDS_far_argv);
	begin();
	fx_arg_fd_pair(&call, NAME, fds);
	expect_text("3 1000", FX_WORDS_fd_pair);
	fx_arg_wait_status(&call, NAME, &status, 1);
	cr_assert_eq(FXT_GET(words[0], ARG_NAME), FX_STR_exited);
	cr_assert_eq(FXT_GET(words[0], ARG_VALUE32_VALUE), 1);
}
