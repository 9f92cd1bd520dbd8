/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "report/wanted.h"

static struct fx_wanted parsed(enum fx_wanted_kind kind, const char *text)
{
	struct fx_wanted wanted;

	cr_assert(fx_wanted_parse(&wanted, kind, text), "%s", text);
	return wanted;
}

static bool refused(enum fx_wanted_kind kind, const char *text)
{
	struct fx_wanted wanted;

	return !fx_wanted_parse(&wanted, kind, text);
}

Test(wanted, locks)
{
	struct fx_wanted address = parsed(FX_WANTED_LOCK, "0x1f0");
	struct fx_wanted of_one = parsed(FX_WANTED_LOCK, "12:0x1f0");
	struct fx_wanted name = parsed(FX_WANTED_LOCK, "acc*");
	struct fx_wanted scoped = parsed(FX_WANTED_LOCK, "12:store::lock");

	cr_assert(fx_wanted_lock(&address, 7, 0x1f0, "mutex", NULL));
	cr_assert_not(fx_wanted_lock(&address, 7, 0x1f1, "mutex", NULL));
	cr_assert(fx_wanted_lock(&of_one, 12, 0x1f0, "mutex", NULL));
	cr_assert_not(fx_wanted_lock(&of_one, 7, 0x1f0, "mutex", NULL));
	cr_assert(fx_wanted_lock(&name, 7, 1, "mutex", "accounts"));
	cr_assert_not(fx_wanted_lock(&name, 7, 1, "mutex", "store"));
	cr_assert_not(fx_wanted_lock(&name, 7, 1, "mutex", NULL));
	name = parsed(FX_WANTED_LOCK, "sem *");
	cr_assert(fx_wanted_lock(&name, 7, 0x10, "sem", NULL));
	cr_assert_not(fx_wanted_lock(&name, 7, 0x10, "mutex", NULL));
	name = parsed(FX_WANTED_LOCK, "*");
	cr_assert(fx_wanted_lock(&name, 7, 0x10, "mutex", NULL));
	cr_assert(fx_wanted_lock(&scoped, 12, 1, "mutex", "store::lock"));
	name = parsed(FX_WANTED_LOCK, "rwlock accounts");
	cr_assert(fx_wanted_lock(&name, 7, 1, "rwlock", "accounts"));
	cr_assert_not(fx_wanted_lock(&name, 7, 1, "mutex", "accounts"));
}

Test(wanted, descriptors)
{
	struct fx_wanted any = parsed(FX_WANTED_FD, "3"), of_one = parsed(FX_WANTED_FD, "12:3");

	cr_assert(fx_wanted_fd(&any, 7, 3));
	cr_assert_not(fx_wanted_fd(&any, 7, 4));
	cr_assert(fx_wanted_fd(&of_one, 12, 3));
	cr_assert_not(fx_wanted_fd(&of_one, 7, 3));
}

Test(wanted, paths)
{
	struct fx_wanted whole = parsed(FX_WANTED_FILE, "/etc/*.conf");
	struct fx_wanted last = parsed(FX_WANTED_FILE, "hosts");

	cr_assert(fx_wanted_path(&whole, "/etc/ld.so.conf"));
	cr_assert_not(fx_wanted_path(&whole, "/usr/etc/ld.so.conf"));
	cr_assert(fx_wanted_path(&last, "/etc/hosts"));
	cr_assert(fx_wanted_path(&last, "hosts"));
	cr_assert_not(fx_wanted_path(&last, "/hosts/other"));
}

Test(wanted, peers)
{
	const char *peer = "socket:[41] tcp 127.0.0.1:5000->127.0.0.1:6379";
	struct fx_wanted wanted = parsed(FX_WANTED_PEER, "127.0.0.1:6379");

	cr_assert(fx_wanted_peer(&wanted, peer));
	cr_assert_not(fx_wanted_peer(&wanted, "socket:[41] tcp 127.0.0.1:5000->127.0.0.1:63790"));
	wanted = parsed(FX_WANTED_PEER, ":5000");
	cr_assert(fx_wanted_peer(&wanted, peer));
	wanted = parsed(FX_WANTED_PEER, ":379");
	cr_assert_not(fx_wanted_peer(&wanted, peer));
	wanted = parsed(FX_WANTED_PEER, "127.*:5000");
	cr_assert(fx_wanted_peer(&wanted, peer));
	wanted = parsed(FX_WANTED_PEER, "socket:[41]");
	cr_assert(fx_wanted_peer(&wanted, peer));
	wanted = parsed(FX_WANTED_PEER, "pipe:[41]");
	cr_assert(fx_wanted_peer(&wanted, "pipe:[41]"));
	cr_assert_not(fx_wanted_peer(&wanted, "pipe:[42]"));
	wanted = parsed(FX_WANTED_PEER, peer);
	cr_assert(fx_wanted_peer(&wanted, peer));
	wanted = parsed(FX_WANTED_PEER, "*.sock");
	cr_assert(fx_wanted_peer(&wanted, "socket:[8] unix stream /run/a.sock listening"));
	cr_assert_not(fx_wanted_peer(&wanted, ""));
}

Test(wanted, what_is_refused)
{
	static const char *const wrong[] = {"", "x", "-1", "3x", " 3", "1:", ":3", "4294967296"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_assert(refused(FX_WANTED_FD, wrong[i]), "%s", wrong[i]);
	cr_assert(refused(FX_WANTED_LOCK, ""));
	cr_assert(refused(FX_WANTED_LOCK, "12:"));
	cr_assert(refused(FX_WANTED_LOCK, "0x"));
	cr_assert(refused(FX_WANTED_LOCK, "0x12345678123456789"));
	cr_assert(refused(FX_WANTED_FILE, ""));
	cr_assert(refused(FX_WANTED_PEER, ""));
}

Test(wanted, likeness)
{
	struct fx_wanted wanted = parsed(FX_WANTED_FILE, "abc");

	cr_assert_eq(fx_wanted_alike(&wanted, "abc"), 3);
	cr_assert_eq(fx_wanted_alike(&wanted, "abd"), 2);
	cr_assert_eq(fx_wanted_alike(&wanted, "xbc"), 2);
	cr_assert_eq(fx_wanted_alike(&wanted, "ab_bc"), 3);
	cr_assert_eq(fx_wanted_alike(&wanted, ""), 0);
}
