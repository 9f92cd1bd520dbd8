#!/bin/sh
# SPDX-License-Identifier: MIT
# image.sh BUILDDIR: has buildah make the image of packaging/Containerfile from a release of this tree, in a system of its own, and
# runs in it what its comment says and what an autopkgtest does. What the recipe calls Debian's image is that system as debootstrap
# makes it, so nothing is fetched but packages. Exit status 0: nothing was found; 77: this machine cannot.
set -u
cd "$(dirname "$0")/.." || exit 99
top=$PWD
. tests/roots.sh
alone "$@"

builddir=${1:?}
version=$(sed -n 's/^AC_INIT(\[fxtrace\], \[\(.*\)\])$/\1/p' configure.ac)
from=$(sed -n 's/^FROM \([^ ]*\).*/\1/p' packaging/Containerfile | sort -u)

make_imager() {
	layer imager
	[ -f "$roots/imager.kept" ] || {
		apt_get imager update && apt_get imager install buildah ca-certificates && : >"$roots/imager.kept"
	} || return 1
	# Layers of images do not lie on those of this system.
	rm -rf "$roots/images"
	mkdir -p "$roots/images" "$roots/imager/var/lib/containers" "$roots/imager/base" &&
		mount --bind "$roots/images" "$roots/imager/var/lib/containers" &&
		mount --bind "$roots/base" "$roots/imager/base"
}

# buildah COMMAND...: without a container runtime, which would want cgroups.
buildah() {
	within imager env BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay buildah "$@"
}

import_base() {
	container=$(buildah from scratch) &&
		buildah copy -q "$container" /base / &&
		buildah commit -q "$container" "docker.io/library/$from" &&
		buildah rm "$container"
}

build_image() {
	rm -rf "$roots/imager/src" && mkdir -p "$roots/imager/src" &&
		tar -xf "$builddir/fxtrace-$version.tar.xz" --strip-components=1 -C "$roots/imager/src" &&
		buildah build --pull-never -f /src/packaging/Containerfile -t fxtrace /src
}

# As its users do: what the image is told is an option of its entry point's, which says its options if it is told nothing.
run_image() {
	container=$(buildah from --pull-never fxtrace) || return 1
	entry=$(buildah inspect -t image --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}' fxtrace) &&
		default=$(buildah inspect -t image --format '{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' fxtrace) &&
		folder=$(buildah inspect -t image --format '{{.OCIv1.Config.WorkingDir}}' fxtrace) || return 1
	rm -rf "$roots/imager/traces" && mkdir -p "$roots/imager/traces" "$roots/imager/tests" &&
		cp "$top/debian/tests/trace" "$roots/imager/tests" || return 1
	# Words, not one.
	# shellcheck disable=SC2086
	buildah run "$container" -- $entry $default >"$roots/image.help" && grep -q '^Usage: fxtrace' "$roots/image.help" &&
		buildah run -v /traces:"$folder" "$container" -- $entry run -o "$folder/t.fxt" -- ls / &&
		[ -s "$roots/imager/traces/t.fxt" ] &&
		buildah run -v /traces:"$folder" "$container" -- $entry check "$folder/t.fxt" &&
		buildah run -v /traces:"$folder" "$container" -- $entry report --syscalls "$folder/t.fxt" >"$roots/image.report" &&
		grep -q ' open' "$roots/image.report" &&
		buildah run "$container" -- apt-get -q update &&
		buildah run "$container" -- apt-get -q -y --no-install-recommends install python3 &&
		buildah run -v /tests:/tests "$container" -- mkdir /tmp/trace &&
		buildah run -v /tests:/tests "$container" -- env AUTOPKGTEST_TMP=/tmp/trace sh /tests/trace
}

base_root || die "cannot make a system in $roots"
case $from in
debian:"$(. "$roots/base/etc/os-release" && printf '%s' "$VERSION_CODENAME")"-slim) ;;
*) cannot "the image is made from $from, which is not what runs here" ;;
esac
logged "$roots/imager.log" make_imager || die "buildah cannot be installed"
logged "$roots/dist.log" make -s --no-print-directory -C "$builddir" dist || die "make dist failed"
logged "$roots/image-base.log" import_base || die "the system cannot be made an image"
logged "$roots/image.log" build_image || die "packaging/Containerfile makes no image ($roots/image.log)"
say "built: $(buildah images --format '{{.Size}}' fxtrace)"
logged "$roots/image-run.log" run_image || die "the image does not work"
say "passed"
