#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh deb|deb-src FOLDER: where the machine's own packages come from, as apt's lists in FOLDER: Debian's, of the
# release that runs here. Other releases, sources of others, and whoever is no Debian are left out.
set -eu
kind=$1 folder=$2
# shellcheck disable=SC1091 # the machine's
release=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-}")

# Paragraphs, of which a binary one names what is installed here.
from_sources() {
	awk -v RS= -v kind="$kind" -v release="$release" '
		{
			suites = types = ""
			debian = 0
			n = split($0, lines, "\n")
			for (i = 1; i <= n; i++) {
				if (lines[i] ~ /^Types:/) types = lines[i] " "
				if (lines[i] ~ /^URIs:.*\/debian/) debian = 1
				if (lines[i] ~ /^Suites:/) {
					m = split(lines[i], words, /[ \t]+/)
					for (j = 2; j <= m; j++)
						if (words[j] == release || index(words[j], release "-") == 1)
							suites = suites " " words[j]
				}
			}
			if (types !~ /[: \t]deb[ \t]/ || !debian || suites == "") next
			for (i = 1; i <= n; i++) {
				if (lines[i] ~ /^#/) continue
				if (lines[i] ~ /^Types:/) lines[i] = "Types: " kind
				if (lines[i] ~ /^Suites:/) lines[i] = "Suites:" suites
				print lines[i]
			}
			print ""
		}' "$1"
}

from_list() {
	awk -v kind="$kind" -v release="$release" '
		$1 == "deb" {
			suite = $0
			sub(/^deb[ \t]+(\[[^]]*\][ \t]+)?/, "", suite)
			split(suite, words, /[ \t]+/)
			if (words[1] ~ /\/debian/ && (words[2] == release || index(words[2], release "-") == 1)) {
				sub(/^deb/, kind)
				print
			}
		}' "$1"
}

mkdir -p "$folder"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
	[ -f "$file" ] || continue
	case $file in
	*.sources) from_sources "$file" >"$folder/${file##*/}" ;;
	*.list) from_list "$file" >"$folder/${file##*/}" ;;
	esac
done
