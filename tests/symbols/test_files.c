/* SPDX-License-Identifier: MIT */
/* Files that are shared, replaced, deleted, or none at all; and modules over modules. */
#include "symbols/cache.h"
#include "symbols/loader.h"
#include "symbols/symbols.h"
#include "tests/symbols/world.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world world;
static struct fx_symbol_cache *cache;
static struct fx_symspace *space;
static char directory[64];
static char copy_path[128]; /* of target-pie, in directory */
static struct fx_symbol_module copy;
static uint64_t main_address;

static void begin(void)
{
	world_run(&world, "target-pie", NULL);
	strcpy(directory, "/tmp/fxtrace-symbols-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
	snprintf(copy_path, sizeof(copy_path), "%s/copy", directory);
	copy = world_module(&world, "target-pie")->facts;
	world_copy(copy.path, copy_path);
	copy.path = copy_path;
	main_address = world.functions[0].address;
	cr_assert_eq(fx_symbol_cache_create(NULL, &cache), 0);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
}

static void end(void)
{
	fx_symspace_destroy(space);
	fx_symbol_cache_destroy(cache);
	char command[128];
	snprintf(command, sizeof(command), "rm -r '%s'", directory);
	cr_expect_eq(system(command), 0);
}

TestSuite(files, .init = begin, .fini = end);

static struct fx_symbol_counters count(void)
{
	struct fx_symbol_counters counters;
	fx_symbol_cache_count(cache, &counters);
	return counters;
}

static void add(const struct fx_symbol_module *module)
{
	cr_assert_eq(fx_symspace_add_module(space, module), 0);
}

/* main is not named, and that is told once, as kind. */
static void expect_problem(enum fx_symbol_problem_kind kind)
{
	struct fx_symbol symbol;
	for (int i = 0; i < 2; i++) {
		fx_symspace_resolve(space, main_address, &symbol);
		cr_expect_eq(symbol.kind, FX_SYMBOL_IN_MODULE);
		cr_expect_eq(symbol.offset, main_address - copy.bias);
	}
	struct fx_symbol_problem problem;
	cr_assert(fx_symbol_cache_next_problem(cache, &problem));
	cr_expect_eq(problem.kind, kind, "%s", fx_symbol_problem_text(problem.kind));
	cr_expect_str_eq(problem.path, copy.path);
	cr_expect_not(fx_symbol_cache_next_problem(cache, &problem));
}

static size_t count_descriptors(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	cr_assert_not_null(descriptors);
	size_t found = 0;
	while (readdir(descriptors))
		found++;
	closedir(descriptors);
	return found;
}

/* The modules that are files: all but the kernel's own. */
static size_t files_of(const struct world *w)
{
	size_t files = 0;

	for (size_t i = 0; i < w->module_count; i++)
		files += w->modules[i].path[0] == '/';
	return files;
}

Test(files, two_hundred_processes_open_a_file_once)
{
	struct fx_symspace *spaces[200];
	for (int i = 0; i < 200; i++) {
		cr_assert_eq(fx_symspace_create(cache, &spaces[i]), 0);
		world_add_modules(&world, spaces[i]);
		cr_assert_str_eq(world_text(spaces[i], main_address), "main");
		struct fx_symbol symbol;
		struct fx_symbol_module *libc = &world_module(&world, "libc.so.6")->facts;
		fx_symspace_resolve(spaces[i], libc->start, &symbol);
		cr_assert_str_eq(symbol.module, "libc.so.6");
		/* Some live on while the next begins, some do not. */
		if (i % 2)
			fx_symspace_destroy(spaces[i]);
	}
	for (int i = 0; i < 200; i += 2)
		fx_symspace_destroy(spaces[i]);
	cr_expect_eq(count().loads, 2);
	cr_expect_eq(count().opens, files_of(&world), "%lu", (unsigned long)count().opens);
	cr_expect_eq(count().names, 1);
}

Test(files, only_what_is_asked_for_is_read)
{
	world_add_modules(&world, space);
	cr_expect_eq(count().loads, 0);
	world_text(space, main_address);
	cr_expect_eq(count().loads, 1);
}

Test(files, without_build_id_are_shared_too)
{
	copy.build_id = NULL;
	add(&copy);
	cr_expect_str_eq(world_text(space, main_address), "main");
	struct fx_symspace *other;
	cr_assert_eq(fx_symspace_create(cache, &other), 0);
	cr_assert_eq(fx_symspace_add_module(other, &copy), 0);
	cr_expect_str_eq(world_text(other, main_address), "main");
	fx_symspace_destroy(other);
	cr_expect_eq(count().loads, 1);
}

Test(files, a_program_deleted_after_its_run_has_names)
{
	add(&copy);
	cr_assert_eq(unlink(copy_path), 0);
	cr_expect_str_eq(world_text(space, main_address), "main");
}

Test(files, deleted_before)
{
	cr_assert_eq(unlink(copy_path), 0);
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_MISSING);
}

Test(files, replaced_by_another_build)
{
	char *other = world_path("target-nopie");
	world_copy(other, copy_path);
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_CHANGED);
	free(other);
}

Test(files, replaced_by_one_without_build_id)
{
	char *other = world_path("target-noid");
	world_copy(other, copy_path);
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_CHANGED);
	free(other);
}

/* The file without a build-id is told by its inode and time: one that came later is another. */
Test(files, replaced_without_build_id)
{
	struct fx_symspace *other;
	cr_assert_eq(fx_symspace_create(cache, &other), 0);
	copy.build_id = NULL;
	cr_assert_eq(fx_symspace_add_module(other, &copy), 0);
	char moved[160];
	snprintf(moved, sizeof(moved), "%s.new", copy_path);
	char *target = world_path("target-nopie");
	world_copy(target, moved);
	cr_assert_eq(rename(moved, copy_path), 0);
	add(&copy);
	cr_expect_eq(count().files, 2);
	cr_expect_str_eq(world_text(other, main_address), "main");
	cr_expect_str_neq(world_text(space, main_address), "main");
	fx_symspace_destroy(other);
	free(target);
}

Test(files, marked_as_deleted)
{
	char marked[160];
	snprintf(marked, sizeof(marked), "%s (deleted)", copy_path);
	copy.path = marked;
	add(&copy);
	struct fx_symbol symbol;
	fx_symspace_resolve(space, main_address, &symbol);
	/* The same build stands in its place. */
	cr_expect_str_eq(symbol.name, "main");
	cr_expect_str_eq(symbol.module, "copy");
}

Test(files, marked_as_deleted_without_build_id)
{
	char marked[160];
	snprintf(marked, sizeof(marked), "%s (deleted)", copy_path);
	copy.path = marked;
	copy.build_id = NULL;
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_MISSING);
	cr_expect_eq(strncmp(world_text(space, main_address), "copy+0x", 7), 0);
}

Test(files, memory_file)
{
	copy.path = "/memfd:code (deleted)";
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_MISSING);
	cr_expect_eq(strncmp(world_text(space, main_address), "memfd:code+0x", 13), 0);
}

Test(files, no_path_of_ours)
{
	char *old = getcwd(NULL, 0);
	cr_assert_eq(chdir(directory), 0);
	copy.path = "copy";
	copy.build_id = NULL;
	add(&copy);
	cr_expect_eq(strncmp(world_text(space, main_address), "copy+0x", 7), 0);
	struct fx_symbol_problem problem;
	cr_expect_not(fx_symbol_cache_next_problem(cache, &problem));
	cr_expect_eq(chdir(old), 0);
	free(old);
}

Test(files, pipe_in_its_place, .timeout = 10)
{
	cr_assert_eq(unlink(copy_path), 0);
	cr_assert_eq(mkfifo(copy_path, 0600), 0);
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_UNREADABLE);
}

Test(files, directory_in_its_place)
{
	copy.path = directory;
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_UNREADABLE);
}

Test(files, no_elf)
{
	FILE *file = fopen(copy_path, "w");
	fputs("#!/bin/sh\n", file);
	fclose(file);
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_NOT_ELF);
}

Test(files, empty)
{
	cr_assert_eq(truncate(copy_path, 0), 0);
	copy.build_id = NULL;
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_NOT_ELF);
}

/* Later modules hide earlier ones; earlier moments still see those. */
Test(files, later_modules_hide_earlier_ones)
{
	add(&copy);
	uint32_t before = fx_symspace_moment(space);
	struct fx_symbol_module newer = {
	    .path = "/nowhere/newer.so", .bias = copy.start, .start = copy.start, .end = copy.end};
	add(&newer);
	cr_expect_eq(strncmp(world_text(space, main_address), "newer.so+0x", 11), 0);
	struct fx_symbol symbol;
	fx_symspace_resolve_at(space, before, main_address, &symbol);
	cr_expect_str_eq(symbol.name, "main");
	fx_symspace_resolve_at(space, 0, main_address, &symbol);
	cr_expect_eq(symbol.kind, FX_SYMBOL_UNKNOWN);
	/* And back, as dlopen() does again. */
	add(&copy);
	cr_expect_str_eq(world_text(space, main_address), "main");
	cr_expect_eq(fx_symspace_moment(space), 3);
}

Test(files, a_module_that_stands_already_is_not_added)
{
	for (int i = 0; i < 3; i++)
		world_add_modules(&world, space);
	cr_expect_eq(fx_symspace_moment(space), world.module_count);
}

Test(files, contradictory_facts)
{
	struct fx_symbol_module bad = copy;
	bad.path = NULL;
	cr_expect_eq(fx_symspace_add_module(space, &bad), -EINVAL);
	bad.path = "";
	cr_expect_eq(fx_symspace_add_module(space, &bad), -EINVAL);
	bad = copy;
	bad.end = bad.start;
	cr_expect_eq(fx_symspace_add_module(space, &bad), -EINVAL);
	bad = copy;
	bad.build_id_size = FX_BUILD_ID_MAX + 1;
	cr_expect_eq(fx_symspace_add_module(space, &bad), -EINVAL);
	bad.build_id_size = 0;
	cr_expect_eq(fx_symspace_add_module(space, &bad), -EINVAL);
	cr_expect_eq(count().files, 0);
}

Test(files, too_many_modules)
{
	struct fx_symbol_module module = {.path = "[none]", .end = 1};
	int error = 0;
	uint32_t added = 0;
	for (; !error && added <= 65536; added++, module.start++, module.end++)
		error = fx_symspace_add_module(space, &module);
	cr_expect_eq(error, -ENOSPC);
	cr_expect_eq(fx_symspace_moment(space), 65536);
}

/* Files that wait hold few descriptors, and those that were closed again still give names. */
Test(files, few_stay_open)
{
	size_t before = count_descriptors();
	char path[3 * FX_OPEN_FILES][160];
	for (uint64_t i = 0; i < 3 * FX_OPEN_FILES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%d", directory, (int)i);
		cr_assert_eq(link(copy_path, path[i]), 0);
		struct fx_symbol_module module = copy;
		module.path = path[i];
		module.bias += i << 32;
		module.start += i << 32;
		module.end += i << 32;
		add(&module);
	}
	cr_expect_leq(count_descriptors(), before + FX_OPEN_FILES);
	cr_expect_str_eq(world_text(space, main_address), "main");
	fx_symspace_destroy(space);
	space = NULL;
	cr_expect_eq(count_descriptors(), before);
}

/* Tables that nobody uses go when they are too many. */
Test(files, idle_tables_are_dropped)
{
	cache->idle_limit = 1;
	add(&copy);
	cr_expect_str_eq(world_text(space, main_address), "main");
	fx_symspace_destroy(space);
	cr_expect_gt(count().table_bytes, 0, "the one idle last is kept");

	struct fx_symbol second;
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	world_add_modules(&world, space);
	fx_symspace_resolve(space, main_address, &second);
	uint64_t both = count().table_bytes;
	fx_symspace_destroy(space);
	cr_expect_lt(count().table_bytes, both);
	cr_expect_gt(count().table_bytes, 0, "the last one is kept");

	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	add(&copy);
	cr_expect_str_eq(world_text(space, main_address), "main");
	cr_expect_eq(count().loads, 3);
}

/* However many files were named, those that nobody uses any more are forgotten but for some. */
Test(files, unused_ones_are_freed)
{
	for (int i = 0; i < 3 * (int)FX_IDLE_FILES; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/nowhere/%d", i);
		struct fx_symbol_module module = copy;
		module.path = path;
		fx_symspace_destroy(space);
		cr_assert_eq(fx_symspace_create(cache, &space), 0);
		add(&module);
		cr_assert_leq(count().files, FX_IDLE_FILES + 1);
	}
	/* Those that are used stay. */
	for (int i = 0; i < 3 * (int)FX_IDLE_FILES; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/nowhere/%d", i);
		struct fx_symbol_module module = copy;
		module.path = path;
		add(&module);
	}
	cr_expect_geq(count().files, 3 * FX_IDLE_FILES);
}

Test(files, have_a_limit_for_each)
{
	fx_symbol_cache_limit(cache, 1000, 0);
	add(&copy);
	expect_problem(FX_SYMBOL_FILE_TOO_LARGE);
}

/* What one user's files take together is bounded; those that nobody uses give way. */
Test(files, have_a_limit_together)
{
	struct fx_symspace *other;
	world_add_modules(&world, space);
	cr_assert_str_eq(world_text(space, main_address), "main");
	fx_symbol_cache_limit(cache, 0, count().table_bytes);

	cr_assert_eq(fx_symspace_create(cache, &other), 0);
	cr_assert_eq(fx_symspace_add_module(other, &copy), 0);
	cr_expect_eq(strncmp(world_text(other, main_address), "copy+0x", 7), 0);
	struct fx_symbol_problem problem;
	cr_assert(fx_symbol_cache_next_problem(cache, &problem));
	cr_expect_eq(problem.kind, FX_SYMBOL_FILE_BEYOND);
	cr_expect_str_eq(problem.path, copy.path);

	/* The same under another name, when the first is not used any more. */
	fx_symspace_destroy(space);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	char path[160];
	snprintf(path, sizeof(path), "%s/other", directory);
	cr_assert_eq(link(copy_path, path), 0);
	copy.path = path;
	add(&copy);
	cr_expect_str_eq(world_text(space, main_address), "main");
	fx_symspace_destroy(other);
}

/* A file that is read apart is not waited for by whoever asks for a name. */
static void expect_named_apart(void)
{
	cr_assert(fx_symspace_want(space, UINT32_MAX, main_address));
	while (!fx_symspace_is_ready(space))
		usleep(1000);
	cr_expect_str_eq(world_text(space, main_address), "main");
}

Test(files, read_apart, .timeout = 60)
{
	struct fx_loader *loader;
	cr_assert_eq(fx_loader_start(&loader), 0);
	fx_symbol_cache_load_apart(cache, loader);
	add(&copy);
	cr_expect(fx_symspace_is_ready(space), "nothing was wanted");
	cr_expect_not(fx_symspace_want(space, UINT32_MAX, 1), "in no module");
	expect_named_apart();
	cr_expect_eq(count().loads, 1);
	fx_symspace_destroy(space);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	add(&copy);
	cr_assert(fx_symspace_want(space, UINT32_MAX, main_address));
	cr_expect(fx_symspace_is_ready(space), "it was kept");
	fx_loader_stop(loader);
}

/* A loader that never answers: what is wanted is given up in time, and each asks for names for so long at most. */
Test(files, never_read, .timeout = 60)
{
	int pair[2];
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	struct fx_loader loader = {.socket = pair[0]};
	fx_symbol_cache_load_apart(cache, &loader);
	cache->wait_ns = UINT64_C(3600) * 1000000000;
	add(&copy);
	cr_expect_eq(strncmp(world_text(space, main_address), "copy+0x", 7), 0, "nobody waits");
	cr_assert(fx_symspace_want(space, UINT32_MAX, main_address));
	cr_expect_not(fx_symspace_is_ready(space));
	/* Another process wants the same, and another file: it waits as well, and not for more than it wants. */
	struct fx_symspace *other, *third;
	cr_assert_eq(fx_symspace_create(cache, &other), 0);
	cr_assert_eq(fx_symspace_create(cache, &third), 0);
	cr_assert_eq(fx_symspace_add_module(other, &copy), 0);
	cr_assert_eq(fx_symspace_add_module(third, &copy), 0);
	cr_assert(fx_symspace_want(other, UINT32_MAX, main_address));
	cr_expect_not(fx_symspace_is_ready(other));
	cr_expect(fx_symspace_is_ready(third));
	fx_symspace_destroy(third);

	cache->wait_ns = 0;
	cr_expect(fx_symspace_is_ready(space));
	cr_expect(fx_symspace_is_ready(other));
	/* Once it was given up, it is not waited for again. */
	cache->wait_ns = UINT64_C(3600) * 1000000000;
	cr_assert(fx_symspace_want(space, UINT32_MAX, main_address));
	cr_expect(fx_symspace_is_ready(space));
	fx_symspace_destroy(other);

	/* Whoever goes takes what was begun for it along. */
	size_t before = count_descriptors();
	fx_symspace_destroy(space);
	cr_expect_eq(count_descriptors(), before - 2);
	cr_expect_eq(count().files, 0);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
	close(pair[0]);
	close(pair[1]);
}

/* Of what its maker has open, the starter has nothing when it is there: a lock ends with its maker's descriptor. */
Test(files, the_starter_holds_no_locks, .timeout = 60)
{
	struct flock lock = {.l_type = F_WRLCK};

	for (int i = 0; i < 20; i++) {
		struct fx_loader *loader;
		int held = open(copy_path, O_RDWR | O_CLOEXEC), other;

		cr_assert_geq(held, 0);
		cr_assert_eq(fcntl(held, F_OFD_SETLK, &lock), 0);
		cr_assert_eq(fx_loader_start(&loader), 0);
		close(held);
		other = open(copy_path, O_RDWR | O_CLOEXEC);
		cr_assert_eq(fcntl(other, F_OFD_SETLK, &lock), 0, "round %d: %s", i,
			     strerror(errno));
		close(other);
		fx_loader_stop(loader);
	}
}
