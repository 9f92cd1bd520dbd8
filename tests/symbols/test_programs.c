/* SPDX-License-Identifier: MIT */
/* Programs in all forms: names against the addresses that the programs themselves printed. */
#include "tests/symbols/world.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world world;
static struct fx_symbol_cache *cache;
static struct fx_symspace *space;

static void open_space(const char *debug_path)
{
	cr_assert_eq(fx_symbol_cache_create(debug_path, &cache), 0);
	cr_assert_eq(fx_symspace_create(cache, &space), 0);
}

static void close_space(void)
{
	fx_symspace_destroy(space);
	fx_symbol_cache_destroy(cache);
}

static void expect_no_problem(void)
{
	struct fx_symbol_problem problem;
	while (fx_symbol_cache_next_problem(cache, &problem))
		cr_expect_fail("%s %s", problem.path, fx_symbol_problem_text(problem.kind));
}

static void expect_program(const char *name, const char *argument)
{
	world_run(&world, name, argument);
	open_space(NULL);
	world_add_modules(&world, space);
	world_expect_names(&world, space);
	expect_no_problem();
	close_space();
}

Test(programs, position_independent)
{
	expect_program("target-pie", NULL);
}

Test(programs, at_a_fixed_address)
{
	expect_program("target-nopie", NULL);
	cr_expect_eq(world_module(&world, "target-nopie")->facts.bias, 0);
}

Test(programs, static_position_independent)
{
	expect_program("target-static-pie", NULL);
}

Test(programs, without_build_id)
{
	expect_program("target-noid", NULL);
	cr_expect_null(world_module(&world, "target-noid")->facts.build_id);
}

Test(programs, cxx_with_a_shared_object)
{
	expect_program("target-cxx", NULL);
}

/* And libc's functions, by the names that programs know. */
Test(programs, shared_object_opened_at_run_time)
{
	expect_program("target-pie", "libtarget.so");
}

Test(programs, debug_file_by_link_and_build_id)
{
	expect_program("target-link", NULL);
}

Test(programs, debug_file_by_link_and_checksum)
{
	expect_program("target-noid-link", NULL);
}

Test(programs, compressed_debug_data)
{
	expect_program("target-mini", NULL);
}

/* DIR/.build-id/xx/rest.debug, for the program that was run, leads to the file. */
static void link_by_build_id(const char *directory, const char *program, const char *debug_name)
{
	const uint8_t *id = world_module(&world, program)->build_id;
	size_t size = world_module(&world, program)->facts.build_id_size;
	char path[256];
	int length = snprintf(path, sizeof(path), "%s/.build-id", directory);
	cr_assert_eq(mkdir(path, 0700), 0);
	length += snprintf(path + length, sizeof(path) - length, "/%02x", id[0]);
	cr_assert_eq(mkdir(path, 0700), 0);
	path[length++] = '/';
	for (size_t i = 1; i < size; i++)
		length += snprintf(path + length, sizeof(path) - length, "%02x", id[i]);
	snprintf(path + length, sizeof(path) - length, ".debug");
	char *debug = world_path(debug_name);
	cr_assert_eq(symlink(debug, path), 0);
	free(debug);
}

static void remove_folder(const char *path)
{
	char command[300];
	snprintf(command, sizeof(command), "rm -r '%s'", path);
	cr_expect_eq(system(command), 0);
}

Test(programs, debug_file_by_build_id)
{
	char directory[] = "/tmp/fxtrace-symbols-XXXXXX";
	cr_assert_not_null(mkdtemp(directory));
	world_run(&world, "target-stripped", NULL);
	link_by_build_id(directory, "target-stripped", "target-pie.debug");

	open_space(directory);
	world_add_modules(&world, space);
	world_expect_names(&world, space);
	expect_no_problem();
	close_space();
	remove_folder(directory);
}

/*
 * A cache of tables asks which debug file there is before any is read. The names stay the same, and so do
 * the descriptors of the caller: 0 among them, which libdwfl takes for a debug file of its own if it is misled.
 */
Test(programs, debug_file_by_build_id_with_a_cache_of_tables)
{
	char directory[] = "/tmp/fxtrace-symbols-XXXXXX", kept[] = "/tmp/fxtrace-kept-XXXXXX";
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_not_null(mkdtemp(kept));
	world_run(&world, "target-stripped", NULL);
	link_by_build_id(directory, "target-stripped", "target-pie.debug");
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cr_assert_geq(dup2(null, 0), 0);

	open_space(directory);
	fx_symbol_cache_keep(cache, kept);
	world_add_modules(&world, space);
	world_expect_names(&world, space);
	expect_no_problem();
	close_space();
	cr_expect_neq(fcntl(0, F_GETFD), -1, "a descriptor of the caller was closed");
	remove_folder(directory);
	remove_folder(kept);
}

Test(programs, stripped_falls_back_to_the_module)
{
	world_run(&world, "target-stripped", NULL);
	const struct fx_symbol_module *module = &world_module(&world, "target-stripped")->facts;
	open_space(NULL);
	world_add_modules(&world, space);
	for (size_t i = 0; i < world.function_count; i++) {
		char expected[64];
		snprintf(expected, sizeof(expected), "target-stripped+0x%" PRIx64,
			 world.functions[i].address - module->bias);
		cr_expect_str_eq(world_text(space, world.functions[i].address), expected);
	}
	expect_no_problem();
	close_space();
}

Test(programs, stripped_shared_object_has_its_exports)
{
	world_run(&world, "target-pie", "libtarget-stripped.so");
	open_space(NULL);
	world_add_modules(&world, space);
	size_t unnamed = 0;
	for (size_t i = 0; i < world.function_count; i++) {
		const char *text = world_text(space, world.functions[i].address);
		if (strstr(world.functions[i].name, "hidden")) {
			unnamed++;
			cr_expect_eq(strncmp(text, "libtarget-stripped.so+0x", 24), 0, "%s", text);
		} else {
			cr_expect_str_eq(text, world.functions[i].name);
		}
	}
	cr_expect_eq(unnamed, 1);
	close_space();
}

Test(programs, vdso_and_unmapped)
{
	if (!getauxval(AT_SYSINFO_EHDR))
		cr_skip_test("the kernel, or who plays it, has no vDSO");
	world_run(&world, "target-pie", NULL);
	open_space(NULL);
	world_add_modules(&world, space);
	const struct fx_symbol_module *vdso = &world_module(&world, "vdso.so.1")->facts;
	cr_expect_str_eq(world_text(space, vdso->start + 0x10), "linux-vdso.so.1+0x10");
	cr_expect_str_eq(world_text(space, 0x7f0000000123), "0x7f0000000123");
	cr_expect_str_eq(world_text(space, 0), "0x0");
	cr_expect_str_eq(world_text(space, UINT64_MAX), "0xffffffffffffffff");
	expect_no_problem();
	close_space();
}

/* A server that would be asked for the debug file of a program that has none. */
static int open_server(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	cr_assert_eq(bind(server, (struct sockaddr *)&address, size), 0);
	cr_assert_eq(listen(server, 8), 0);
	cr_assert_eq(getsockname(server, (struct sockaddr *)&address, &size), 0);
	char url[64];
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	return server;
}

Test(programs, nothing_goes_to_the_network)
{
	int server = open_server();
	world_run(&world, "target-stripped", "libtarget-stripped.so");
	open_space(NULL);
	world_add_modules(&world, space);
	for (size_t i = 0; i < world.function_count; i++)
		world_text(space, world.functions[i].address);
	struct fx_symbol_counters counters;
	fx_symbol_cache_count(cache, &counters);
	cr_expect_eq(counters.loads, 3, "the program, the library and libc");
	struct pollfd poller = {.fd = server, .events = POLLIN};
	cr_expect_eq(poll(&poller, 1, 0), 0);
	close(server);
	close_space();
}
