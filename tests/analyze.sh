#!/bin/sh
# SPDX-License-Identifier: MIT
# analyze.sh [gcc|clang]...: has the compilers' own analyzers look for paths to errors in all that is shipped, and holds
# what they find against tests/analyze.txt. Exit status 0: all of it is answered there, and nothing else is.
#
# The build itself does it, with a compiler that is this script: each object has its findings beside it, so that a second
# run looks only at what has changed.
set -u

# The analyzer of each: gcc's runs while it compiles, clang's instead.
compile_gcc() {
	LC_ALL=C gcc -fanalyzer -fdiagnostics-plain-output -fdiagnostics-path-format=none "$@" 2>"$object.said"
	status=$?
	cat "$object.said" >&2
	[ "$status" -eq 0 ] || return "$status"
	awk -F : '
		match($0, /[Ii]n function .[^ ]*.:?,?$/) {
			function_name = substr($0, RSTART + 13)
			gsub(/[^A-Za-z0-9_.]/, "", function_name)
		}
		match($0, /\[-Wanalyzer-[^]]*\]/) {
			kind = substr($0, RSTART + 1, RLENGTH - 2)
			file = $1
			line = $2
			sub(/^[^:]*:[0-9]*:[0-9]*: warning: /, "")
			printf "%s\t%s\t%s\t%d: %s\n", file, function_name, kind, line, $0
		}' "$object.said" >"$object.found"
}

compile_clang() {
	clang "$@" || return
	clang --analyze -Xclang -analyzer-output=plist "$@" -o "$object.plist" || return
	python3 - "$object.plist" >"$object.found" <<-'END'
		import plistlib, sys
		report = plistlib.load(open(sys.argv[1], 'rb'))
		for d in report['diagnostics']:
		    print(report['files'][d['location']['file']], d.get('issue_context', '-'), d['check_name'],
		          '%d: %s' % (d['location']['line'], d['description']), sep='\t')
	END
}

# compile TOOL ARG...: as the compiler would.
compile() {
	tool=$1
	shift
	object='' last=''
	for arg in "$@"; do
		[ "$last" != -o ] || object=$arg
		last=$arg
	done
	case "$object $* " in
	*.o\ *" -c "*) ;;
	*)
		"$tool" "$@"
		return
		;;
	esac
	case $tool in
	gcc) compile_gcc "$@" ;;
	clang) compile_clang "$@" ;;
	esac
}

if [ "${1-}" = --compile ]; then
	shift
	compile "$@"
	exit
fi

cd "$(dirname "$0")/.." || exit 99
top=$PWD
status=0

# build TOOL: all that is shipped.
build() {
	dir=build-analyze/$1
	mkdir -p "$dir"
	[ -f "$dir/Makefile" ] ||
		(cd "$dir" && ../../configure -q --disable-unit-tests CC="$1") >"$dir/configure.log" 2>&1 || {
		tail -n 3 "$dir/configure.log"
		return 1
	}
	make -s -C "$dir" -j"${JOBS:-2}" CC="$top/tests/analyze.sh --compile $1" >"$dir/make.log" 2>&1 || {
		tail -n 20 "$dir/make.log"
		return 1
	}
}

# found TOOL: file, function, kind, place and text, one a line.
found() {
	find "build-analyze/$1" -name '*.found' -exec cat {} + |
		sed -e 's|^\(\.\./\)*||' -e "s|^$top/||" -e "s|^build-analyze/$1/||" | LC_ALL=C sort -u
}

# held TOOL: the findings against the table.
held() {
	found "$1" | awk -F '\t' -v tool="$1" '
		FILENAME != "-" {
			if ($0 != "" && $0 !~ /^#/) {
				if (NF != 4) {
					printf "analyze.txt: four fields are wanted: %s\n", $0
					bad = 1
				}
				answered[$1 FS $2 FS $3] = 1
			}
			next
		}
		($1 FS $2 FS $3) in answered {
			seen[$1 FS $2 FS $3] = 1
			count++
			next
		}
		{
			printf "%s: %s: %s (%s): %s\n", tool, $1, $2, $3, $4
			bad = 1
			open++
		}
		END {
			for (a in answered) {
				split(a, field, FS)
				if ((field[3] ~ /^-W/) == (tool == "gcc") && !(a in seen)) {
					printf "%s: answered, but not found: %s: %s (%s)\n", tool, field[1], field[2], field[3]
					bad = 1
				}
			}
			printf "%s: %d findings answered, %d not\n", tool, count, open
			exit bad
		}' tests/analyze.txt -
}

[ -x configure ] || ./bootstrap >/dev/null || exit 1
[ $# -gt 0 ] || set -- gcc clang
for tool in "$@"; do
	case $tool in
	gcc | clang) ;;
	*)
		echo "analyze.sh: no such analyzer: $tool (gcc or clang)" >&2
		exit 2
		;;
	esac
	command -v "$tool" >/dev/null || {
		echo "analyze.sh: $tool is not installed"
		exit 1
	}
	build "$tool" && held "$tool" || status=1
done
exit $status
