#!/bin/bash
# SPDX-License-Identifier: MIT
# mutants.sh [AREA...]: puts each fault of tests/mutants.tbl into the code, or those of the areas that are named, and holds that a test which
# tests/conformance.tbl names for it fails then, and passes without. What survives is listed; status 1 then. It works in a copy, mutants/ below
# the current folder, which stays, for it takes its time to build; not a part of `make check'.
set -u
src=$(cd "$(dirname "$0")/.." && pwd)
copy=$PWD/mutants
jobs=${FX_JOBS:-2}

mkdir -p "$copy" || exit 99
# What is the same keeps its time; what a run that was ended has left changed gets a new one.
while IFS= read -r -d '' file; do
	cmp -s "$src/$file" "$copy/$file" && continue
	mkdir -p "$copy/$(dirname "$file")" && cp "$src/$file" "$copy/$file" || exit 99
done < <(cd "$src" && { git ls-files -z 2>/dev/null || find . -path ./mutants -prune -o -type f -print0; })
cd "$copy" || exit 99
[ -x configure ] || ./bootstrap >bootstrap.log 2>&1 || exit 99
mkdir -p build && cd build || exit 99
[ -e Makefile ] || ../configure CFLAGS='-O1 -g' >configure.log 2>&1 || exit 99

# tests_of AREA WHAT: FILE TEST lines.
tests_of() {
	awk -F ' *[|] *' -v area="$1" -v what="$2" '$1 == area && $2 == what { gsub(/ *, */, "\n", $3); print $3 }' "$src/tests/conformance.tbl"
}

# test_make FILE: what a test takes.
test_make() {
	case $1 in
	*.c) make -j"$jobs" built-sources && make -j"$jobs" "${1%.c}" ;;
	*) make -j"$jobs" all tests/e2e/events ;;
	esac >make.log 2>&1
}

# test_run FILE TEST
test_run() {
	case $1 in
	*.c) timeout 300 "./${1%.c}" --filter "*/$2" ;;
	*) FX_SRCDIR=$copy FX_BUILDDIR=$copy/build FX_CC=${FX_CC-gcc} FX_CXX=${FX_CXX-g++} timeout 600 bash "$copy/$1" ;;
	esac >run.log 2>&1 </dev/null
}

# is_noticed AREA WHAT: one of its tests fails; which, in $by.
is_noticed() {
	local file test

	while read -r file test; do
		by="$file $test"
		test_make "$file" || {
			by="it does not compile: $(grep -m 1 error make.log)"
			return 2
		}
		test_run "$file" "$test" || return 0
	done < <(tests_of "$1" "$2")
	return 1
}

survived=0 count=0
while IFS='|' read -r area what file change; do
	read -r area <<<"$area"
	read -r what <<<"$what"
	read -r file <<<"$file"
	change=${change# }
	case $area in '' | '#'*) continue ;; esac
	[ $# -eq 0 ] || [[ " $* " = *" $area "* ]] || continue
	count=$((count + 1))
	[ -n "$(tests_of "$area" "$what")" ] || {
		echo "$area, $what: tests/conformance.tbl has no such line"
		survived=$((survived + 1))
		continue
	}
	if is_noticed "$area" "$what"; then
		echo "$area, $what: fails without a fault: $by"
		survived=$((survived + 1))
		continue
	fi
	cp -p "$copy/$file" kept
	sed -i "$change" "$copy/$file"
	if cmp -s kept "$copy/$file"; then
		echo "$area, $what: sed changes nothing in $file"
		survived=$((survived + 1))
	else
		is_noticed "$area" "$what"
		case $? in
		0) echo "$area, $what: noticed by $by" ;;
		2) echo "$area, $what: $by" && survived=$((survived + 1)) ;;
		*) echo "$area, $what: NOT NOTICED: $file: $change" && survived=$((survived + 1)) ;;
		esac
	fi
	# Newer than what was built of it.
	cat kept >"$copy/$file"
done <"$src/tests/mutants.tbl"
echo "$count faults, $((count - survived)) noticed"
[ "$survived" -eq 0 ]
