/* SPDX-License-Identifier: MIT */
/* Memory that is made before anybody asks for it. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
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
