/* SPDX-License-Identifier: MIT */
/*
 * Groups of categories, that lists name as #GROUP: `default', and those of two files, each line of which
 * is NAME = LIST, or empty, or begins with a '#'. What the user's file says counts.
 *
 *	$XDG_CONFIG_HOME/fxtrace/categories	(~/.config/fxtrace/categories)
 *	SYSCONFDIR/fxtrace/categories
 */
#ifndef FX_CLIENT_GROUPS_H
#define FX_CLIENT_GROUPS_H

#include <stddef.h>

struct fx_group {
	char *name;
	char *list;
	char *path; /* of the file; NULL: built in */
	unsigned line;
};

struct fx_groups {
	struct fx_group *entries; /* by name */
	size_t count;
};

/* Reads the files; one that does not exist is empty. `default_list' is what `default' stands for. NULL, or what is wrong, with the file and the line;
 * the text is valid until the next call. */
const char *fx_groups_read(struct fx_groups *ret, const char *default_list);

/* Reads one file in place of the two. As above. */
const char *fx_groups_read_file(struct fx_groups *groups, const char *path);

void fx_groups_destroy(struct fx_groups *groups);

/* The group, NULL if there is none of this name. */
const struct fx_group *fx_groups_find(const struct fx_groups *groups, const char *name,
				      size_t length);

#endif
