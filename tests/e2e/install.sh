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

places=(prefix=/usr exec_prefix=/usr bindir=/usr/bin libdir=/usr/lib includedir=/usr/include
	pkgconfigdir=/usr/lib/pkgconfig datadir=/usr/share datarootdir=/usr/share mandir=/usr/share/man
	docdir=/usr/share/doc/fxtrace)
make_build "${places[@]}" install
root=$TEST_DIR/dest/usr

expect_ok "$root/bin/fxtrace" --version
for file in fxtrace/libfxtrace.so libfxtrace.so libfxtrace-reader.so libfxtrace-provider.so libfxtrace-provider.a \
	pkgconfig/fxtrace-reader.pc pkgconfig/fxtrace-provider.pc pkgconfig/fxtrace.pc \
	cmake/fxtrace/fxtrace-config.cmake cmake/fxtrace/fxtrace-config-version.cmake; do
	[ -s "$root/lib/$file" ] || fail "$file is not installed"
done
expect_equal "" "$(find dest -name '*.la')" "libtool's files"
for alias in "$FX_BUILDDIR"/fxtrace-*; do
	[ -L "$alias" ] || continue
	expect_ok "$root/bin/${alias##*/}" --help
done

for file in bash-completion/completions/fxtrace zsh/site-functions/_fxtrace fish/vendor_completions.d/fxtrace.fish \
	bash-completion/completions/fxtrace-run fish/vendor_completions.d/fxtrace-run.fish \
	applications/fxtrace.desktop mime/packages/fxtrace.xml fxtrace/fxtrace.magic; do
	[ -s "$root/share/$file" ] || fail "$file is not installed"
done

# --- What is installed is of use -------------------------------------------------------------------

# By its name alone, as the dynamic linker looks for it, and from where it is.
expect_ok "$root/bin/fxtrace" run -q -o run.fxt -- true
LD_LIBRARY_PATH=$root/lib LD_PRELOAD=libfxtrace.so FXTRACE_OUTPUT=$PWD/name.fxt expect_ok env ls
# So does its cache, in a folder that has to stand there.
if PATH=$PATH:/sbin:/usr/sbin command -v ldconfig >/dev/null; then
	echo "$root/lib" >places
	PATH=$PATH:/sbin:/usr/sbin ldconfig -X -f places -C cache 2>cache.err || fail "ldconfig: $(cat cache.err)"
	PATH=$PATH:/sbin:/usr/sbin ldconfig -C cache -p >cached
	expect_line "libfxtrace.so .*=> $root/lib/libfxtrace.so$" cached
	expect_line "libfxtrace-reader.so.* => $root/lib/libfxtrace-reader.so" cached
fi
LD_PRELOAD=$root/lib/fxtrace/libfxtrace.so FXTRACE_OUTPUT=$PWD/path.fxt expect_ok env ls
for archive in name.fxt path.fxt; do
	wait_archive "$archive" || fail "$archive is missing, or not complete"
done
expect_clean run.fxt

# Nothing that is written to at run time decides where calls go.
for file in bin/fxtrace lib/fxtrace/libfxtrace.so lib/libfxtrace-provider.so lib/libfxtrace-reader.so; do
	readelf -lW "$root/$file" >segments
	expect_line GNU_RELRO segments
	readelf -dW "$root/$file" >dynamic
	expect_line 'BIND_NOW|Flags:.*NOW' dynamic
	expect_no_line 'RPATH|RUNPATH' dynamic
done

# The documents' links and pictures are there.
find "$root/share/doc/fxtrace" -name '*.md' >documents
while IFS= read -r document; do
	grep -oE '\]\([^)#:]+\)' "$document" | sed 's/^](//; s/)$//' >links
	while IFS= read -r link; do
		[ -s "${document%/*}/$link" ] || fail "${document#"$root"/}: $link is not installed"
	done <links
done <documents
expect_line 'README.md$' documents

if command -v file >/dev/null; then
	file -m "$root/share/fxtrace/fxtrace.magic" run.fxt >known
	expect_line 'Fuchsia trace' known
fi

# The examples are built as their Makefile says.
if command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$root/lib/pkgconfig make -s -f "$root/share/doc/fxtrace/examples/Makefile" CC="$FX_CC" \
		PKG_CONFIG="pkg-config --define-variable=prefix=$root --define-variable=libdir=$root/lib" >make.out 2>&1 ||
		fail "examples:"$'\n'"$(tail -n 20 make.out)"
	expect_ok "$root/bin/fxtrace" run -q -o demo.fxt -- ./demo
	expect_line '^24 loaves baked and delivered$' out
	LD_LIBRARY_PATH=$root/lib expect_ok ./longest demo.fxt
	expect_equal 10 "$(grep -c ' ms  ' out)" "calls that longest shows"
	expect_ok "$root/bin/fxtrace" run -q -o late.fxt -m circular --trigger late-frame:snapshot -- ./late
	[ -s late.1.fxt ] || fail "the late frame made no snapshot"
	expect_clean demo.fxt late.fxt late.1.fxt
	LD_LIBRARY_PATH=$root/lib expect_ok ./totals demo.fxt
	expect_line '^ *[0-9.]+ ms  function +demo \([0-9]+\)$' out
	printf '%s\n' 'boot kernel 0 1500' 'boot services 1500 900' 'login shell 2400 10' >lines.in
	LD_LIBRARY_PATH=$root/lib expect_ok ./lines lines.fxt.gz <lines.in
	expect_clean lines.fxt.gz
	expect_ok "$root/bin/fxtrace" replay --no-pager lines.fxt.gz
	expect_line 'services' out
	# A program that is a provider by itself, with nothing preloaded: linked with either library.
	pkg_config=(pkg-config --define-variable=prefix="$root" --define-variable=libdir="$root/lib")
	export PKG_CONFIG_PATH=$root/lib/pkgconfig
	# shellcheck disable=SC2046
	compile provider-static "$root/share/doc/fxtrace/examples/provider.c" $("${pkg_config[@]}" --cflags --libs-only-L fxtrace-provider) \
		-Wl,-Bstatic -lfxtrace-provider -Wl,-Bdynamic \
		$("${pkg_config[@]}" --static --libs fxtrace-provider | sed 's/-lfxtrace-provider//')
	unset PKG_CONFIG_PATH
	env -u LD_LIBRARY_PATH ldd ./provider-static >needs
	expect_no_line 'libfxtrace' needs
	. "$FX_SRCDIR/tests/e2e/control.sh"
	FXTRACE=$root/bin/fxtrace manager_start
	for program in provider provider-static; do
		expect_ok "$root/bin/fxtrace" start -c answers -b 4M -o provider.fxt
		LD_LIBRARY_PATH=$root/lib expect_ok ./$program 0.1
		expect_line '^40 questions$' out
		expect_line '^tracing has started$' err
		expect_ok "$root/bin/fxtrace" terminate
		expect_clean provider.fxt
		list_archive provider.fxt
		expect_events 40 'name == "answer" && pid > 0'
		expect_events 40 'name == "sum"'
	done
	manager_stop
	unset XDG_RUNTIME_DIR
	LD_LIBRARY_PATH=$root/lib FXTRACE_SOCKET=$PWD/none expect_ok ./provider 0
	expect_line '^this is not traced: ' err
fi

# The Python package, where there is a python for it.
package=$(find "$root" -path '*/fxtrace/_reader.py' | head -n 1)
if [ -n "$package" ] && command -v python3 >/dev/null && grep -q '^S\["FX_SANITIZE"\]=""' "$FX_BUILDDIR/config.status"; then
	FXTRACE_READER_LIBRARY=$root/lib/libfxtrace-reader.so.0 PYTHONPATH=${package%/fxtrace/_reader.py} \
		LD_LIBRARY_PATH=$root/lib PYTHONDONTWRITEBYTECODE=1 \
		expect_ok python3 "$root/share/doc/fxtrace/examples/waits.py" demo.fxt function
	expect_line '^ *[0-9.]+ ms  Anna' out
fi

# cmake_project COMMAND...: of a program with a C and a C++ file, which has these commands behind its own.
cmake_project() {
	mkdir -p by-cmake
	{
		printf 'cmake_minimum_required(VERSION 3.13)\nproject(x C CXX)\nfind_package(fxtrace REQUIRED)\n'
		printf 'add_executable(both both.c other.cc)\n'
		printf '%s\n' "$@"
	} >by-cmake/CMakeLists.txt
	rm -rf by-cmake-built
	CC=$FX_CC CXX=$FX_CXX cmake -S by-cmake -B by-cmake-built -DCMAKE_PREFIX_PATH="$root" >cmake.out 2>&1
}

# calls_by_cmake: functions of that program that are in a trace of it.
calls_by_cmake() {
	cmake --build by-cmake-built >>cmake.out 2>&1 || fail "cmake:"$'\n'"$(tail -n 20 cmake.out)"
	expect_ok "$root/bin/fxtrace" run -q -o by-cmake.fxt -- by-cmake-built/both
	expect_clean by-cmake.fxt
	list_archive by-cmake.fxt
	awk -F'\t' '$6 == "function" { print $7 }' events | sort | uniq | xargs
}

# A target's functions are traced where its CMakeLists.txt says so.
instrumented_by_cmake() {
	mkdir -p by-cmake
	echo 'int other(int); __attribute__((noinline)) int own(int i) { return i + 1; } int main(void) { return other(own(1)) - 2; }' \
		>by-cmake/both.c
	echo 'extern "C" __attribute__((noinline)) int other(int i) { return i; }' >by-cmake/other.cc
	cmake_project && expect_equal "" "$(calls_by_cmake)" "functions of a program that is not instrumented"
	cmake_project 'fxtrace_instrument(both)' || fail "cmake:"$'\n'"$(tail -n 20 cmake.out)"
	expect_equal "main other own" "$(calls_by_cmake)" "functions with hooks by CMake"
	cmake_project 'fxtrace_instrument(both SOMEHOW)' && fail "it is instrumented somehow"
	expect_line "fxtrace_instrument: 'SOMEHOW': HOOKS" cmake.out
	[ -e "$root/lib/fxtrace/plugin/fxtrace.so" ] && [ "$FX_CC" = gcc ] || return 0
	cmake_project 'fxtrace_instrument(both PLUGIN no-functions=own)' || fail "cmake:"$'\n'"$(tail -n 20 cmake.out)"
	expect_equal "main other" "$(calls_by_cmake)" "functions with the plugin by CMake"
	cmake_project 'fxtrace_instrument(both PLUGIN none=own)' && fail "the plugin has any argument"
	expect_line "'none=own': there is no such argument of the plugin" cmake.out
}

# CMake finds what pkg-config does.
if command -v cmake >/dev/null && command -v pkg-config >/dev/null; then
	cp -r "$root/share/doc/fxtrace/examples" cmake-examples
	CC=$FX_CC CXX=$FX_CXX cmake -S cmake-examples -B cmake-build -DCMAKE_PREFIX_PATH="$root" >cmake.out 2>&1 &&
		cmake --build cmake-build >>cmake.out 2>&1 || fail "cmake:"$'\n'"$(tail -n 20 cmake.out)"
	for program in longest totals; do
		expect_ok cmake-build/$program demo.fxt
		LD_LIBRARY_PATH=$root/lib ./$program demo.fxt >pkg-config.out 2>&1
		expect_same_file pkg-config.out out
	done
	printf 'cmake_minimum_required(VERSION 3.13)\nproject(x C)\nfind_package(fxtrace 99 REQUIRED)\n' >CMakeLists.txt
	expect_status 1 cmake -S . -B cmake-none -DCMAKE_PREFIX_PATH="$root"
	instrumented_by_cmake
fi

# Each function of the reader library has its page.
while read -r name; do
	page=$(sed -n 's/^\.so //p' "$root/share/man/man3/$name.3")
	grep -qF "$name(" "$root/share/man/$page" || fail "$name has no page"
done < <(sed -n 's/^\t\(fxt_.*\);$/\1/p' "$FX_SRCDIR/format/libfxtrace-reader.map")

while read -r name; do
	page=$(sed -n 's/^\.so //p' "$root/share/man/man3/$name.3")
	grep -qF "$name(" "$root/share/man/$page" || fail "$name has no page"
done < <(sed -n 's/^\t\(fxtrace_provider_.*\);$/\1/p' "$FX_SRCDIR/provider/libfxtrace-provider.map")

# Every installed header compiles alone, as C and as C++.
for header in "$root"/include/fxtrace/*.hpp; do
	echo "#include <fxtrace/${header##*/}>" >header.cc
	compile header.o -c -std=c++17 -Wall -Wextra -Werror -I "$root/include" header.cc
done
for header in "$root"/include/fxtrace/*.h; do
	echo "#include <fxtrace/${header##*/}>" | tee header.c >header.cc
	compile header.o -c -Wall -Wextra -Werror -I "$root/include" header.c
	compile header.o -c -std=c++17 -Wall -Wextra -Werror -I "$root/include" header.cc
done

# The reader library exports its API and nothing else.
nm -D --defined-only "$root/lib/libfxtrace-reader.so" | awk '{ print $3 }' | sed 's/@.*//' |
	grep -v '^FXTRACE_READER_' >exported
expect_no_line '^(fx_|[^f]|f[^x])' exported

# So does the provider library, shared and static, and brings nothing else of its own.
nm -D --defined-only "$root/lib/libfxtrace-provider.so" | awk '{ print $3 }' | sed 's/@.*//' | grep -v '^FXTRACE_PROVIDER_' | sort >exported
sed -n 's/^\t\([a-z_]*\);$/\1/p' "$FX_SRCDIR/provider/libfxtrace-provider.map" | sort >expected
expect_same_file expected exported
nm -g --defined-only "$root/lib/libfxtrace-provider.a" | awk 'NF == 3 { print $3 }' | sort >exported
expect_same_file expected exported

make_build "${places[@]}" uninstall
expect_equal "" "$(find dest ! -type d)" "files left by make uninstall"
