/* SPDX-License-Identifier: MIT */
#include "symbols/jit-map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/file-open.h"
#include "symbols/symbols.h"

/* The times of files are of a coarser clock than that of processes' beginnings. */
#define COARSE_NS UINT64_C(20000000)

#define SECOND_NS UINT64_C(1000000000)

/* Code from one address to another, and its name, an offset in the text of the map. */
struct piece {
	uint64_t start, end;
	uint32_t name, length;
};

struct pieces {
	struct piece *items;
	size_t count;
};

static int jit_problem(enum fx_symbol_problem_kind kind)
{
	return (int)kind + 1;
}

/* --- Which file ------------------------------------------------------------------------------- */

static bool was_written_since(const struct stat *st, uint64_t since_ns)
{
	uint64_t written = (uint64_t)st->st_mtim.tv_sec * SECOND_NS + (uint64_t)st->st_mtim.tv_nsec;

	return written + COARSE_NS >= since_ns;
}

int fx_jit_map_open(int root, const char *path, const struct fx_jit_source *source, int *ret_fd)
{
	struct stat st;
	int fd = root >= 0 ? fx_file_open_below(root, path, O_NOFOLLOW)
			   : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return jit_problem(errno == ENOENT ? FX_SYMBOL_FILE_MISSING
						   : FX_SYMBOL_FILE_UNREADABLE);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == source->owner &&
	    was_written_since(&st, source->since_ns)) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	return jit_problem(FX_SYMBOL_FILE_UNREADABLE);
}

/* --- Its lines -------------------------------------------------------------------------------- */

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/* A hexadecimal number and the space behind it; NULL: there is none, or one of more than 64 bits. */
static const char *number_take(const char *at, const char *end, uint64_t *ret)
{
	unsigned digits = 0;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (; at < end && digit_value(*at) < 16; at++) {
		if (value >> 60)
			return NULL;
		value = value << 4 | digit_value(*at);
		digits++;
	}
	if (!digits || at == end || *at != ' ')
		return NULL;
	*ret = value;
	return at + 1;
}

/* False: the line says nothing. */
static bool jit_line_take(const char *text, const char *at, const char *end, struct piece *ret)
{
	uint64_t start, size;

	at = number_take(at, end, &start);
	if (at)
		at = number_take(at, end, &size);
	if (!at || at == end || !size || size > UINT32_MAX || start + size < start)
		return false;
	*ret = (struct piece){
	    .start = start,
	    .end = start + size,
	    .name = (uint32_t)(at - text),
	    .length = (uint32_t)strnlen(at, (size_t)(end - at)),
	};
	if (ret->length > FX_JIT_NAME_MAX)
		ret->length = FX_JIT_NAME_MAX;
	return ret->length > 0;
}

/* The functions of all whole lines, in their order. Bytes of these lines. */
static size_t jit_lines_take(const char *text, size_t size, struct pieces *to)
{
	const char *at = text, *end = text + size, *line_end;

	while (at < end && (line_end = memchr(at, '\n', (size_t)(end - at)))) {
		if (jit_line_take(text, at, line_end, &to->items[to->count]))
			to->count++;
		at = line_end + 1;
	}
	return (size_t)(at - text);
}

static size_t jit_lines_count(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

/* --- Which of them covers an address ---------------------------------------------------------- */

/* Both in the order of addresses, and disjoint, as the result is: for each of the newer one more at most. */
static size_t pieces_overlay(struct pieces older, struct pieces newer, struct piece *to)
{
	const struct piece *old = older.items, *late = newer.items;
	const struct piece *old_end = old + older.count, *late_end = late + newer.count;
	struct piece rest = old < old_end ? *old : (struct piece){0};
	size_t count = 0;

	while (old < old_end || late < late_end) {
		if (old == old_end || (late < late_end && late->start <= rest.start)) {
			to[count++] = *late;
			while (old < old_end && rest.end <= late->end)
				rest = ++old < old_end ? *old : (struct piece){0};
			if (old < old_end && rest.start < late->end)
				rest.start = late->end;
			late++;
			continue;
		}
		to[count] = rest;
		if (late < late_end && late->start < rest.end) {
			to[count].end = rest.start = late->start;
		} else {
			rest = ++old < old_end ? *old : (struct piece){0};
		}
		count++;
	}
	return count;
}

/* Of pieces in the order of time; there is room for twice as many, here and there. How many they become, in the order of
 * addresses. */
static size_t pieces_settle(struct piece *items, size_t count, struct piece *to, struct piece *room)
{
	size_t half = count / 2, settled;
	struct pieces older, newer;

	if (count == 1)
		to[0] = items[0];
	if (count <= 1)
		return count;
	older = (struct pieces){to, pieces_settle(items, half, to, room)};
	newer.items = to + 2 * half;
	newer.count = pieces_settle(items + half, count - half, newer.items, room + 2 * half);
	settled = pieces_overlay(older, newer, room);
	memcpy(to, room, settled * sizeof(*to));
	return settled;
}

/* 0 or what fx_symtab_add() says. */
static int pieces_tell(struct pieces pieces, const char *text, struct fx_symtab *table)
{
	int r = 0;

	for (size_t i = 0; i < pieces.count && r == 0; i++) {
		const struct piece *p = &pieces.items[i];

		r = fx_symtab_add(table, text + p->name, p->length, p->start, p->end - p->start,
				  p->end, FX_RANK_FUNCTION);
	}
	return r == -EFBIG ? 0 : r; /* full: what is in it serves */
}

/* Adds what the text says to the table. *ret_size: how much of it has been read. */
static int text_take(const char *text, size_t size, struct fx_symtab *table, size_t *ret_size)
{
	size_t count = jit_lines_count(text, size);
	struct piece *room = calloc(5 * count + 1, sizeof(*room));
	struct pieces lines = {room, 0};
	int r = room ? 0 : -ENOMEM;

	if (r == 0) {
		*ret_size = jit_lines_take(text, size, &lines);
		lines.count =
		    pieces_settle(lines.items, lines.count, room + count, room + 3 * count);
		lines.items = room + count;
		r = pieces_tell(lines, text, table);
	}
	if (r == 0)
		r = fx_symtab_finish(table);
	free(room);
	return r == 0 ? 0 : jit_problem(FX_SYMBOL_FILE_NO_MEMORY);
}

/* ---------------------------------------------------------------------------------------------- */

/* What is there from `at' on, and no more than may be. */
static size_t map_bytes(int fd, uint64_t at, char *to, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && (n = pread(fd, to + done, size - done, (off_t)(at + done))) > 0)
		done += (size_t)n;
	return done;
}

/* Whether it is the file that was read, as far as it was. */
static bool mark_holds(int fd, const struct fx_jit_mark *mark, const struct stat *st)
{
	char tail[FX_JIT_TAIL];

	return mark->device == st->st_dev && mark->inode == st->st_ino &&
	       mark->end <= (uint64_t)st->st_size && mark->tail_size <= sizeof(tail) &&
	       mark->tail_size <= mark->end &&
	       map_bytes(fd, mark->end - mark->tail_size, tail, mark->tail_size) ==
		   mark->tail_size &&
	       memcmp(tail, mark->tail, mark->tail_size) == 0;
}

/* So much more has been read. */
static void mark_move(struct fx_jit_mark *mark, const char *text, size_t size)
{
	if (!size)
		return;
	mark->end += size;
	mark->tail_size = size < FX_JIT_TAIL ? (uint32_t)size : FX_JIT_TAIL;
	memcpy(mark->tail, text + size - mark->tail_size, mark->tail_size);
}

int fx_jit_map_read(int fd, const struct fx_jit_source *source, uint64_t limit,
		    struct fx_symtab *ret)
{
	struct fx_jit_mark mark = source->mark;
	uint64_t most = limit < FX_JIT_MAP_BYTES ? limit : FX_JIT_MAP_BYTES;
	size_t size, used = 0;
	struct stat st;
	char *text;
	int failed;

	if (fstat(fd, &st) < 0)
		return jit_problem(FX_SYMBOL_FILE_UNREADABLE);
	if (!mark_holds(fd, &mark, &st))
		mark = (struct fx_jit_mark){.device = st.st_dev, .inode = st.st_ino};
	mark.is_anew = mark.end == 0;
	size = (uint64_t)st.st_size - mark.end < most ? (size_t)((uint64_t)st.st_size - mark.end)
						      : (size_t)most;
	text = malloc(size + 1);
	if (!text)
		return jit_problem(FX_SYMBOL_FILE_NO_MEMORY);
	size = map_bytes(fd, mark.end, text, size);
	fx_symtab_begin(ret);
	failed = text_take(text, size, ret, &used);
	/* A line that is as long as all that is read at a time is none. */
	mark_move(&mark, text, used || size < most ? used : size);
	ret->jit = mark;
	free(text);
	if (failed)
		fx_symtab_clear(ret);
	return failed;
}
