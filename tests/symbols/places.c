/* SPDX-License-Identifier: MIT */
/* places FILE <ADDRESSES: for each link-time address of a file, a line: itself, and where its code comes from, as
 * FUNCTION\tFILE:LINE, those that are inlined first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/symbols.h"

int main(int argc, char **argv)
{
	struct fx_symbol_place places[FX_SYMBOL_PLACES_MAX];
	char *path = argc == 2 ? realpath(argv[1], NULL) : NULL;
	struct fx_symbol_module module = {.path = path, .end = UINT64_MAX};
	struct fx_symbol_cache *cache;
	struct fx_symspace *space;
	uint64_t address;

	if (!path || fx_symbol_cache_create(NULL, &cache) < 0)
		return 2;
	fx_symbol_cache_want_lines(cache);
	if (fx_symspace_create(cache, &space) < 0 || fx_symspace_add_module(space, &module) < 0)
		return 2;
	while (scanf("%" SCNx64, &address) == 1) {
		struct fx_symbol symbol;
		unsigned count;

		fx_symspace_resolve(space, address, &symbol);
		count = fx_symspace_places_at(space, fx_symspace_moment(space), address, places);
		printf("%" PRIx64, address);
		for (unsigned i = 0; i < count; i++)
			printf("\t%s\t%s:%u",
			       places[i].function ? places[i].function
			       : symbol.name	  ? symbol.name
						  : "?",
			       places[i].file, places[i].line);
		putchar('\n');
	}
	fx_symspace_destroy(space);
	fx_symbol_cache_destroy(cache);
	free(path);
	return 0;
}
