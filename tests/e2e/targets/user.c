/* SPDX-License-Identifier: MIT */
/*
 * user LIBRARY: calls named_function() of the library (named.c), which it opens itself, uses and
 * closes again; or is linked with, if LINKED is defined. Compile with -finstrument-functions.
 */
#include <dlfcn.h>
#include <stddef.h>

#ifdef LINKED
void named_function(void);
#endif

int main(int argc, char **argv)
{
#ifdef LINKED
	(void)argc;
	(void)argv;
	named_function();
#else
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*function)(void) = library ? (void (*)(void))dlsym(library, "named_function") : NULL;

	if (!function)
		return 1;
	function();
	dlclose(library);
#endif
	return 0;
}
