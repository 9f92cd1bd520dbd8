/* SPDX-License-Identifier: MIT */
#include "client/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "client/commands.h"
#include "client/usage.h"
#include "convert/timeline.h"
#include "manager/archive/output.h"
#include "manager/settings/report.h"

void fx_archive_argument(const char *program, const char **file, const char *arg)
{
	if (*file)
		fx_usage_error(program, "more than one FILE given", arg);
	*file = arg;
}

int fx_archive_open(const char *file, struct fxt_reader **ret)
{
	if (strcmp(file, "-") == 0)
		return fxt_reader_open_fd(STDIN_FILENO, ret);
	return fxt_reader_open_path(file, ret);
}

int fx_archive_open_fd(const char *file)
{
	int fd = strcmp(file, "-") == 0 ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

void fx_archive_close_fd(int fd)
{
	if (fd > STDERR_FILENO)
		close(fd);
}

int fx_archive_complain(const char *program, const char *file, int error,
			const struct fxt_fault *fault)
{
	if (fault && fault->kind != FXT_FAULT_NONE && (error == 0 || error == -EBADMSG))
		return fx_archive_complain_of(program, file, fault, "");
	fx_report_as(program, "%s: %s", file, strerror(-error));
	return FX_EXIT_FAILURE;
}

int fx_archive_complain_of(const char *program, const char *file, const struct fxt_fault *fault,
			   const char *then)
{
	char text[160];

	fxt_fault_format(fault, text, sizeof(text));
	fx_report_as(program, "%s: offset 0x%" PRIx64 ": %s%s", file, fault->offset, text, then);
	return FX_EXIT_FAILURE;
}

void fx_archive_say_notes(const char *program, const char *file, const struct fx_timeline *timeline,
			  const char *where)
{
	const struct fx_text *note;
	char text[512];

	if (timeline->notes.count == 0)
		return;
	note = timeline->notes.items[0].text;
	text[fx_escape(text, sizeof(text) - 1, note->data, note->length,
		       FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES)] = '\0';
	fprintf(stderr, "%s: %s: %s", program, file, text);
	if (timeline->notes.count > 1)
		fprintf(stderr, " (%zu such notes in all%s)", timeline->notes.count, where);
	fputc('\n', stderr);
}

void fx_archive_note_fault(void *opaque, const struct fxt_fault *fault)
{
	*(struct fxt_fault *)opaque = *fault;
}

bool fx_archive_make(const char *program, const char *path,
		     int (*write)(void *opaque, struct fx_output *out), void *opaque, int *ret)
{
	struct fx_output *out;
	int closed, r = fx_output_open_whole(path, &out);

	if (r < 0) {
		fx_archive_complain(program, path, r, NULL);
		return false;
	}
	r = fx_output_begin(out);
	if (r == 0)
		r = write(opaque, out);
	if (r == 0)
		fx_output_keep(out);
	closed = fx_output_close(out, NULL);
	if (closed < 0)
		fx_archive_complain(program, path, closed, NULL);
	*ret = r;
	return closed >= 0;
}

const char *fx_archive_compression(const unsigned char bytes[4])
{
	if (bytes[0] == 0x1f && bytes[1] == 0x8b)
		return "gzip";
	return memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0 ? "zstd" : "plain";
}

bool fx_archive_begins(const unsigned char *bytes, size_t size)
{
	static const unsigned char magic[] = {0x10, 0x00, 0x04, 0x46, 0x78, 0x54, 0x16, 0x00};

	if (size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0)
		return true;
	return size >= 4 && strcmp(fx_archive_compression(bytes), "plain") != 0;
}

bool fx_archive_is_same(const char *file, const char *other)
{
	struct stat a, b;

	return stat(file, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}
