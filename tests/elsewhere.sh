# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What cross.sh and old-libc.sh share: a build whose programs run elsewhere, and the core of the suite there. Before it is
# read, these are set:
#
#	where		what it is called in the totals
#	dir		the folder of the build
#	skipped		tests that are not run, and why not, one a line; names are patterns
#
# and these functions are there when build and run are called:
#
#	configure_there	makes the build's Makefile, in $dir
#	make_there ARG...	runs make for the build
#	within COMMAND...	runs a command where the programs run
# shellcheck disable=SC2154 # they are set there

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

cannot() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

build() {
	[ -f "$dir/Makefile" ] || configure_there >"$dir/configure.log" 2>&1 || {
		tail -n 3 "$dir/configure.log"
		return 1
	}
	{
		make_there -s -j"${JOBS:-2}" && make_there -s -j"${JOBS:-2}" check TESTS=
	} >"$dir/make.log" 2>&1 || {
		tail -n 20 "$dir/make.log"
		return 1
	}
}

# is_skipped TEST
is_skipped() {
	# Names are patterns.
	# shellcheck disable=SC2254
	while read -r name why; do
		[ -n "$name" ] || continue
		case $1 in
		$name) printf 'skipped: %s: %s\n' "$1" "$why" >&2 && return 0 ;;
		esac
	done <<-END
		$skipped
	END
	return 1
}

# The tests of the suite that are run.
core() {
	make -s -C "$dir" print-tests | tr ' ' '\n' | while read -r test; do
		[ -z "$test" ] || is_skipped "$test" || printf '%s\n' "$test"
	done
}

# The results by folder, a table.
show_results() {
	awk -v where="$where" '
		function row(name, counts) {
			printf "%-32s %7d %7d %7d\n", name, counts["PASS"], counts["FAIL"], counts["SKIP"]
		}
		/^(PASS|FAIL|ERROR|XPASS|SKIP): / {
			folder = $2
			sub(/\/[^\/]*$/, "", folder)
			result = $1
			sub(/:/, "", result)
			if (result == "ERROR" || result == "XPASS")
				result = "FAIL"
			count[folder, result]++
			all[result]++
			if (!(folder in seen)) {
				seen[folder] = 1
				folders[++n] = folder
			}
		}
		END {
			printf "%-32s %7s %7s %7s\n", where, "passed", "failed", "skipped"
			for (i = 1; i <= n; i++) {
				for (result in all)
					of[result] = count[folders[i], result]
				row(folders[i], of)
			}
			row("all", all)
		}' "$dir/check.log"
}

# run [TEST...]: these, or the core; so many at once as TEST_JOBS says, or one.
run() {
	tests=$*
	[ -n "$tests" ] || tests=$(core | tr '\n' ' ')
	rm -f "$dir/test-suite.log"
	FX_TEST_LIMIT=${FX_TEST_LIMIT:-5400}
	export FX_TEST_LIMIT
	within make -s -k -j"${TEST_JOBS:-1}" -C "$dir" check TESTS="$tests" >"$dir/check.log" 2>&1
	status=$?
	[ -f "$dir/test-suite.log" ] || {
		tail -n 20 "$dir/check.log"
		return 1
	}
	grep -E '^(FAIL|XPASS|ERROR): ' "$dir/check.log"
	show_results
	return "$status"
}
