#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds the includes of every room against deps.tbl: that there are no others, and that each room that is named there is used.
. "$(dirname "$0")/lib.sh"

lint_files '*.c' '*.h' '*.cc' '*.cpp' '*.def' | grep / >"$lint_tmp/files"
[ -s "$lint_tmp/files" ] || { echo "no sources found"; exit 99; }

while IFS= read -r file; do
	grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' "$file" |
		sed -E 's/^([0-9]+):[^<"]*([<"])([^>"]*)[>"].*/\1 \2 \3/' |
		sed "s|^|$file |"
done <"$lint_tmp/files" >"$lint_tmp/includes"

awk '
# A shell glob with nothing but stars in it, as a regular expression
function glob_re(glob,    re) {
	re = glob
	gsub(/[.+]/, "\\\\&", re)
	gsub(/\*/, ".*", re)
	return "^" re "$"
}
function in_list(word, list) {
	return index(" " list " ", " " word " ") > 0
}
function report(text) {
	printf "%s:%s: %s\n", file, line, text
}
# The room that a file lies in
function room_of(path,    room) {
	room = path
	while (sub(/\/[^\/]*$/, "", room)) {
		if (room in known)
			return room
		if ((room "/.") in known)
			return room "/."
	}
	return path
}
function check_own(header,    room, folder) {
	room = room_of(header)
	folder = header
	if (!sub(/\/.*/, "", folder)) {
		if (header != "config.h")
			report("\"" header "\": name headers of the project as FOLDER/NAME.h")
	} else if (folder == "fxtrace") {
		report("\"" header "\": installed headers are included as <" header ">")
	} else if (room != from && !in_list(room, may[from]) && !in_list(folder, may[from])) {
		report(from " may not include \"" header "\"")
	} else if (room != from) {
		used[from " " room] = used[from " " folder] = 1
	}
}
function check_system(header,    i) {
	for (i = 1; i <= n_rules; i++) {
		if (header !~ rule_re[i])
			continue
		if (rule_kind[i] == "only" && !in_list(top, rule_list[i]) ||
		    rule_kind[i] == "never" && in_list(top, rule_list[i]))
			report(top "/ may not include <" header ">")
	}
}
FNR == NR && (/^#/ || /^$/) { next }
FNR == NR {
	list = $0
	sub(/^[^ ]+ [^ ]+ ?/, "", list)
	if ($1 == "may") {
		known[$2] = 1
		may[$2] = list
	} else {
		n_rules++
		rule_kind[n_rules] = $1
		rule_re[n_rules] = glob_re($2)
		rule_list[n_rules] = list
	}
	next
}
{
	file = $1
	line = $2
	from = room_of(file)
	top = file
	sub(/\/.*/, "", top)
	has[from] = 1
	if (!(from in known)) {
		report("deps.tbl does not know the room of " file)
		next
	}
	if ($3 == "\"" && $4 !~ /\.pb-c\.h$/)
		check_own($4)
	else
		check_system($4)
}
END {
	for (from in has) {
		n = from == "tests" || from == "bench" ? 0 : split(may[from], rooms)
		for (i = 1; i <= n; i++)
			if (!((from " " rooms[i]) in used))
				print "tests/lint/deps.tbl: " from " uses nothing of " rooms[i]
	}
}
' tests/lint/deps.tbl "$lint_tmp/includes" >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
