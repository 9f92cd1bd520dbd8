#!/bin/sh
# SPDX-License-Identifier: MIT
# cross.sh [TEST...]: builds everything for aarch64 in build-cross, and runs the core of the suite there, or these
# tests of it, under qemu-user; prints totals. Exit status 0: nothing was found; 77: this machine cannot.
#
# Nothing of the machine is changed. The libraries of the other architecture are Debian's, from where the machine's own
# come from, unpacked in build-cross/root. The kernel starts programs under qemu in a user namespace of its own alone
# (binfmt_misc; Linux 6.7), in which what is unpacked lies over /usr/lib.
set -u
cd "$(dirname "$0")/.." || exit 99
top=$PWD
where=aarch64
dir=$top/build-cross
root=$dir/root
triplet=aarch64-linux-gnu
qemu=$(command -v qemu-aarch64-static)
unset MAKEFLAGS MAKELEVEL # started by a make, it would hand that one's TESTS on to its own

# What is linked against, of packages.txt, and where `programs' come from.
libraries='libc6-dev libcriterion-dev libdw-dev libelf-dev libiberty-dev libprotobuf-c-dev libncurses-dev libsqlite3-dev
libstdc++-12-dev libunwind-dev libzstd-dev uthash-dev zlib1g-dev coreutils dash util-linux'

# What tests trace of a system's programs; these stand in front of the machine's own.
programs='cat env false head nice printf seq setsid sh sleep true unshare'

# What tests look into such programs with, and change them; as above.
tools='nm objcopy strip'

# The core: what has to do with the processor, the longest first. All other tests read archives, or try the command line, the
# manager's rules or the source: they are the same on every machine, and run on this one's. (`tests/cross.sh TEST...' runs
# any of them here.)
core='
tests/faults/*.sh	who dies, stops or is interrupted at any point of recording; clocks that jump; arrows
tests/e2e/{losses,kill9,drops,soak,writers,lossless}.sh	what many threads record, and what is lost
tests/e2e/{forks,ways,processes,ends,exits,run}.sh	children, and how processes end
tests/e2e/{shapes,crossing,pitfalls,report-stuck}.sh	calls that are left by jumps, exceptions and signals; stacks from outside
tests/e2e/{arguments,arguments-ways,words,macros,plugin}.sh	what the compiler makes of calls: registers, stacks, gates
tests/e2e/{clock,other-clock}.sh	the counter of the processor
tests/e2e/{categories,seccomp,seccomp-exec,old-kernel,plain}.sh	system calls, by their numbers
tests/e2e/{picture,convert-samples}.sh	what Perfetto is given: of a program, and of samples, the same as on this machine
tests/preload/*.sh	how functions of the C library are taken over; their arguments, waits, arrows and callers
tests/{base,engine,format,manager,preload,protocol,symbols}/*test_*	the units of all that
'

# Tests of the core that are not run, and why not. What qemu itself cannot do, its 7.2 at least: filters of system calls;
# openat2(); robust locks; memory that children find wiped; children that send no signal, which a program starts a manager of
# its own by; and to keep the order of a program's environment. Code that runs for the first time costs it milliseconds.
skipped='
tests/e2e/old-kernel.sh	qemu has no filters of system calls
tests/e2e/plain.sh	qemu makes no child that sends no signal: there is no private manager
tests/e2e/processes.sh	qemu wipes no memory of children, by which those of a bare system call are known
tests/e2e/seccomp*.sh	qemu has no filters of system calls
tests/manager/door/test_owner	qemu has no robust locks
tests/preload/arguments.sh	qemu looks at the arguments of a bad call in another order
tests/preload/before.sh	qemu makes no child that sends no signal: there is no private manager
tests/preload/behaviour.sh	qemu does not say EFAULT wherever the kernel does
tests/preload/host/test_filter	qemu has no filters of system calls
tests/preload/decoded.sh	qemu looks at the arguments of mmap() in another order
tests/preload/identities.sh	qemu has no filters of system calls
tests/preload/left.sh	qemu has no robust locks
tests/preload/narrow.sh	qemu turns the environment about
tests/preload/own-bytes.sh	qemu makes no child that sends no signal: there is no private manager
tests/preload/referee.sh	qemu has no robust locks
tests/preload/system-wide.sh	takes a second user, whom the namespace has not
tests/preload/unloadable.sh	starts programs of this machine with libraries of the other
'

. tests/elsewhere.sh

# --- The other machine's libraries --------------------------------------------------------------

root_apt() {
	apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
		-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$dir/apt/parts" \
		-o Dir::State::lists="$dir/apt/lists" -o Dir::State::status="$dir/apt/status" \
		-o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User=root "$@"
}

make_root() {
	[ ! -d "$root" ] || return 0
	mkdir -p "$dir/apt/parts" "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$root.new"
	: >"$dir/apt/status"
	"$top/tests/sources.sh" deb "$dir/apt/parts"
	# shellcheck disable=SC2086 # a list of names
	{
		root_apt update && root_apt install -y --no-install-recommends --download-only $libraries
	} >"$dir/apt/log" 2>&1 </dev/null || {
		tail -n 3 "$dir/apt/log"
		return 1
	}
	for package in "$dir"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$root.new" || return 1
	done
	# A link to a library from the root of all would lead to the machine's, or nowhere; then the linker takes libtinfo.a.
	find "$root.new" -type l -lname '/*' | while read -r link; do
		ln -sfn "$root$(readlink "$link")" "$link"
	done
	mv "$root.new" "$root"
}

# --- The build ----------------------------------------------------------------------------------

configure_there() {
	(cd "$dir" && PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig \
		PKG_CONFIG_SYSROOT_DIR=$root ../configure -q --enable-werror --host=$triplet \
		CC="${CROSS_CC:-$triplet-gcc} --sysroot=$root" \
		CXX="${CROSS_CXX:-$triplet-g++} --sysroot=$root")
}

make_there() {
	make -C "$dir" "$@"
}

# --- The world in which it runs -----------------------------------------------------------------

# An ELF file of this machine kind: what its first bytes are, and which of their bits count.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

# inside COMMAND...: in the namespaces, which are not those that FX_OUTSIDE names.
inside() {
	case ${FX_OUTSIDE-} in
	mnt:*) [ "$FX_OUTSIDE" != "$(readlink /proc/self/ns/mnt)" ] ;;
	*) false ;;
	esac || {
		echo "cross.sh: --inside is for the script itself: it mounts over /usr/lib" >&2
		exit 2
	}
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
		printf '%s' ":aarch64:M::$magic:$mask:$qemu:PF" >/proc/sys/fs/binfmt_misc/register &&
		mount -t overlay -o "lowerdir=$root/lib:$root/usr/lib:/usr/lib" overlay /usr/lib &&
		mount --bind "$root/bin/true" /bin/true ||
		exit 77
	PATH=$dir/bin:$PATH
	FX_EMULATOR=$qemu
	export PATH FX_EMULATOR
	exec "$@"
}

make_programs() {
	mkdir -p "$dir/bin"
	for program in $programs; do
		file=$root/bin/$program
		[ "$program" != sh ] || file=$root/bin/dash
		[ -e "$file" ] || file=$root/usr/bin/$program
		ln -sf "$file" "$dir/bin/$program"
	done
	for tool in $tools; do
		ln -sf "$(command -v "$triplet-$tool")" "$dir/bin/$tool"
	done
	# Tests ask for the machine, and for the libraries of what is built.
	cat >"$dir/bin/uname" <<-'END'
		#!/bin/sh
		[ "$*" != -m ] || exec echo aarch64
		exec /usr/bin/uname "$@"
	END
	cat >"$dir/bin/ldd" <<-END
		#!/bin/sh
		exec $root/lib/ld-linux-aarch64.so.1 --list "\$@"
	END
	chmod +x "$dir/bin/uname" "$dir/bin/ldd"
}

within() {
	FX_OUTSIDE=$(readlink /proc/self/ns/mnt) unshare -U -r -m sh "$top/tests/cross.sh" --inside "$@"
}

# ------------------------------------------------------------------------------------------------

if [ "${1-}" = --inside ]; then
	shift
	inside "$@"
fi
[ -n "$qemu" ] || cannot "qemu-aarch64-static is not installed"
command -v $triplet-gcc >/dev/null || cannot "$triplet-gcc is not installed"
mkdir -p "$dir"
[ -x configure ] || ./bootstrap >/dev/null || exit 1
make_root || die "cannot get the libraries of aarch64"
build || die "the build failed"
make_programs
within true 2>"$dir/inside.log" ||
	cannot "no programs can be started under qemu in a namespace of its own: $(tail -n 1 "$dir/inside.log")"
run "$@"
