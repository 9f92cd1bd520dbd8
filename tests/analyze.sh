#!/bin/sh
# SPDX-License-Identifier: MIT
# analyze.sh [gcc|clang]...: has the compilers' own analyzers look for paths to errors in all that is shipped, and holds
# what they find against tests/analyze.txt. Exit status 0: all of it is answered there, and nothing else is.
#
# The build itself does it, with a compiler that is this script: each object has its findings beside it. What was found
# in a file is kept by the sum of its preprocessed text too (build-analyze/kept): neither a run that was cut off nor a
# build that begins anew looks at a file twice.
set -u

# Processor time for a file, in seconds. One that takes more has a finding of the kind `time', which is to be answered as
# any other.
LIMIT=900

# limited COMMAND...: within the time of a file; what it says goes to $object.said.
limited() {
	LC_ALL=C prlimit --cpu="$LIMIT": "$@" 2>"$object.said"
}

# gave_up STATUS: the finding of an analyzer that did not come to its end.
gave_up() {
	if [ "$1" -ge 128 ] || grep -q 'CPU time limit exceeded' "$object.said"; then
		printf '%s\t-\ttime\t1: given up after %s s of processor time\n' "$source" "$LIMIT"
	else
		printf '%s\t-\tfailure\t1: %s\n' "$source" "$(tail -n 1 "$object.said")"
	fi
}

# The analyzers: what each finds, a line for each finding, from the options of the compilation. gcc's compiles as well.
analyze_gcc() {
	limited gcc -fanalyzer -fdiagnostics-plain-output -fdiagnostics-path-format=none "$@" || {
		gave_up $?
		gcc "$@"
		return
	}
	awk -F : -v source="$source" '
		match($0, /[Ii]n function .[^ ]*.:?,?$/) {
			function_name = substr($0, RSTART + 13)
			gsub(/[^A-Za-z0-9_.]/, "", function_name)
		}
		match($0, /\[-Wanalyzer-[^]]*\]/) {
			kind = substr($0, RSTART + 1, RLENGTH - 2)
			file = $1 == "cc1" ? source : $1
			line = $2
			sub(/^[^:]*:[0-9]*:[0-9]*: warning: /, "")
			printf "%s\t%s\t%s\t%d: %s\n", file, function_name, kind, line, $0
		}' "$object.said"
}

analyze_clang() {
	limited clang --analyze -Xclang -analyzer-output=plist "$@" -o "$object.plist" || {
		gave_up $?
		return
	}
	# A finding ends with its place; the names of files stand behind them all.
	awk '
		function value(text) {
			gsub(/^.*<(string|integer)>|<\/(string|integer)>$/, "", text)
			gsub(/&apos;|&quot;/, "\047", text)
			gsub(/&lt;/, "<", text)
			gsub(/&gt;/, ">", text)
			gsub(/&amp;/, "\\&", text)
			return text
		}
		/^   <key>description</ { text = value($0); context = "-" }
		/^   <key>check_name</ { kind = value($0) }
		/^  <key>issue_context</ { context = value($0) }
		/^  <key>location</ { is_place = 1 }
		is_place && /<key>line</ { line = value($0) }
		is_place && /<key>file</ {
			file[++count] = value($0)
			found[count] = context "\t" kind "\t" line ": " text
			is_place = 0
		}
		/^ <key>files</ { is_name = 1 }
		is_name && /^  <string>/ { names[files++] = value($0) }
		END {
			for (i = 1; i <= count; i++)
				print names[file[i]] "\t" found[i]
		}' "$object.plist"
}

# look TOOL OPTION...: compiles $source to $object, and looks for errors unless what was found in it is kept. $made: the
# options that name what is made.
look() {
	tool=$1
	shift
	"$tool" "$@" -E -o "$object.i" || return
	sum=$({
		"$tool" --version
		printf '%s\n' "$LIMIT" "$@"
		cat "$object.i"
	} | sha256sum | cut -d ' ' -f 1)
	kept=$top/build-analyze/kept/$sum
	if [ -f "$kept" ] || [ "$tool" != gcc ]; then
		# shellcheck disable=SC2086 # several
		"$tool" "$@" -c $made || return
	fi
	if [ ! -f "$kept" ]; then
		{
			printf '%s\t-\tlooked at\t1:\n' "$source"
			# shellcheck disable=SC2086 # several
			case $tool in
			gcc) analyze_gcc "$@" -c $made ;;
			clang) analyze_clang "$@" ;;
			esac
		} >"$object.found" && mkdir -p "${kept%/*}" && cp "$object.found" "$kept.$$" && mv "$kept.$$" "$kept" || return
	fi
	cp "$kept" "$object.found" && rm -f "$object.i" "$object.said" "$object.plist"
}

# compile TOOL ARG...: as the compiler would.
compile() {
	tool=$1
	shift
	source='' object='' made='' last='' compiles=''
	count=$#
	# Without what names the output, the rest is the same wherever the file is compiled.
	while [ $((count -= 1)) -ge 0 ]; do
		arg=$1
		shift
		case $last:$arg in
		-o:*)
			object=$arg
			made="$made $arg"
			;;
		-MT:* | -MF:* | *:-o | *:-MT | *:-MF | *:-MD | *:-MP) made="$made $arg" ;;
		*:-c) compiles=yes ;;
		*) set -- "$@" "$arg" ;;
		esac
		case $arg in
		-*) ;;
		*.c) source=$arg ;;
		esac
		last=$arg
	done
	if [ -n "$compiles" ] && [ -n "$source" ]; then
		look "$tool" "$@"
	else
		# shellcheck disable=SC2086 # several, or none
		"$tool" "$@" ${compiles:+-c} $made
	fi
}

top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
if [ "${1-}" = --compile ]; then
	shift
	compile "$@"
	exit
fi

cd "$top" || exit 99
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
	make -s -C "$dir" -j"${JOBS:-$(nproc)}" CC="$top/tests/analyze.sh --compile $1" >"$dir/make.log" 2>&1 || {
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
		$3 == "looked at" {
			files++
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
				if (field[3] == "time") # a faster machine has enough
					continue
				if ((field[3] ~ /^-W/) == (tool == "gcc") && !(a in seen)) {
					printf "%s: answered, but not found: %s: %s (%s)\n", tool, field[1], field[2], field[3]
					bad = 1
				}
			}
			printf "%s: %d files, %d findings, %d answered, %d open\n", tool, files, count + open, count, open
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
