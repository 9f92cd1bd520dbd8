/* SPDX-License-Identifier: MIT */
/* Memory that is made before anybody asks for it. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "manager/door/prepared.h"

static const struct fx_memory_shape usual = {
    .control_size = 4 * FX_PAGE, .buffer_size = 64 * FX_PAGE, .list_offset = 2 * FX_PAGE};
static const struct fx_memory_shape larger = {
    .control_size = 4 * FX_PAGE, .buffer_size = 128 * FX_PAGE, .list_offset = 2 * FX_PAGE};

static ino_t inode_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st.st_ino;
}

/* As a provider needs it: of that size, which stays, all zero, and its page for nobody else to write. */
static void is_sound(const struct fx_memory *m, const struct fx_memory_shape *shape)
{
	static const char none[4 * FX_PAGE];
	struct stat st;

	cr_assert_eq(fstat(m->control_fd, &st), 0);
	cr_expect_eq((uint64_t)st.st_size, shape->control_size);
	cr_assert_eq(fstat(m->buffer_fd, &st), 0);
	cr_expect_eq((uint64_t)st.st_size, shape->buffer_size);
	cr_expect(fcntl(m->buffer_fd, F_GET_SEALS) & F_SEAL_SHRINK);
	cr_expect_eq(mmap(NULL, FX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, m->control_fd, 0),
		     MAP_FAILED);
	cr_expect_eq(memcmp(m->control, none, shape->control_size), 0);
	m->control->version = 1; /* written here alone */
}

static void memory_give_back(struct fx_memory *m, const struct fx_memory_shape *shape)
{
	munmap(m->control, shape->control_size);
	munmap(m->buffer, shape->buffer_size);
	close(m->control_fd);
	close(m->buffer_fd);
}

Test(prepared, next_one_is_there_already)
{
	struct fx_prepared prepared = {0};
	struct fx_memory first, second;
	ino_t control, buffer;

	cr_expect_not(fx_prepared_is_due(&prepared));
	cr_assert_eq(fx_prepared_take(&prepared, &usual, &first), 0);
	is_sound(&first, &usual);
	cr_expect(fx_prepared_is_due(&prepared));
	fx_prepared_fill(&prepared);
	cr_expect_not(fx_prepared_is_due(&prepared));
	control = inode_of(prepared.memory.control_fd);
	buffer = inode_of(prepared.memory.buffer_fd);

	cr_assert_eq(fx_prepared_take(&prepared, &usual, &second), 0);
	cr_expect_eq(inode_of(second.control_fd), control);
	cr_expect_eq(inode_of(second.buffer_fd), buffer);
	is_sound(&second, &usual);
	cr_expect(fx_prepared_is_due(&prepared));
	memory_give_back(&first, &usual);
	memory_give_back(&second, &usual);
	fx_prepared_destroy(&prepared);
}

Test(prepared, of_another_shape_is_made_on_the_spot)
{
	struct fx_prepared prepared = {0};
	struct fx_memory first, second;
	int control, buffer;

	cr_assert_eq(fx_prepared_take(&prepared, &usual, &first), 0);
	fx_prepared_fill(&prepared);
	control = prepared.memory.control_fd;
	buffer = prepared.memory.buffer_fd;
	cr_assert_eq(fx_prepared_take(&prepared, &larger, &second), 0);
	is_sound(&second, &larger);
	/* What was prepared in vain is gone: the new one has its descriptors. */
	cr_expect_eq(second.control_fd, control);
	cr_expect_eq(second.buffer_fd, buffer);
	memory_give_back(&first, &usual);
	memory_give_back(&second, &larger);
	fx_prepared_fill(&prepared);
	control = prepared.memory.control_fd;
	fx_prepared_destroy(&prepared);
	cr_expect_eq(fcntl(control, F_GETFD), -1);
	cr_expect_not(fx_prepared_is_due(&prepared));
}

/* --- Few descriptors ------------------------------------------------------------------------------ */

#define DESCRIPTORS_MAX 256

/* As if there were `count` more than are open, with no gap between those. */
static void leave_free(unsigned count)
{
	int last = DESCRIPTORS_MAX, next;
	struct rlimit limit;

	while (fcntl(last, F_GETFD) < 0)
		last--;
	while ((next = dup(0)) < last)
		cr_assert_geq(next, 0);
	close(next);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)next + count;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void make_ready(struct fx_prepared *prepared)
{
	struct fx_memory first;

	*prepared = (struct fx_prepared){0};
	cr_assert_eq(fx_prepared_take(prepared, &usual, &first), 0);
	memory_give_back(&first, &usual);
	fx_prepared_fill(prepared);
}

Test(prepared, is_not_made_while_few_descriptors_remain)
{
	struct fx_prepared prepared;
	int next;

	leave_free(2 + FX_PREPARED_ROOM - 1);
	next = dup(0);
	close(next);
	make_ready(&prepared);
	cr_expect_not(prepared.full);
	cr_expect_not(fx_prepared_is_due(&prepared), "not again at every turn");
	cr_expect_eq(dup(0), next);
	close(next);
	leave_free(2 + FX_PREPARED_ROOM);
	make_ready(&prepared);
	cr_expect(prepared.full);
	fx_prepared_destroy(&prepared);
}

Test(prepared, is_given_back_where_it_is_asked_for)
{
	struct fx_prepared prepared;
	int control;

	make_ready(&prepared);
	cr_assert(prepared.full);
	control = prepared.memory.control_fd;
	leave_free(4);
	cr_expect_not(fx_prepared_give_back(&prepared, 4));
	cr_expect_eq(fcntl(control, F_GETFD), FD_CLOEXEC);
	leave_free(3);
	cr_expect(fx_prepared_give_back(&prepared, 4));
	cr_expect_eq(fcntl(control, F_GETFD), -1);
	cr_expect_not(fx_prepared_is_due(&prepared));
	cr_expect_not(fx_prepared_give_back(&prepared, 0), "there is nothing any more");
	leave_free(40);
	make_ready(&prepared);
	cr_expect(fx_prepared_give_back(&prepared, 0));
	cr_expect_not(prepared.full);
}
