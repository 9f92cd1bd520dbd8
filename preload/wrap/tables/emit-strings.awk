# SPDX-License-Identifier: MIT
# strings.h: the index of every builtin string. strings.c: the String Records of them all; names of errors and signals.

# A checksum of all that the records say: two of 31 bits, by different factors.
function builtin_id(    i, k, text, a, b, c, chars) {
	for (k = 1; k < 256; k++)
		chars[sprintf("%c", k)] = k
	a = strings
	b = strings
	for (i = 1; i <= strings; i++) {
		text = string_text[i] (i in is_category ? "\001" : "\002")
		for (k = 1; k <= length(text); k++) {
			c = chars[substr(text, k, 1)]
			a = (a * 257 + c) % 2147483647
			b = (b * 65599 + c) % 2147483629
		}
	}
	return sprintf("UINT64_C(%d) << 32 | %d", a, b)
}

function out_strings_h(    i) {
	banner()
	print "#ifndef FX_PRELOAD_STRINGS_H\n#define FX_PRELOAD_STRINGS_H\n"
	print "#include \"engine/builtin.h\"\n"
	print "enum fx_builtin_string {\n\tFX_STR_EMPTY_ = 0,"
	for (i = 1; i <= strings; i++)
		printf "\tFX_STR_%s = %d,\n", string_ident[i], i
	printf "\tFX_STR_COUNT = %d, /* the first index for other strings */\n};\n\n", strings + 1
	print "/* The String Records of them all, in order of index. */"
	print "extern const struct fx_builtin fx_builtin;\n"
	print "/* The text of a builtin string; *ret_length its bytes, no NUL behind them. */"
	print "const char *fx_builtin_text(unsigned index, unsigned *ret_length);\n"
	print "/* The index of the name of an error or a signal; 0 if it has none here. */"
	print "unsigned fx_errno_string(int number);"
	print "unsigned fx_signal_string(int number);\n"
	print "#endif"
}

function string_record(i,    text, length_, words, w, k, at) {
	text = string_text[i]
	length_ = length(text)
	words = int((length_ + 7) / 8)
	printf "\tFX_STRING_HEADER(%d, %d, %d)%s,", words + 1, i, length_,
	       i in is_category ? " | FX_STRING_CATEGORY" : ""
	for (w = 0; w < words; w++) {
		printf " FX_BYTES("
		for (k = 1; k <= 8; k++) {
			at = w * 8 + k
			printf "%s%s", k == 1 ? "" : ", ",
			       at <= length_ ? "'" substr(text, at, 1) "'" : "0"
		}
		printf "),"
	}
	print ""
}

# Where each string stands among the records, in words.
function builtin_text(    i, at) {
	print "\nstatic const uint16_t places[] = {\n\t0,"
	at = 0
	for (i = 1; i <= strings; i++) {
		printf "\t%d,\n", at
		at += 1 + int((length(string_text[i]) + 7) / 8)
	}
	print "};\n\nconst char *fx_builtin_text(unsigned index, unsigned *ret_length)\n{"
	print "\tconst uint64_t *record = builtin_strings + places[index];\n"
	print "\t*ret_length = (unsigned)FXT_GET(*record, STRING_LENGTH);"
	print "\treturn (const char *)(record + 1);\n}"
}

function name_table(what, table, count,    i) {
	printf "\nstatic const uint16_t %s_strings[] = {\n", what
	for (i = 1; i <= count; i++)
		printf "\t[%s] = FX_STR_%s,\n", table[i], table[i]
	printf "};\n\nunsigned fx_%s_string(int number)\n{\n", what
	printf "\tif (number < 0 || (unsigned)number >= FX_ARRAY_LEN(%s_strings))\n", what
	printf "\t\treturn 0;\n\treturn %s_strings[number];\n}\n", what
}

function out_strings_c(    i) {
	banner()
	print "#include <errno.h>\n#include <signal.h>\n"
	print "#include \"base/compiler.h\"\n#include \"engine/layout.h\""
	print "#include \"fxtrace/format.h\"\n#include \"preload/strings.h\"\n"
	print "#define FX_STRING_HEADER(words, index, length) \\"
	print "\t(FXT_PUT(RECORD_TYPE, FXT_RECORD_STRING) | FXT_PUT(RECORD_SIZE, words) | \\"
	print "\t FXT_PUT(STRING_INDEX, index) | FXT_PUT(STRING_LENGTH, length))"
	print "#define FX_BYTES(a, b, c, d, e, f, g, h) \\"
	print "\t((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | \\"
	print "\t (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)\n"
	print "static const uint64_t builtin_strings[] = {"
	for (i = 1; i <= strings; i++)
		string_record(i)
	print "};\n"
	print "const struct fx_builtin fx_builtin = {"
	print "\t.records = builtin_strings,\n\t.words = FX_ARRAY_LEN(builtin_strings),"
	print "\t.next = FX_STR_COUNT,"
	printf "\t.id = %s,\n};\n\n", builtin_id()
	print "_Static_assert(sizeof(builtin_strings) < FX_BUILTIN_SIZE, \"room for builtin strings\");"
	builtin_text()
	name_table("errno", errno_name, errnos)
	name_table("signal", signal_name, signals)
}
