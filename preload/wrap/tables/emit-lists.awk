# SPDX-License-Identifier: MIT
# wrappers.list: the wrapped functions, one a line. wrappers.txt: for people. firsts.inc: what stands with an open call.

function out_list(prefix, suffix,    f, i, n, part) {
	for (f = 1; f <= functions; f++) {
		if (internal[f])
			continue
		n = split(function_name[f] "," also[f], part, /,/)
		for (i = 1; i <= n; i++)
			if (part[i] != "" && exists(part[i]))
				print prefix part[i] suffix
	}
}

function out_doc(    f, p, s) {
	for (f = 1; f <= functions; f++) {
		if (internal[f] || !exists(function_name[f]))
			continue
		s = ""
		for (p = 1; p <= parameters[f]; p++)
			if (kind[f, p] != "-")
				s = s (s == "" ? "" : ", ") name[f, p]
		printf "%-24s %-24s %-8s %s\n", function_name[f], shown[f], function_cat[f], s
	}
}

# What the first argument of a function is, where a number says it: FX_FIRST(function, argument, kind).
function out_firsts(    f, k) {
	for (f = 1; f <= functions; f++) {
		k = kind[f, 1]
		if (!parameters[f] || internal[f] || (f, "custom") in flag)
			continue
		if (k ~ /^(ptr|handle|code)$/)
			k = "POINTER"
		else if (k ~ /^(fd|dirfd|int)$/)
			k = "INT32"
		else if (k ~ /^(uint|size)$/)
			k = "UINT64"
		else
			continue
		printf "FX_FIRST(\"%s\", \"%s\", %s)\n", shown[f], name[f, 1], k
	}
}
