/* SPDX-License-Identifier: MIT */
/*
 * What names cost: for each ELF file given, the time to read its symbols, their memory, and the time
 * to name an address, the first time (which demangles) and again; at last the cost of one more
 * process that uses the first file. No bar is set: the manager names addresses beside its work.
 */
#include "symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ADDRESSES 1000000
#define PROCESSES 1000

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A file, and where its code lies, by link-time addresses. */
struct subject {
	const char *path;
	uint64_t start;
	uint64_t size;
};

static struct fx_symspace *space_of(struct fx_symbol_cache *cache, const struct subject *subject)
{
	struct fx_symspace *space = NULL;
	struct fx_symbol_module module = {.path = subject->path,
					  .end = subject->start + subject->size};
	if (fx_symspace_create(cache, &space) || fx_symspace_add_module(space, &module)) {
		fprintf(stderr, "symbols: %s: cannot be added\n", subject->path);
		exit(1);
	}
	return space;
}

/* Nanoseconds an address, for addresses all over the module, in no order. */
static double name_all(struct fx_symspace *space, const struct subject *subject,
		       unsigned *ret_named)
{
	*ret_named = 0;
	double start = now_ns();
	for (uint64_t i = 0; i < ADDRESSES; i++) {
		struct fx_symbol symbol;
		uint64_t offset = i * 0x9e3779b97f4a7c15u % subject->size;
		fx_symspace_resolve(space, subject->start + offset, &symbol);
		*ret_named += symbol.kind == FX_SYMBOL_NAMED;
	}
	return (now_ns() - start) / ADDRESSES;
}

static void measure_file(struct fx_symbol_cache *cache, const struct subject *subject)
{
	struct fx_symspace *space = space_of(cache, subject);
	struct fx_symbol_counters before;
	struct fx_symbol_counters after;
	struct fx_symbol symbol;
	unsigned named;
	fx_symbol_cache_count(cache, &before);
	double start = now_ns();
	fx_symspace_resolve(space, 0, &symbol);
	double load = now_ns() - start;
	fx_symbol_cache_count(cache, &after);
	double first = name_all(space, subject, &named);
	double again = name_all(space, subject, &named);
	printf("%s: %" PRIu64 " symbols in %.1f ms, %.1f MB; an address %.0f ns, again %.0f ns "
	       "(%.0f%% named)\n",
	       subject->path, after.symbols - before.symbols, load / 1e6,
	       (double)(after.table_bytes - before.table_bytes) / 1e6, first, again,
	       100.0 * named / ADDRESSES);
	fx_symspace_destroy(space);
}

static void measure_processes(struct fx_symbol_cache *cache, const struct subject *subject)
{
	double start = now_ns();
	for (int i = 0; i < PROCESSES; i++) {
		struct fx_symspace *space = space_of(cache, subject);
		struct fx_symbol symbol;
		fx_symspace_resolve(space, subject->start, &symbol);
		fx_symspace_destroy(space);
	}
	printf("one more process with %s: %.1f us\n", subject->path,
	       (now_ns() - start) / PROCESSES / 1e3);
}

static struct subject subject_of(char **arguments)
{
	return (struct subject){.path = arguments[0],
				.start = strtoull(arguments[1], NULL, 16),
				.size = strtoull(arguments[2], NULL, 16)};
}

int main(int argc, char **argv)
{
	struct fx_symbol_cache *cache;
	if (argc < 4 || (argc - 1) % 3 || fx_symbol_cache_create(NULL, &cache)) {
		fprintf(stderr, "usage: symbols {FILE TEXT-ADDRESS TEXT-SIZE}...\n");
		return 2;
	}
	for (int i = 1; i < argc; i += 3) {
		struct subject subject = subject_of(argv + i);
		measure_file(cache, &subject);
	}
	struct subject first = subject_of(argv + 1);
	measure_processes(cache, &first);
	fx_symbol_cache_destroy(cache);
	return 0;
}
