# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What cross.sh and old-libc.sh share: a build whose programs run elsewhere, and the core of the suite there. Before it is
# read, these are set:
#
#	where		what it is called in the totals
#	dir		the folder of the build
#	core		the tests that are meant, and why; if it is not set, all
#	skipped		those of them that are not run, and why not
#
# both a row a line: a path, in which * stands for anything and {A,B} for either; a tab; why.
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

# The tests of the suite that are run, in the order of their rows; those that are not are told. Status 1: a row is of no test.
chosen() {
	make -s -C "$dir" print-tests | tr -s ' ' '\n' | CORE=${core:-*} SKIPPED=$skipped awk '
		function expression(names) {
			gsub(/[.]/, "[.]", names)
			gsub(/[*]/, ".*", names)
			gsub(/,/, "|", names)
			gsub(/{/, "(", names)
			gsub(/}/, ")", names)
			return "^" names "$"
		}
		function row_say(table, row, text) {
			printf "%s has no test: %s: %s\n", table, row, text >"/dev/stderr"
			failed = 1
		}
		$0 != "" { test[++tests] = $0 }
		END {
			cores = split(ENVIRON["CORE"], core, "\n")
			left_out = split(ENVIRON["SKIPPED"], skipped, "\n")
			for (i = 1; i <= cores; i++) {
				split(core[i], column, "\t")
				if (column[1] == "") continue
				found = 0
				for (t = 1; t <= tests; t++) {
					if (test[t] !~ expression(column[1])) continue
					found = 1
					if (!(test[t] in row)) chosen[row[test[t]] = ++n] = test[t]
				}
				if (!found) row_say("core", i, core[i])
			}
			for (i = 1; i <= left_out; i++) {
				split(skipped[i], column, "\t")
				if (column[1] == "") continue
				found = 0
				for (c = 1; c <= n; c++) {
					if (chosen[c] !~ expression(column[1])) continue
					found = 1
					if (chosen[c] in without) continue
					without[chosen[c]]
					printf "skipped: %s: %s\n", chosen[c], column[2] >"/dev/stderr"
				}
				if (!found) row_say("skipped", i, skipped[i])
			}
			for (c = 1; c <= n; c++)
				if (!(chosen[c] in without)) print chosen[c]
			exit failed
		}'
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

# run [TEST...]: these, or the core; so many at once as TEST_JOBS says, or as there are processors.
run() {
	tests=$*
	[ -n "$tests" ] || tests=$(chosen) || die "the tables are wrong"
	tests=$(printf '%s ' $tests)
	rm -f "$dir/test-suite.log"
	FX_TEST_LIMIT=${FX_TEST_LIMIT:-1800}
	export FX_TEST_LIMIT
	within make -s -k -j"${TEST_JOBS:-$(nproc)}" -C "$dir" check TESTS="$tests" >"$dir/check.log" 2>&1
	status=$?
	[ -f "$dir/test-suite.log" ] || {
		tail -n 20 "$dir/check.log"
		return 1
	}
	grep -E '^(FAIL|XPASS|ERROR): ' "$dir/check.log"
	show_results
	return "$status"
}
