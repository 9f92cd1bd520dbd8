#!/bin/sh
# SPDX-License-Identifier: MIT
# old-libc.sh [TEST...]: builds everything in a Debian 11, whose C library is the oldest that is supported (glibc 2.31),
# and runs the core of the suite there, or these tests of it; prints totals. Exit status 0: nothing was found; 77: this
# machine cannot.
#
# The system is made by debootstrap, in build-debian11/root or where FX_DEBIAN11 says, and entered by chroot, with mounts
# that nobody else sees. Its kernel is this machine's.
set -u
cd "$(dirname "$0")/.." || exit 99
top=$PWD
where='Debian 11'
dir=$top/build-debian11
root=${FX_DEBIAN11:-$dir/root}
mirror=${FX_DEBIAN_MIRROR:-http://deb.debian.org/debian}

packages='binutils,dash,file,g++,gcc,gawk,libc6-dev,libcriterion-dev,libdw-dev,libelf-dev,libiberty-dev,
libprotobuf-c-dev,libncurses-dev,libsqlite3-dev,libtool,libunwind-dev,libzstd-dev,make,perl,pkg-config,procps,protobuf-c-compiler,python3,
uthash-dev,util-linux,xz-utils,zlib1g-dev,zstd'

# Tests that are not run, and why not.
skipped='
tests/e2e/configure.sh	says nothing of the C library
tests/e2e/completion.sh	says nothing of the C library
tests/e2e/doctor.sh	looks at the machine, which is another
tests/e2e/install.sh	installs, which says nothing of the C library
tests/e2e/real-*.sh	trace programs of this machine
tests/e2e/suites.sh	traces programs of this machine
tests/e2e/counts.sh	before glibc 2.35 real functions are asked for by dlsym, which touches more of libc
tests/preload/twice.sh	nm shortens the names of lambdas, the demangler of a newer libiberty beside it does not
tests/lint/*.sh	are the same everywhere
'

. tests/elsewhere.sh

make_root() {
	[ ! -f "$root/.made" ] || return 0
	rm -rf "$root"
	mkdir -p "$root"
	debootstrap --variant=minbase --include="$(printf '%s' "$packages" | tr -d '\n')" bullseye "$root" "$mirror" \
		>"$dir/root.log" 2>&1 || {
		tail -n 3 "$dir/root.log"
		return 1
	}
	: >"$root/.made"
}

# enter COMMAND...: in it, with the tree at its own place.
enter() {
	mount -t tmpfs tmpfs "$root/tmp" &&
		mkdir -p "$root$top" &&
		mount --bind "$top" "$root$top" &&
		mount --rbind /dev "$root/dev" &&
		mount --rbind /sys "$root/sys" &&
		mount -t proc proc "$root/proc" ||
		exit 77
	# shellcheck disable=SC2016 # the other shell expands it
	exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb TMPDIR=/tmp LC_ALL=C.UTF-8 FX_TEST_LIMIT="${FX_TEST_LIMIT:-1800}" \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c 'cd "$0" && exec "$@"' "$top" "$@"
}

# within COMMAND...
within() {
	unshare -m --propagation private sh "$top/tests/old-libc.sh" --enter "$@"
}

made_before_its_sources() {
	[ -n "$(find . -name 'build*' -prune -o \( -name '*.am' -o -name configure.ac -o -path './m4/*.m4' \) -newer Makefile.in -print)" ]
}

configure_there() {
	# shellcheck disable=SC2016 # the other shell expands it
	within sh -c 'cd "$0" && ../configure -q --enable-werror' "$dir"
}

make_there() {
	within make -C "$dir" "$@"
}

if [ "${1-}" = --enter ]; then
	shift
	enter "$@"
fi
[ "$(id -u)" -eq 0 ] || cannot "a system of its own is made by root alone"
command -v debootstrap >/dev/null || cannot "debootstrap is not installed"
mkdir -p "$dir"
# Debian 11 has no automake: what it is to run is made here, anew where something is newer.
{ [ -x configure ] && ! made_before_its_sources; } || ./bootstrap >/dev/null || exit 1
make_root || die "cannot make a Debian 11 in $root"
within true || cannot "it cannot be entered"
build || die "the build failed"
run "$@"
