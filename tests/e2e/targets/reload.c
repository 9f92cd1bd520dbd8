/* SPDX-License-Identifier: MIT */
/*
 * reload LIBRARY...: loads one after the other, calls its named_function() (named.c), and unloads it. Prints
 * how many of them lay where the first was. Compile with -finstrument-functions.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *first = NULL;
	int same = 0;

	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		void *function = library ? dlsym(library, "named_function") : NULL;

		if (!function)
			return 1;
		first = first ? first : function;
		same += function == first;
		((void (*)(void))function)();
		dlclose(library);
	}
	printf("%d\n", same);
	return 0;
}
