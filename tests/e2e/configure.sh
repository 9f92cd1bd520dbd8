#!/bin/bash
# SPDX-License-Identifier: MIT
# What configure refuses, each with one line that says why.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

[ -x "$FX_SRCDIR/configure" ] || skip "there is no configure in $FX_SRCDIR"
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS

# refused WHY OPTION...
refused() {
	local why=$1

	shift
	rm -rf build
	mkdir build
	expect_status 1 sh -c 'cd build && exec "$@"' - "$FX_SRCDIR/configure" --quiet "$@"
	grep -v '^configure: WARNING' err >said
	expect_equal 1 "$(grep -c . said)" "lines of: configure $*"
	expect_line "^configure: error: .*$why" said
}

# features NAME: the C library's header of that name, as another library's would be, in a folder NAME.
features() {
	mkdir "$1"
	{
		echo '#include_next <features.h>'
		cat
	} >"$1/features.h"
}

for cpu in riscv64 i686 armv7l aarch64_be powerpc64le s390x; do
	refused "not on $cpu" --host=$cpu-linux-gnu
done

# The same processor with 32-bit words. The compiler need not have libraries for them: it links as ever.
if echo 'int x;' | $FX_CC -m32 -x c -c -o x.o - 2>/dev/null; then
	cat >narrow <<-END
		#!/bin/sh
		case " \$* " in
		*' -c '* | *' -E '*) exec $FX_CC -m32 "\$@" ;;
		*) exec $FX_CC "\$@" ;;
		esac
	END
	chmod +x narrow
	refused '64-bit target' CC="$PWD/narrow"
else
	echo "$FX_CC makes no 32-bit programs: that they are refused is not tried"
fi

# Another C library, as its headers tell, and one that is too old.
echo '#undef __GLIBC__' | features other
printf '#undef __GLIBC_MINOR__\n#define __GLIBC_MINOR__ 30\n' | features old
for libc in other old; do
	refused 'GNU C library, 2.31 or later' CC="$FX_CC" CPPFLAGS="-I$PWD/$libc"
done
if command -v musl-gcc >/dev/null; then
	refused 'GNU C library' CC=musl-gcc
else
	echo "musl-gcc is not installed: musl itself is not tried"
fi

# Headers of a kernel that is too old.
mkdir -p kernel/linux
{
	echo '#include_next <linux/version.h>'
	echo '#undef LINUX_VERSION_CODE'
	echo '#define LINUX_VERSION_CODE KERNEL_VERSION(5, 3, 255)'
} >kernel/linux/version.h
refused 'headers of Linux 5.4' CC="$FX_CC" CPPFLAGS="-I$PWD/kernel"
