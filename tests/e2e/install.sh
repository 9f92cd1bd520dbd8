#!/bin/bash
# SPDX-License-Identifier: MIT
# What `make install' puts where, whether it works from there, and that `make uninstall' takes all
# of it away again.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# The variables of the make that runs this test are not for this one.
unset MAKEFLAGS MFLAGS MAKELEVEL
make_build() {
	make --no-print-directory -s -C "$FX_BUILDDIR" DESTDIR="$TEST_DIR/dest" "$@" >make.out 2>&1 ||
		fail "make $*:"$'\n'"$(tail -n 20 make.out)"
}

make_build prefix=/usr exec_prefix=/usr bindir=/usr/bin libdir=/usr/lib includedir=/usr/include \
	pkgconfigdir=/usr/lib/pkgconfig datadir=/usr/share mandir=/usr/share/man install
root=$TEST_DIR/dest/usr

expect_ok "$root/bin/fxtrace" --version
[ -s "$root/lib/libfxtrace.so" ] || fail "libfxtrace.so is not installed"
[ -s "$root/lib/libfxtrace-reader.so" ] || fail "libfxtrace-reader.so is not installed"
[ -s "$root/lib/pkgconfig/fxtrace-reader.pc" ] || fail "fxtrace-reader.pc is not installed"
for alias in "$FX_BUILDDIR"/fxtrace-*; do
	[ -L "$alias" ] || continue
	expect_ok "$root/bin/${alias##*/}" --help
done

for file in bash-completion/completions/fxtrace zsh/site-functions/_fxtrace fish/vendor_completions.d/fxtrace.fish \
	bash-completion/completions/fxtrace-run fish/vendor_completions.d/fxtrace-run.fish; do
	[ -s "$root/share/$file" ] || fail "$file is not installed"
done

# Every installed header compiles alone, as C and as C++.
for header in "$root"/include/fxtrace/*.h; do
	echo "#include <fxtrace/${header##*/}>" | tee header.c >header.cc
	compile header.o -c -Wall -Wextra -Werror -I "$root/include" header.c
	compile header.o -c -Wall -Wextra -Werror -I "$root/include" header.cc
done

# The reader library exports its API and nothing else.
nm -D --defined-only "$root/lib/libfxtrace-reader.so" | awk '{ print $3 }' | sed 's/@.*//' |
	grep -v '^FXTRACE_READER_' >exported
expect_no_line '^(fx_|[^f]|f[^x])' exported

make_build prefix=/usr exec_prefix=/usr bindir=/usr/bin libdir=/usr/lib includedir=/usr/include \
	pkgconfigdir=/usr/lib/pkgconfig datadir=/usr/share mandir=/usr/share/man uninstall
expect_equal "" "$(find dest ! -type d)" "files left by make uninstall"
