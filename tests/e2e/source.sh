# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs that nobody here wrote, from Debian's sources, built with instrumentation.
#
#	debian_source PACKAGE	prints the folder of its unpacked source; status 1 where none can be had
#	debian_source_bring PACKAGE	unpacks it in a folder below the one we are in
#
# Sources are kept in the build tree, so that a second run needs no network. The machine's own apt
# configuration is not changed; what is fetched are the sources of its own release (tests/sources.sh).

debian_source_cache=$FX_BUILDDIR/tests/sources

# debian_source_apt PROGRAM ARGUMENT...
debian_source_apt() {
	"$1" -qq -o Dir::Etc::sourcelist=/dev/null \
		-o Dir::Etc::sourceparts="$debian_source_cache/apt/parts" \
		-o Dir::State::lists="$debian_source_cache/apt/lists" \
		-o APT::Sandbox::User=root "${@:2}"
}

# The newest release of it that can be had: where a mirror lags, its list names one that is not there.
debian_source_bring() {
	local release

	mkdir -p "$debian_source_cache/apt/lists"
	"$FX_SRCDIR/tests/sources.sh" deb-src "$debian_source_cache/apt/parts"
	debian_source_apt apt-get update || return
	for release in $(debian_source_apt apt-cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -Vru); do
		rm -f -- *.dsc
		if debian_source_apt apt-get source --download-only "$1=$release"; then
			dpkg-source -x ./*.dsc
			return
		fi
	done
	return 1
}

debian_source() {
	local package=$1 folder

	if [ ! -d "$debian_source_cache/$package" ]; then
		mkdir -p "$debian_source_cache/$package.new"
		(cd "$debian_source_cache/$package.new" && debian_source_bring "$package") \
			>"$debian_source_cache/$package.log" 2>&1 </dev/null || return 1
		mv "$debian_source_cache/$package.new" "$debian_source_cache/$package"
	fi
	folder=$(echo "$debian_source_cache/$package"/*/)
	[ -d "$folder" ] && echo "${folder%/}"
}
