/* SPDX-License-Identifier: MIT */
/* Files of code are kept for whoever maps them next, as long as they are what they were. */
#include "kernel/image.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/fxtrace-image.XXXXXX";

/* This program's own bytes, and so many more. */
static void copy_write(int fd, size_t more)
{
	char buffer[65536];
	int from = open("/proc/self/exe", O_RDONLY);
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		cr_assert_eq(write(fd, buffer, (size_t)n), n);
	close(from);
	while (more--)
		cr_assert_eq(write(fd, "", 1), 1);
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st.st_ino;
}

Test(image, kept)
{
	int fd = mkstemp(path);
	struct fx_image *first, *again;
	uint64_t word;

	copy_write(fd, 0);
	first = fx_image_get((uint32_t)getpid(), path, 0, inode_of(fd));
	cr_assert_not_null(first);
	again = fx_image_get((uint32_t)getpid(), path, 0, inode_of(fd));
	cr_expect_eq(first, again);
	fx_image_release(first);
	fx_image_release(again);
	again = fx_image_get((uint32_t)getpid(), path, 0, inode_of(fd));
	cr_expect_eq(first, again);
	cr_expect(fx_image_word(again, 0, &word));
	fx_image_release(again);
	/* It is written anew in place. */
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(write(fd, "no program", 10), 10);
	cr_expect_null(fx_image_get((uint32_t)getpid(), path, 0, inode_of(fd)));
	unlink(path);
	close(fd);
	fx_images_forget();
}

/* No more than some of those without a use. */
Test(image, many)
{
	char folder[] = "/tmp/fxtrace-images.XXXXXX", name[64];
	unsigned open_before = 0, open_after = 0;

	cr_assert_not_null(mkdtemp(folder));
	for (int fd = 0; fd < 1024; fd++)
		open_before += fcntl(fd, F_GETFD) >= 0;
	for (unsigned i = 0; i < 100; i++) {
		int fd;

		snprintf(name, sizeof(name), "%s/%u", folder, i);
		fd = open(name, O_RDWR | O_CREAT, 0700);
		copy_write(fd, i);
		fx_image_release(fx_image_get((uint32_t)getpid(), name, 0, inode_of(fd)));
		close(fd);
		unlink(name);
	}
	for (int fd = 0; fd < 1024; fd++)
		open_after += fcntl(fd, F_GETFD) >= 0;
	cr_expect_leq(open_after - open_before, 64);
	fx_images_forget();
	rmdir(folder);
}

/* By what the kernel says it is, a file is found that is known, wherever it lies, and as long as it is the same. */
Test(image, recalled)
{
	const char nowhere[] = "/nowhere/to/be/found";
	int fd = mkstemp(path);
	struct fx_image *first;
	struct stat st;

	copy_write(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_null(fx_image_get((uint32_t)getpid(), nowhere, st.st_dev, st.st_ino));
	first = fx_image_get((uint32_t)getpid(), path, st.st_dev, st.st_ino);
	cr_assert_not_null(first);
	cr_expect_eq(fx_image_get((uint32_t)getpid(), nowhere, st.st_dev, st.st_ino), first);
	cr_expect_null(fx_image_get((uint32_t)getpid(), nowhere, st.st_dev + 1, st.st_ino));
	cr_expect_null(fx_image_get((uint32_t)getpid(), nowhere, 0, st.st_ino));
	fx_image_release(first);
	fx_image_release(first);
	cr_expect_eq(fx_image_get((uint32_t)getpid(), nowhere, st.st_dev, st.st_ino), first);
	fx_image_release(first);
	cr_assert_eq(ftruncate(fd, st.st_size + 1), 0);
	cr_expect_null(fx_image_get((uint32_t)getpid(), nowhere, st.st_dev, st.st_ino));
	unlink(path);
	close(fd);
	fx_images_forget();
}

static unsigned descriptors_count(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* The vDSO has a file while it is known, also if that cannot be written, and none afterwards. */
Test(image, vdso_closed)
{
	const struct rlimit nothing = {0, RLIM_INFINITY};
	unsigned before = descriptors_count();
	struct fx_image *vdso;

	signal(SIGXFSZ, SIG_IGN);
	for (unsigned round = 0; round < 2; round++) {
		if (round == 1)
			cr_assert_eq(setrlimit(RLIMIT_FSIZE, &nothing), 0);
		vdso = fx_image_get((uint32_t)getpid(), "[vdso]", 0, 0);
		cr_assert_not_null(vdso);
		cr_expect_eq(descriptors_count(), before + (round == 0));
		cr_expect_eq(fx_image_facts(vdso)->is_vdso, round == 0);
		fx_image_release(vdso);
		fx_images_forget();
		cr_expect_eq(descriptors_count(), before);
	}
}
