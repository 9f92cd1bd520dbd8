/* SPDX-License-Identifier: MIT */
/*
 * Where an archive, or what is made of one, is written to. Everything that is opened for writing by name is opened here:
 *
 * - what is new is this user's alone (0600 & ~umask), and so is, once it is written, what was there; unless
 *   fx_destination_set_mode() says what either has instead;
 * - in a folder where others may write, neither another user's file is written nor another user's link followed;
 * - what is of use only as a whole has its name from fx_destination_keep() on, and until then what had it is as it was;
 * - a file is one writer's: a lock on the open file description holds until the last process that has it is gone;
 * - standard output is written through its own description, whatever name it is given by.
 */
#ifndef FX_MANAGER_DESTINATION_H
#define FX_MANAGER_DESTINATION_H

#include <stdbool.h>
#include <sys/types.h>

enum fx_compression {
	FX_COMPRESSION_NONE,
	FX_COMPRESSION_GZIP,
	FX_COMPRESSION_ZSTD,
	FX_COMPRESSION_UNKNOWN, /* the name says one that is not to be had */
};

/* By the ending of a name. */
enum fx_compression fx_compression_of(const char *path);

/* What is wrong with FX_COMPRESSION_UNKNOWN. */
#define FX_COMPRESSION_WRONG "its name ends as if compressed in another way than .gz and .zst"

/* Before anything is opened: what this process writes has these permissions, without the bits of the umask. */
void fx_destination_set_mode(mode_t mode);

struct fx_beside;

struct fx_destination {
	int fd;
	char *path; /* absolute, if it could be made so; NULL: nothing is to be removed by name */
	bool made;  /* it did not exist before */
	bool standard; /* standard output: others may have written before us */
	dev_t device;
	ino_t inode;
	struct fx_beside *beside; /* what has no name yet */
};

/*
 * Opens `path`, "-" for standard output, as it is. `text`: what is written may be shown by a terminal. 0 or -errno, about
 * which fx_destination_why() knows more.
 */
int fx_destination_open(const char *path, bool text, struct fx_destination *ret);

/*
 * The same for what is of use only as a whole. Pipes, devices, standard output, and files that another cannot take the
 * place of (another user's, of several names, in a folder where this user may make none) are written as they are.
 */
int fx_destination_open_whole(const char *path, bool text, struct fx_destination *ret);

/* All is written: it has its name, or -errno. The descriptor stays open. */
int fx_destination_keep(struct fx_destination *d);

/* What the newest failure of fx_destination_open(), -error, was about. Valid until the next. */
const char *fx_destination_why(int error);

/* Before the first byte is written: what was there has its permissions from here on. */
void fx_destination_begin(const struct fx_destination *d);

/* Takes the file away, if its name still stands for it. The descriptor stays open. */
void fx_destination_remove(const struct fx_destination *d);

/* Frees all but the descriptor; what was not kept is gone. */
void fx_destination_destroy(struct fx_destination *d);

/* Whether what is written to `path` goes where standard output goes, to a user that reads it. */
bool fx_destination_is_standard(const char *path);

#endif
