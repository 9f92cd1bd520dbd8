#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries that were linked for an address, as prelinked ones are, are unloaded, replaced on the disk, and loaded again in the
# same place: no function has the name of another that came to its address.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# made NAME FILE: a library with a function of that name, for a place that is free in every process.
made() {
	printf 'void *%s(void)\n{\n\treturn (void *)%s;\n}\n' "$1" "$1" >library.c
	compile "$2" -shared -fPIC -finstrument-functions -Wl,--build-id -Wl,-Ttext-segment=0x40000000 library.c
}
made first_there library.so
made second_there other.so
made third_there third.so

cat >loads.c <<'END_OF_C'
#include <dlfcn.h>
#include <stdio.h>

static void *called(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW), *(*function)(void), *at;

	if (!library)
		return NULL;
	function = (void *(*)(void))dlsym(library, name);
	at = function ? function() : NULL;
	dlclose(library);
	return at;
}

int main(void)
{
	void *first = called("./library.so", "first_there"), *second = called("./other.so", "second_there"), *third;

	if (rename("third.so", "library.so") < 0)
		return 2;
	third = called("./library.so", "third_there");
	printf("%d %d\n", first && first == second && second == third, (unsigned long)first >> 24 == 0x40);
	return 0;
}
END_OF_C
compile loads loads.c -ldl
expect_ok traced -- ./loads
# Elsewhere nothing would be shown.
if [ "$(cat out)" != "1 1" ]; then
	skip "libraries do not come where they were linked for: $(cat out)"
fi
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'category == "function" && name == "second_there"'
expect_events 1 'category == "function" && name == "third_there"'
# The manager may have come too late to open the file that is gone: then it is an address in it, and no other file's name.
expect_events 1 'category == "function" && (name == "first_there" || name ~ /^library[.]so[+]0x4/)'
expect_events 3 'category == "function" && name !~ /^(main|called)$/'
