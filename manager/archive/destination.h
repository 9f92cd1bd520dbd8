/* SPDX-License-Identifier: MIT */
/*
 * Where an archive, or what is made of one, is written to. Everything that is opened for writing by name is opened here:
 *
 * - what is new is this user's alone (0600 & ~umask), and so is, once it is written, what was there; unless
 *   fx_destination_set_mode() says what either has instead;
 * - in a folder where others may write, neither another user's file is written nor another user's link followed;
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

/*
 * Before anything is opened: what this process writes is of no use in part. A signal that ends the process (SIGHUP, SIGINT,
 * SIGTERM, those that are not ignored) takes away first what has been made or begun and is not destroyed.
 */
void fx_destination_set_whole(void);

struct fx_destination {
	int fd;
	char *path; /* absolute, if it could be made so; NULL: nothing is to be removed by name */
	bool made;  /* it did not exist before */
	bool begun; /* what was there is gone */
	bool standard; /* standard output: others may have written before us */
	dev_t device;
	ino_t inode;
};

/*
 * Opens `path`, "-" for standard output, as it is; *ret stays where it is until it is destroyed. `text`: what is written may be shown by a terminal. 0 or -errno, about
 * which fx_destination_why() knows more.
 */
int fx_destination_open(const char *path, bool text, struct fx_destination *ret);

/* What the newest failure of fx_destination_open(), -error, was about. Valid until the next. */
const char *fx_destination_why(int error);

/* Before the first byte is written: what was there has its permissions from here on. */
void fx_destination_begin(struct fx_destination *d);

/* Takes the file away, if its name still stands for it. The descriptor stays open. */
void fx_destination_remove(const struct fx_destination *d);

/* Frees all but the descriptor. */
void fx_destination_destroy(struct fx_destination *d);

/* Whether what is written to `path` goes where standard output goes, to somebody who reads it. */
bool fx_destination_is_standard(const char *path);

#endif
