#!/bin/bash
# SPDX-License-Identifier: MIT
# A module's own search path counts for what it loads, as if dlopen had no wrapper; and both ways of
# recording show the path.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

mkdir -p lib/plugins
echo 'int answer(void) { return 42; }' >inner.c
cat >outer.c <<'EOC'
#include <dlfcn.h>
#include <stdio.h>

void load(const char *path)
{
	void *inner = dlopen(path, RTLD_NOW);

	printf("%s: %s\n", path, inner ? "found" : dlerror());
}
EOC
cat >main.c <<'EOC'
#include <dlfcn.h>
#include <stdio.h>

void load(const char *path);

int main(void)
{
	load("libinner.so");
	load("$ORIGIN/plugins/libinner.so");
	load("lib/plugins/libinner.so");
	load("libdoes-not-exist.so");
	printf("%d\n", dlopen(NULL, RTLD_NOW) != NULL);
	printf("%d\n", dlopen("libinner.so", RTLD_NOW | RTLD_NOLOAD) != NULL);
	return 0;
}
EOC
compile lib/plugins/libinner.so -shared -fPIC inner.c
# shellcheck disable=SC2016 # for the dynamic linker
compile lib/libouter.so -shared -fPIC outer.c -Wl,--enable-new-dtags,-rpath,'$ORIGIN/plugins' -ldl
compile main main.c -Llib -louter -ldl
LD_LIBRARY_PATH=$PWD/lib
export LD_LIBRARY_PATH

expect_unharmed 0 ./main
expect_line '^libinner.so: found$' traced.out
expect_ok "$FXTRACE" dump trace.fxt
expect_line 'type=instant.*name="dlopen".*"path":string="libinner.so"' out
expect_line 'type=instant.*name="dlopen".*"path":string="\$ORIGIN/plugins/libinner.so"' out
expect_line 'type=complete.*name="dlopen".*"path":string="lib/plugins/libinner.so", "mode":string="RTLD_NOW"' out
