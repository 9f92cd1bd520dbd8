# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What package.sh, image.sh and newcomer.sh share: systems of their own, of the release that runs here, made by
# debootstrap from the machine's own sources and entered by chroot. The first is made once, under build-roots/ or where
# FX_ROOTS says; the others are layers above it (overlayfs), whose mounts and processes nobody else sees. Packages that were
# fetched are kept beside them. FX_CCACHE=DIR: compilers remember there what they have made before, which is for whoever
# works on these scripts.
#
# The script that reads this sets `top' to the tree, and calls alone "$@" first.

roots=${FX_ROOTS:-$top/build-roots}
mirror=${FX_DEBIAN_MIRROR:-http://deb.debian.org/debian}

say() {
	printf '%s: %s\n' "${0##*/}" "$*"
}

die() {
	say "$@" >&2
	exit 1
}

cannot() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

# alone ARG...: runs the script once more, with mounts and processes of its own, which end with it.
alone() {
	[ -z "${FX_ALONE-}" ] || return 0
	[ "$(id -u)" -eq 0 ] || cannot "a system of its own is made by root alone"
	command -v debootstrap >/dev/null || cannot "debootstrap is not installed"
	unshare -m -p --fork --kill-child --propagation private true || cannot "no namespaces of its own are allowed"
	FX_ALONE=1 exec unshare -m -p --fork --kill-child --propagation private sh "$top/tests/${0##*/}" "$@"
}

# logged LOG COMMAND...: its end is shown if it fails.
logged() {
	log=$1
	shift
	"$@" >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		return 1
	}
}

debootstrapped() {
	# shellcheck disable=SC1091 # the machine's
	release=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-}")
	debootstrap --variant=minbase "${release:-stable}" "$roots/base" "$mirror"
}

# What a container or an installer's user would be given besides: where packages come from, as here.
base_root() {
	[ ! -f "$roots/base.made" ] || return 0
	mkdir -p "$roots/archives/partial" && rm -rf "$roots/base"
	logged "$roots/base.log" debootstrapped || return 1
	rm -f "$roots/base/etc/apt/sources.list"
	sh "$top/tests/sources.sh" deb "$roots/base/etc/apt/sources.list.d" &&
		apt-config dump Acquire >"$roots/base/etc/apt/apt.conf.d/machine" &&
		cp /etc/resolv.conf /etc/hosts "$roots/base/etc" &&
		: >"$roots/base.made"
}

# layer NAME [BELOW]: a system that begins as BELOW (base) is; fresh, unless $roots/NAME.kept is there.
layer() {
	below=$roots/base
	[ $# -eq 1 ] || below=$roots/$2.upper:$below
	[ -f "$roots/$1.kept" ] || rm -rf "$roots/$1.upper"
	rm -rf "$roots/$1.work"
	mkdir -p "$roots/$1" "$roots/$1.upper" "$roots/$1.work" &&
		mount -t overlay overlay -o "lowerdir=$below,upperdir=$roots/$1.upper,workdir=$roots/$1.work" "$roots/$1" ||
		cannot "there is no overlayfs on $roots"
	mount -t proc proc "$roots/$1/proc" &&
		mount --rbind /dev "$roots/$1/dev" &&
		mount --rbind /sys "$roots/$1/sys" &&
		mount -t tmpfs -o mode=1777 tmpfs "$roots/$1/dev/shm" &&
		mkdir -p "$roots/$1/var/cache/apt/archives" &&
		mount --bind "$roots/archives" "$roots/$1/var/cache/apt/archives" ||
		cannot "$roots/$1 cannot be entered"
}

# remember NAME: see FX_CCACHE.
remember() {
	[ -n "${FX_CCACHE-}" ] || return 0
	apt_get "$1" install ccache >/dev/null 2>&1 &&
		mkdir -p "$FX_CCACHE" "$roots/$1/ccache" && chmod 777 "$FX_CCACHE" &&
		mount --bind "$FX_CCACHE" "$roots/$1/ccache" &&
		printf '%s\n' 'cache_dir = /ccache' 'base_dir = /' 'hash_dir = false' 'umask = 000' >"$roots/$1/etc/ccache.conf" &&
		for compiler in cc gcc g++ c++; do
			ln -sf /usr/bin/ccache "$roots/$1/usr/local/bin/$compiler" || return 1
		done
}

# layer_end NAME
layer_end() {
	umount -R -l "$roots/$1"
	[ -f "$roots/$1.kept" ] || rm -rf "$roots/$1.upper" "$roots/$1.work"
}

# within NAME COMMAND...: as root there.
within() {
	name=$1
	shift
	chroot "$roots/$name" /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

# as_user NAME USER COMMAND: as one who has logged in, by a line for the shell.
as_user() {
	chroot "$roots/$1" /usr/bin/env -i TERM=dumb LC_ALL=C.UTF-8 su -w LC_ALL - "$2" -c "$3" </dev/null
}

# apt_get NAME ARG...
apt_get() {
	where=$1
	shift
	within "$where" apt-get -q -y --no-install-recommends "$@"
}
