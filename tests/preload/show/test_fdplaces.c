/* SPDX-License-Identifier: MIT */
/* Paths that need not be asked for: which are told, and which have to be asked for after all. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>

#include "preload/show/fdplaces.h"

#define DIRECTORY ((struct fx_place_fd){4, 1})
#define FILE_FD	  ((struct fx_place_fd){5, 7})

static const struct statx directory = {.stx_mode = S_IFDIR, .stx_nlink = 2};
static const struct statx regular = {.stx_mode = S_IFREG, .stx_nlink = 1};
static const struct statx removed = {.stx_mode = S_IFREG, .stx_nlink = 0};
static const struct statx queue = {.stx_mode = S_IFIFO, .stx_nlink = 1};
static const struct statx device = {.stx_mode = S_IFCHR, .stx_nlink = 1, .stx_ino = 9};

static void learn(struct fx_places *p, struct fx_place_fd at, const struct statx *file,
		  const char *path)
{
	char buffer[FX_TEXT_MAX + 1];
	struct fx_text t = FX_TEXT(buffer);

	fx_text_string(&t, path);
	fx_places_learn(p, at, file, &t);
}

/* What is told of a file that was opened by `name' in a directory of this path; "": it has to be asked for. A thread that is
 * not run for a millisecond meanwhile has to ask, too: it tries again. */
static const char *told(const char *path, const char *name, int flags, const struct statx *file,
			const char *moved)
{
	static char buffer[FX_TEXT_MAX + 1];

	for (int i = 0; i < 200; i++) {
		struct fx_places p = {0};
		struct fx_text t = FX_TEXT(buffer);

		memset(buffer, 0, sizeof(buffer));
		learn(&p, DIRECTORY, &directory, path);
		if (moved)
			fx_places_moved(&p, DIRECTORY, moved);
		fx_places_opened(&p, FILE_FD, DIRECTORY, name, flags);
		cr_assert_not(fx_places_tell(&p, (struct fx_place_fd){5, 8}, file, &t),
			      "another descriptor of that number");
		if (fx_places_tell(&p, FILE_FD, file, &t))
			break;
		cr_assert_eq(fx_text_length(&t), 0);
	}
	return buffer;
}

Test(fdplaces, files_in_directories)
{
	cr_assert_str_eq(told("/a/b", "c", O_NOFOLLOW, &regular, NULL), "/a/b/c");
	cr_assert_str_eq(told("/a/b", "c", O_CREAT | O_EXCL, &regular, NULL), "/a/b/c");
	cr_assert_str_eq(told("/", "c", O_NOFOLLOW, &directory, NULL), "/c");
}

Test(fdplaces, what_may_lie_elsewhere)
{
	cr_assert_str_empty(told("/a/b", "c", 0, &regular, NULL), "a link");
	cr_assert_str_empty(told("/a/b", "c", O_CREAT, &regular, NULL));
	cr_assert_str_empty(told("/a/b", "c/d", O_NOFOLLOW, &regular, NULL));
	cr_assert_str_empty(told("/a/b", ".", O_NOFOLLOW, &directory, NULL));
	cr_assert_str_empty(told("/a/b", "..", O_NOFOLLOW, &directory, NULL));
	cr_assert_str_empty(told("/a/b", "", O_NOFOLLOW, &directory, NULL));
	cr_assert_str_empty(told("/a/b", "c", O_NOFOLLOW | O_TMPFILE, &regular, NULL));
	cr_assert_str_empty(told("/a/b", "c", O_NOFOLLOW, &removed, NULL));
	cr_assert_str_empty(told("/a/b", "c", O_NOFOLLOW, &queue, NULL));
	cr_assert_str_empty(told("/a/b (deleted)", "c", O_NOFOLLOW, &regular, NULL));
	cr_assert_str_empty(told("anon_inode:[x]", "c", O_NOFOLLOW, &regular, NULL));
}

Test(fdplaces, names_and_paths_that_are_too_long)
{
	char name[FX_PLACES_NAME + 1], path[FX_TEXT_MAX + 1];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	cr_assert_str_empty(told("/a/b", name, O_NOFOLLOW, &regular, NULL));
	name[sizeof(name) - 2] = 0;
	cr_assert_eq(strlen(told("/a/b", name, O_NOFOLLOW, &regular, NULL)), 5 + strlen(name));
	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	cr_assert_str_empty(told(path, "c", O_NOFOLLOW, &regular, NULL));
	path[sizeof(path) - 2] = 0;
	cr_assert_str_empty(told(path, "c", O_NOFOLLOW, &regular, NULL));
}

Test(fdplaces, what_is_moved)
{
	struct fx_places p = {0};
	char buffer[FX_TEXT_MAX + 1];
	struct fx_text t = FX_TEXT(buffer);
	const struct fx_place_fd inner = {6, 1};

	/* Neither the directory nor what it lies in. */
	cr_assert_str_eq(told("/a/b", "c", O_NOFOLLOW, &regular, "other"), "/a/b/c");
	learn(&p, DIRECTORY, &directory, "/a");
	learn(&p, inner, &directory, "/a/b/c");
	fx_places_moved(&p, DIRECTORY, "b");
	fx_places_opened(&p, FILE_FD, inner, "d", O_NOFOLLOW);
	cr_assert_not(fx_places_tell(&p, FILE_FD, &regular, &t));
	/* The kernel says where it lies now: the directory's path is not believed any more. */
	learn(&p, FILE_FD, &regular, "/a/x/c/d");
	fx_places_opened(&p, FILE_FD, inner, "e", O_NOFOLLOW);
	cr_assert_not(fx_places_tell(&p, FILE_FD, &regular, &t));
	/* What is opened, and has another name before it is told. */
	learn(&p, DIRECTORY, &directory, "/a");
	fx_places_opened(&p, FILE_FD, DIRECTORY, "old", O_NOFOLLOW);
	fx_places_moved(&p, DIRECTORY, "old");
	cr_assert_not(fx_places_tell(&p, FILE_FD, &regular, &t));
}

Test(fdplaces, a_directory_that_is_where_it_was)
{
	char buffer[FX_TEXT_MAX + 1];
	bool told_again = false;

	for (int i = 0; i < 200 && !told_again; i++) {
		struct fx_places p = {0};
		struct fx_text t = FX_TEXT(buffer);

		learn(&p, DIRECTORY, &directory, "/a");
		fx_places_moved(&p, (struct fx_place_fd){-1, 0}, NULL);
		fx_places_opened(&p, FILE_FD, DIRECTORY, "b", O_NOFOLLOW);
		cr_assert_not(fx_places_tell(&p, FILE_FD, &regular, &t));
		learn(&p, FILE_FD, &regular, "/a/b");
		fx_places_opened(&p, FILE_FD, DIRECTORY, "c", O_NOFOLLOW);
		told_again = fx_places_tell(&p, FILE_FD, &regular, &t);
	}
	cr_assert(told_again);
}

Test(fdplaces, devices)
{
	struct statx other = device;
	char buffer[FX_TEXT_MAX + 1];
	bool told_again = false;

	other.stx_ino++;
	for (int i = 0; i < 200 && !told_again; i++) {
		struct fx_places p = {0};
		struct fx_text t = FX_TEXT(buffer);

		learn(&p, DIRECTORY, &device, "/dev/x");
		cr_assert_not(fx_places_tell(&p, FILE_FD, &other, &t));
		told_again = fx_places_tell(&p, FILE_FD, &device, &t);
	}
	cr_assert(told_again);
	cr_assert_eq(memcmp(buffer, "/dev/x", 6), 0);
}
