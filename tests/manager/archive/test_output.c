/* SPDX-License-Identifier: MIT */
/* The archive's file: whole records whatever happens, and nothing lost that was there. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "manager/archive/archive.h"
#include "tests/manager/records.h"

static char path[96];

static const char *path_with(const char *suffix)
{
	snprintf(path, sizeof(path), "%s%s", archive_path(), suffix);
	return path;
}

static void clean_up(void)
{
	unlink(path);
	archive_remove();
}

TestSuite(output, .fini = clean_up);

static uint64_t size_of(const char *name)
{
	struct stat st;

	cr_assert_eq(stat(name, &st), 0);
	return (uint64_t)st.st_size;
}

/* Magic, provider, and `count` records of 40 bytes. */
static void fill_more(struct fx_archive *a, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fx_archive_string(a, 1 + i % 100, "twenty-four bytes of text", 24);
}

static void fill(struct fx_output *out, unsigned count)
{
	struct fx_archive a;

	fx_archive_begin(&a, out);
	fx_archive_introduce(&a, 1, "app");
	fx_archive_process(&a, 500, "app", NULL);
	fill_more(&a, count);
}

static struct fx_output *open_output(const char *name)
{
	struct fx_output *out;

	cr_assert_eq(fx_output_open(name, &out), 0);
	return out;
}

/* --- Before it begins ------------------------------------------------------------------------ */

Test(output, what_was_there_stays_until_it_begins)
{
	struct fx_output *out;
	FILE *f = fopen(path_with(""), "w");

	fputs("precious", f);
	fclose(f);
	cr_assert_eq(fx_output_close(open_output(path), NULL), 0);
	cr_assert_eq(size_of(path), 8);
	out = open_output(path);
	cr_assert_eq(fx_output_begin(out), 0);
	cr_assert_eq(size_of(path), 0);
	fx_output_close(out, NULL);
}

Test(output, a_new_file_goes_away_if_it_never_begins)
{
	cr_assert_eq(fx_output_close(open_output(path_with("")), NULL), 0);
	cr_assert_lt(access(path, F_OK), 0);
}

Test(output, a_place_that_cannot_be_written)
{
	struct fx_output *out;

	cr_assert_eq(fx_output_open("/nowhere/at/all", &out), -ENOENT);
	cr_assert_eq(fx_output_open("/", &out), -EISDIR);
}

/* That it is the output's fault is known even to those who ask at its end alone. */
Test(output, what_cannot_be_emptied)
{
	int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct fx_output *out;

	cr_assert_eq(write(fd, "old", 3), 3);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	cr_assert_eq(fx_output_adopt(fd, "output.fxt", &out), 0);
	cr_assert_eq(fx_output_begin(out), -EPERM);
	cr_assert_eq(fx_output_close(out, NULL), -EPERM);
}

static void *read_nothing(void *arg)
{
	return arg;
}

/* --- Formats --------------------------------------------------------------------------------- */

static void expect_round_trip(const char *suffix)
{
	const unsigned count = 600000; /* several compressed members */
	struct fx_output *out = open_output(path_with(suffix));

	cr_assert_eq(fx_output_begin(out), 0);
	fill(out, count);
	cr_assert_eq(fx_output_close(out, NULL), 0);
	cr_assert_eq(archive_count(path, FXT_KIND_STRING), count);
	unlink(path);
}

Test(output, plain)
{
	expect_round_trip("");
}

Test(output, gzip)
{
	expect_round_trip(".gz");
}

Test(output, zstd)
{
	expect_round_trip(".zst");
}

Test(output, zstd_on_one_processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	expect_round_trip(".zst");
}

/* Root's threads are not limited. */
Test(output, zstd_where_no_thread_can_be_had)
{
	struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
	struct fx_output *out = open_output(path_with(".zst"));
	pthread_t thread;

	cr_assert_eq(fx_output_begin(out), 0);
	cr_assert_eq(chmod(path, 0644), 0);
	if (geteuid() == 0 && setuid(61099) != 0)
		cr_skip_test("this user namespace has no other user");
	cr_assert_eq(setrlimit(RLIMIT_NPROC, &limit), 0);
	cr_assert_eq(pthread_create(&thread, NULL, read_nothing, NULL), EAGAIN);
	fill(out, 300000);
	cr_assert_eq(fx_output_close(out, NULL), 0);
	cr_assert_eq(archive_count(path, FXT_KIND_STRING), 300000);
}

/* --- A full disk ----------------------------------------------------------------------------- */

static void limit_files(uint64_t bytes)
{
	struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(output, a_full_disk_leaves_whole_records)
{
	struct fx_output *out = open_output(path_with(""));
	uint64_t records;

	cr_assert_eq(fx_output_begin(out), 0);
	limit_files(3000001);
	fill(out, 200000);
	cr_assert_eq(fx_output_flush(out), -EFBIG);
	cr_assert_eq(fx_output_error(out), -EFBIG);
	fill(out, 10); /* goes nowhere */
	cr_assert_eq(fx_output_close(out, NULL), -EFBIG);
	/* The limit is no multiple of a record; archive_count() wants whole ones. */
	records = archive_count(path, FXT_KIND_STRING);
	cr_assert_gt(records, 3000000 / 32 - 10);
	cr_assert_eq(size_of(path) % 8, 0);
}

Test(output, a_full_disk_leaves_whole_members)
{
	struct fx_output *out = open_output(path_with(".gz"));

	cr_assert_eq(fx_output_begin(out), 0);
	limit_files(300000);
	fill(out, 2000000);
	cr_assert_eq(fx_output_close(out, NULL), -EFBIG);
	cr_assert_gt(archive_count(path, FXT_KIND_STRING), 0);
}

Test(output, a_device_that_is_always_full)
{
	struct fx_output *out = open_output("/dev/full");

	cr_assert_eq(fx_output_begin(out), 0);
	fill(out, 10);
	cr_assert_eq(fx_output_flush(out), -ENOSPC);
	cr_assert_eq(fx_output_close(out, NULL), -ENOSPC);
}

/* --- A manager that is killed ---------------------------------------------------------------- */

Test(output, what_was_flushed_can_be_read)
{
	struct fx_output *out = open_output(path_with(""));

	cr_assert_eq(fx_output_begin(out), 0);
	fill(out, 100);
	cr_assert_eq(fx_output_flush(out), 0);
	fill(out, 50); /* still in memory */
	cr_assert_eq(archive_count(path, FXT_KIND_STRING), 100);
	fx_output_close(out, NULL);
}

/* As the writer does it, which sleeps so long. */
static void flush_in_time(struct fx_output *out)
{
	uint64_t rest;

	cr_assert_eq(fx_output_flush(out), 0);
	rest = fx_output_rest(out);
	if (rest == UINT64_MAX)
		return;
	cr_assert_lt(rest, 1000000000);
	usleep((useconds_t)(rest / 1000 + 1));
	cr_assert_eq(fx_output_flush(out), 0);
	cr_assert_eq(fx_output_rest(out), UINT64_MAX);
}

Test(output, what_was_compressed_can_be_read)
{
	static const char *const names[] = {"", ".gz", ".zst"};

	for (unsigned i = 0; i < 3; i++) {
		struct fx_output *out = open_output(path_with(names[i]));
		struct fx_archive a;

		cr_assert_eq(fx_output_begin(out), 0);
		fill(out, 0);
		a = (struct fx_archive){.out = out};
		for (unsigned turn = 1; turn <= 3; turn++) {
			for (unsigned n = 0; n < 50; n++) {
				fill_more(&a, 100);
				fx_output_flush(out);
			}
			flush_in_time(out);
			cr_assert_eq(archive_count_cut(path, FXT_KIND_STRING), 5000 * turn);
		}
		cr_assert_eq(fx_output_close(out, NULL), 0);
		cr_assert_eq(archive_count(path, FXT_KIND_STRING), 15000);
		unlink(path);
	}
}

/* --- Pipes and sockets ----------------------------------------------------------------------- */

static struct fx_output *adopt(int fd, const char *name)
{
	struct fx_output *out;

	cr_assert_eq(fx_output_adopt(fd, name, &out), 0);
	cr_assert_eq(fx_output_begin(out), 0);
	return out;
}

static void make_ends(bool is_socket, int ret[2])
{
	cr_assert_eq(is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ret) : pipe(ret), 0);
}

/* A terminal cannot show it, and one that is stopped takes what is written for as long as it likes. */
Test(output, a_terminal_is_not_adopted)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), fd;
	struct fx_output *out;

	if (master < 0)
		cr_skip_test("no terminals here");
	cr_assert_eq(unlockpt(master), 0);
	fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fx_output_adopt(fd, "a.fxt", &out), -ENOTTY);
	cr_assert_eq(fcntl(fd, F_GETFD), 0, "it stays the caller's");
	close(fd);
	close(master);
}

Test(output, a_reader_that_does_not_read, .timeout = 120)
{
	static const char *const names[] = {"a.fxt", "a.fxt.gz", "a.fxt.zst"};

	for (unsigned i = 0; i < 6; i++) {
		struct fx_output *out;
		uint64_t size;
		int ends[2];

		make_ends(i & 1, ends);
		out = adopt(ends[1], names[i / 2]);
		fx_output_set_patience(out, 50000000);
		fill(out, 1000000);
		cr_assert_eq(fx_output_complete(out), i < 2 ? -ETIMEDOUT : fx_output_error(out));
		for (unsigned n = 0; n < 50 && !fx_output_error(out); n++)
			fill(out, 1000000);
		cr_assert_eq(fx_output_error(out), -ETIMEDOUT, "case %u", i);
		fill(out, 1000);
		cr_assert_eq(fx_output_close(out, &size), -ETIMEDOUT);
		close(ends[0]);
	}
}

static void *read_slowly(void *context)
{
	static char some[30000];
	uint64_t count = 0;
	ssize_t n;

	while ((n = read(*(int *)context, some, sizeof(some))) > 0) {
		count += (uint64_t)n;
		usleep(1000);
	}
	*(uint64_t *)some = count;
	return some;
}

Test(output, a_reader_that_reads_slowly, .timeout = 60)
{
	for (unsigned i = 0; i < 4; i++) {
		struct fx_output *out;
		pthread_t thread;
		uint64_t size;
		void *count;
		int ends[2];

		make_ends(i & 1, ends);
		pthread_create(&thread, NULL, read_slowly, &ends[0]);
		out = adopt(ends[1], "a.fxt");
		if (i & 2)
			fx_output_set_patience(out, UINT64_C(30000000000));
		fill(out, 100000);
		cr_assert_eq(fx_output_close(out, &size), 0);
		pthread_join(thread, &count);
		cr_assert_eq(*(uint64_t *)count, size);
		cr_assert_gt(size, 3000000);
		close(ends[0]);
	}
}

Test(output, a_reader_that_is_gone)
{
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < 2; i++) {
		struct fx_output *out;
		int ends[2];

		make_ends(i & 1, ends);
		out = adopt(ends[1], "a.fxt");
		close(ends[0]);
		fill(out, 100000);
		cr_assert_eq(fx_output_close(out, NULL), -EPIPE);
	}
}
