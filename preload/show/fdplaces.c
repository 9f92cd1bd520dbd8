/* SPDX-License-Identifier: MIT */
#include "preload/show/fdplaces.h"

#include <fcntl.h>
#include <string.h>

#include "base/atomic.h"
#include "base/clock.h"

/* How long a directory's path is believed. */
#define BELIEVED_NS UINT64_C(1000000)

/* Never waits: a handler may have interrupted the thread that is at work, or the thread may be gone. */
static bool places_take(struct fx_places *p)
{
	uint32_t busy = 0;

	return fx_cas_acq_rel(&p->busy, &busy, 1); /* pairs with places_give() */
}

static void places_give(struct fx_places *p)
{
	fx_store_release(&p->busy, 0); /* pairs with places_take() */
}

static bool is_believed(uint64_t since)
{
	return since && fx_boottime_ns() - since < BELIEVED_NS;
}

static bool place_is(struct fx_place_fd a, struct fx_place_fd b)
{
	return a.fd == b.fd && a.age == b.age;
}

static struct fx_place_directory *place_directory(struct fx_places *p, struct fx_place_fd at)
{
	for (uint32_t i = 0; i < FX_PLACES_DIRECTORIES; i++) {
		struct fx_place_directory *d = &p->directories[i];

		if (d->length && place_is(d->at, at))
			return d;
	}
	return NULL;
}

static struct fx_place_file *place_file(struct fx_places *p, struct fx_place_fd at)
{
	for (uint32_t i = 0; i < FX_PLACES_FILES; i++) {
		struct fx_place_file *f = &p->files[i];

		if (f->name[0] && place_is(f->at, at))
			return f;
	}
	return NULL;
}

/* --- What the process does ------------------------------------------------------------------------ */

/* Whether the flags say that no link was followed, and that what was opened has the name. */
static bool flags_are_plain(int flags)
{
	bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	return (is_new || (flags & O_NOFOLLOW)) && (flags & O_TMPFILE) != O_TMPFILE;
}

/* The length of a name that is one, and no way to somewhere else; 0: it is none. */
static size_t name_length(const char *name)
{
	size_t length = strnlen(name, FX_PLACES_NAME);

	if (length == FX_PLACES_NAME || memchr(name, '/', length) || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return 0;
	return length;
}

void fx_places_opened(struct fx_places *p, struct fx_place_fd at, struct fx_place_fd directory,
		      const char *name, int flags)
{
	size_t length;

	if (!flags_are_plain(flags) || !places_take(p))
		return;
	length = name_length(name);
	if (length && place_directory(p, directory)) {
		struct fx_place_file *f = &p->files[p->next_file++ % FX_PLACES_FILES];

		*f = (struct fx_place_file){.at = at, .directory = directory};
		memcpy(f->name, name, length);
	}
	places_give(p);
}

/* Whether what was moved may be the directory, or one that it lies in. */
static bool may_lie_in(const struct fx_place_directory *d, const struct fx_place_directory *parent,
		       const char *name, size_t length)
{
	size_t below = parent->length > 1 ? parent->length : 0; /* where the slash is */

	return d->length > below + length && memcmp(d->path, parent->path, below) == 0 &&
	       d->path[below] == '/' && memcmp(&d->path[below + 1], name, length) == 0;
}

void fx_places_moved(struct fx_places *p, struct fx_place_fd directory, const char *name)
{
	const struct fx_place_directory *parent;
	size_t length;
	bool is_known;

	if (!places_take(p))
		return;
	parent = place_directory(p, directory);
	length = name ? name_length(name) : 0;
	is_known = length && parent && is_believed(parent->since);
	for (uint32_t i = 0; i < FX_PLACES_DIRECTORIES; i++) {
		if (!is_known || may_lie_in(&p->directories[i], parent, name, length))
			p->directories[i].since = 0;
	}
	p->device.since = 0;
	/* It may be one of those whose path was not told yet. */
	for (uint32_t i = 0; i < FX_PLACES_FILES; i++)
		p->files[i].name[0] = 0;
	places_give(p);
}

/* --- What is asked for ---------------------------------------------------------------------------- */

static void directory_note(struct fx_places *p, struct fx_place_fd at, const struct fx_text *t,
			   uint64_t since)
{
	static const char deleted[] = " (deleted)";
	const size_t length = fx_text_length(t), tail = sizeof(deleted) - 1;
	struct fx_place_directory *d = place_directory(p, at);

	if (length >= FX_TEXT_MAX || !length || t->begin[0] != '/' ||
	    (length > tail && memcmp(t->begin + length - tail, deleted, tail) == 0))
		return;
	if (!d)
		d = &p->directories[p->next_directory++ % FX_PLACES_DIRECTORIES];
	d->at = at;
	d->since = since;
	d->length = (uint16_t)length;
	memcpy(d->path, t->begin, length);
}

/* Appends the path of a file in the directory. False, and nothing is appended: there is no room. */
static bool path_append(struct fx_text *t, const struct fx_place_directory *d, const char *name)
{
	const size_t length = strnlen(name, FX_PLACES_NAME);

	if (d->length + 1u + length > FX_TEXT_MAX)
		return false;
	fx_text_bytes(t, d->path, d->length);
	if (d->length > 1)
		fx_text_char(t, '/');
	fx_text_bytes(t, name, length);
	return true;
}

static bool device_is(const struct fx_place_device *d, const struct statx *file)
{
	/* With a second name it might be opened by either. */
	return file->stx_nlink == 1 && d->inode == file->stx_ino &&
	       d->major == file->stx_dev_major && d->minor == file->stx_dev_minor;
}

static void device_note(struct fx_place_device *d, const struct statx *file,
			const struct fx_text *t)
{
	if (fx_text_length(t) >= FX_TEXT_MAX)
		return;
	d->since = fx_boottime_ns();
	d->inode = file->stx_ino;
	d->major = file->stx_dev_major;
	d->minor = file->stx_dev_minor;
	d->length = (uint16_t)fx_text_length(t);
	memcpy(d->path, t->begin, d->length);
}

/* The same of one whose name in a directory is known. It must have a name still, and pipes are called by more than that. */
static bool file_tell(struct fx_places *p, struct fx_place_fd at, const struct statx *file,
		      struct fx_text *t)
{
	struct fx_place_file *f = place_file(p, at);
	const struct fx_place_directory *d = f ? place_directory(p, f->directory) : NULL;

	if (!d || !is_believed(d->since) || !file->stx_nlink ||
	    !(S_ISREG(file->stx_mode) || S_ISDIR(file->stx_mode)) || !path_append(t, d, f->name))
		return false;
	f->name[0] = 0;
	if (S_ISDIR(file->stx_mode))
		directory_note(p, at, t, d->since);
	return true;
}

bool fx_places_tell(struct fx_places *p, struct fx_place_fd at, const struct statx *file,
		    struct fx_text *t)
{
	bool told = false;

	if (!places_take(p))
		return false;
	if (!S_ISCHR(file->stx_mode)) {
		told = file_tell(p, at, file, t);
	} else if (device_is(&p->device, file) && is_believed(p->device.since)) {
		fx_text_bytes(t, p->device.path, p->device.length);
		told = true;
	}
	places_give(p);
	return told;
}

/* Whether the directory is where it was: what the kernel says of a file in it shows that. */
static void directory_check(struct fx_place_directory *d, struct fx_place_file *f,
			    const struct fx_text *t)
{
	char buffer[FX_TEXT_MAX + 1];
	struct fx_text path = FX_TEXT(buffer);

	if (path_append(&path, d, f->name)) {
		if (fx_text_length(&path) == fx_text_length(t) &&
		    memcmp(path.begin, t->begin, fx_text_length(t)) == 0)
			d->since = fx_boottime_ns();
		else
			d->length = 0;
	}
	f->name[0] = 0;
}

void fx_places_learn(struct fx_places *p, struct fx_place_fd at, const struct statx *file,
		     const struct fx_text *t)
{
	struct fx_place_directory *d;
	struct fx_place_file *f;

	if (!places_take(p))
		return;
	f = place_file(p, at);
	d = f ? place_directory(p, f->directory) : NULL;
	if (d)
		directory_check(d, f, t);
	if (S_ISDIR(file->stx_mode) && file->stx_nlink)
		directory_note(p, at, t, fx_boottime_ns());
	if (S_ISCHR(file->stx_mode) && file->stx_nlink)
		device_note(&p->device, file, t);
	places_give(p);
}
