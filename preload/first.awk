# SPDX-License-Identifier: MIT
# Makes a linker script of first.list: a section of its own in front of all other code, which begins where a stretch of 64 KiB does; and
# what is large behind all that is small. The compiler has sections of their own for
# parts and functions that are seldom come to (listed as NAME.cold), and for what is called by constructors and destructors alone.
/^#/ || NF == 0 { next }
{
	name = $1
	kinds = sub(/\.cold$/, "", name) ? "unlikely." : " startup. exit."
	sub(/\..*/, "", name)
	for (i = split(kinds, kind, / /); i > 0; i--) {
		section = ".text." kind[i] name
		list = list "\t\t*(" section " " section ".*)\n"
	}
}
END { printf "SECTIONS\n{\n\t.text.first :\n\t{\n\t\t. = ALIGN(0x10000);\n\t\t*crtbegin*(.text)\n\t\t*(.text.startup .text.exit)\n%s\t}\n}\nINSERT BEFORE .text;\nSECTIONS\n{\n\t.bss.large : { *(.bss.large) }\n}\nINSERT AFTER .bss;\n", list }
