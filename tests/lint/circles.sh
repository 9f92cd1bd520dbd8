#!/bin/sh
# SPDX-License-Identifier: MIT
# The files of a room can be read one after another: none includes, by way of others of the room, itself. A source and its
# header, also NAME-internal.h, count as one.
. "$(dirname "$0")/lib.sh"

lint_files '*.c' '*.h' | grep / | grep -vE '^(bench|examples|include|tests)/' >"$lint_tmp/files"
[ -s "$lint_tmp/files" ] || { echo "no sources found"; exit 99; }

xargs grep -nE '^#include "' <"$lint_tmp/files" | awk -F: '
function module(path) {
	sub(/(-internal)?\.[a-z.-]*$/, "", path)
	return path
}
function room(path) {
	sub(/\/[^\/]*$/, "", path)
	return path
}
{
	header = $3
	gsub(/^#include "|".*$/, "", header)
	from = module($1)
	to = module(header)
	if (from != to && room(from) == room(to))
		print from, to
}' | sort -u | tsort 2>&1 >/dev/null | grep -v 'input contains a loop' | sed 's/^tsort: //' | sort -u |
	sed 's/$/: is part of a circle of includes/' >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
