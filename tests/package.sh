#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh BUILDDIR: has dpkg-buildpackage make Debian's packages of a release of this tree, asks lintian about them, installs
# them into a system that has never seen fxtrace, runs debian/tests there, and takes them away again. Exit status 0: nothing was
# found; 77: this machine cannot. The packages stay in FX_ROOTS, or build-roots, as packages/.
#
# FX_TWICE=1: once more, in another folder and at another time, and the packages shall be the same. FX_RPM=1: rpmbuild makes
# RPM's as well, of what the Debian system has.
set -u
cd "$(dirname "$0")/.." || exit 99
top=$PWD
. tests/roots.sh
alone "$@"

builddir=${1:?}
version=$(sed -n 's/^AC_INIT(\[fxtrace\], \[\(.*\)\])$/\1/p' configure.ac)
packages=$roots/packages
tools='debhelper dpkg-dev fakeroot lintian'
[ -z "${FX_RPM-}" ] || tools="$tools rpm"

# The builder has what debian/control names, until that changes.
make_builder() {
	needed=$(cksum <debian/control)${FX_RPM-}
	[ "$needed" = "$(cat "$roots/builder.kept" 2>/dev/null)" ] || rm -f "$roots/builder.kept"
	layer builder
	[ ! -f "$roots/builder.kept" ] || {
		remember builder
		return
	}
	mkdir -p "$roots/builder/src/debian" && cp debian/control debian/changelog "$roots/builder/src/debian" &&
		apt_get builder update &&
		apt_get builder install $tools &&
		apt_get builder build-dep ./src &&
		printf '%s' "$needed" >"$roots/builder.kept" &&
		remember builder
}

# unpack FOLDER: a release of this tree in the builder.
unpack() {
	rm -rf "${roots:?}/builder$1"
	mkdir -p "$roots/builder$1" &&
		cp "$builddir/fxtrace-$version.tar.xz" "$roots/builder$1/fxtrace_$version.orig.tar.xz" &&
		tar -xf "$builddir/fxtrace-$version.tar.xz" -C "$roots/builder$1"
}

# In the builder: a user builds, with two processes.
build_in() {
	within builder sh -c '
		id builder >/dev/null 2>&1 || useradd -m builder
		chown -R builder "$0" && cd "$0"/fxtrace-* &&
		exec setpriv --reuid=builder --regid=builder --init-groups \
			env HOME="$0" DEB_BUILD_OPTIONS=parallel=2 dpkg-buildpackage -us -uc' "$1"
}

# Shown overrides count for lintian's own status.
lint() {
	within builder sh -c 'cd "$0" && exec setpriv --reuid=builder --regid=builder --init-groups \
		lintian --no-cfg --profile debian --show-overrides --fail-on none fxtrace_*.changes' "$1" &&
		! grep -q '^[EW]:' "$roots/lintian.log"
}

same_again() {
	sleep 1
	unpack /again && logged "$roots/again.log" build_in /again || return 1
	for package in "$roots"/builder/package/*.deb; do
		cmp "$package" "$roots/builder/again/${package##*/}" || return 1
	done
}

build_rpms() {
	unpack /rpm && within builder sh -c '
		cd /rpm && mkdir -p SOURCES && cp fxtrace_*.orig.tar.xz SOURCES/fxtrace-"$0".tar.xz &&
		rpmbuild -ba --nodeps --define "_topdir /rpm" fxtrace-"$0"/packaging/fxtrace.spec' "$version"
}

# What debian/tests/control says.
tests_of() {
	sed -n 's/^Tests: //p' debian/tests/control
}

depends_of() {
	awk -v RS= -v name="$1" '$0 ~ "^Tests: " name "\n"' debian/tests/control | sed -n 's/^Depends: //p' | tr -d ','
}

# As autopkgtest does: each test in a system that has what it depends on, and no more.
test_packages() {
	status=0
	for test in $(tests_of); do
		layer tester
		mkdir -p "$roots/tester/packages" "$roots/tester/tests" "$roots/tester/tmp/$test" &&
			cp "$packages"/*.deb "$roots/tester/packages" &&
			cp debian/tests/* "$roots/tester/tests" &&
			logged "$roots/$test.log" apt_get tester update || return 1
		names=
		for name in $(depends_of "$test"); do
			set -- "$packages/${name}_"*.deb
			[ ! -f "$1" ] || name=/packages/${1##*/}
			names="$names $name"
		done
		# What libfxtrace-dev depends on is among the packages, too.
		case $test in
		develop) names="$names $(cd "$packages" && ls libfxtrace-provider0_*.deb libfxtrace-reader0_*.deb | sed 's|^|/packages/|')" ;;
		esac
		if logged "$roots/$test.log" apt_get tester install $names &&
			logged "$roots/$test.log" within tester env AUTOPKGTEST_TMP="/tmp/$test" "/tests/$test"; then
			say "debian/tests/$test: passed"
		else
			say "debian/tests/$test: FAILED"
			status=1
		fi
		[ "$test" != trace ] || nothing_left || status=1
		layer_end tester
	done
	return $status
}

# Purged, nothing of it is there.
nothing_left() {
	logged "$roots/purge.log" apt_get tester purge fxtrace || return 1
	find "$roots/tester/usr" "$roots/tester/etc" "$roots/tester/var/lib/systemd" -name '*fxtrace*' >"$roots/left" 2>/dev/null
	[ ! -s "$roots/left" ] || {
		say "left behind by purge: $(tr '\n' ' ' <"$roots/left")"
		return 1
	}
	say "purged, nothing is left"
}

base_root || die "cannot make a system in $roots"
logged "$roots/builder.log" make_builder || die "the packages that debian/control names cannot be installed"
logged "$roots/dist.log" make -s --no-print-directory -C "$builddir" dist || die "make dist failed"
unpack /package && logged "$roots/package.log" build_in /package || die "dpkg-buildpackage failed ($roots/package.log)"
rm -rf "$packages"
mkdir -p "$packages" && cp "$roots"/builder/package/*.deb "$packages"
say "built: $(cd "$packages" && echo *.deb)"
logged "$roots/lintian.log" lint /package || die "lintian has something to say"
say "lintian: nothing; $(grep -c '^O:' "$roots/lintian.log") overrides"
if [ -n "${FX_TWICE-}" ]; then
	same_again || die "built again, the packages are others"
	say "built again, the packages are the same"
fi
if [ -n "${FX_RPM-}" ]; then
	logged "$roots/rpm.log" build_rpms || die "rpmbuild failed"
	say "built: $(cd "$roots/builder/rpm/RPMS" && echo */*.rpm)"
fi
test_packages || die "the packages do not work"
say "passed"
