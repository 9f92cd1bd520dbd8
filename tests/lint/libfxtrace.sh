#!/bin/sh
# SPDX-License-Identifier: MIT
# What libfxtrace.so brings into a traced program: no library beside libc, and nothing of libc that
# allocates, locks, prints or ends the process, nor what a program often has of its own. TLS is the static kind; the library is never
# unloaded. All that it imports stands in imports.tbl, with the reason. (What it exports: tests/preload/symbols.sh.)
. "$(dirname "$0")/lib.sh"

lib=${FX_BUILDDIR:?}/.libs/libfxtrace.so
never='malloc|calloc|realloc|reallocarray|free|memalign|posix_memalign|aligned_alloc|strdup|strndup
.*printf(_chk)?|puts|fputs|fputc|putc|putchar|perror|fwrite|fread|fopen|fdopen|fclose|fflush|stderr
abort|exit|_exit|_Exit|quick_exit|atexit|__cxa_atexit|__assert_fail|__stack_chk_fail
pthread_create|pthread_atfork|sigaction|signal|timer_create|setitimer
getenv|secure_getenv|setenv|putenv|unsetenv
getpwuid|getpwnam|strerror|setlocale|gettext|syslog|getaddrinfo
__tls_get_addr'
table=tests/lint/imports.tbl

lint_need readelf
lint_need nm
lint_need objdump
[ -f "$lib" ] || { echo "$lib: not built"; exit 99; }
{
	readelf -dW "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -vE '^(libc|ld-linux.*|libpthread|libdl)\.so\.[0-9]+$' |
		sed 's/^/libfxtrace.so: needs /'
	readelf -dW "$lib" | grep -q NODELETE || echo 'libfxtrace.so: not marked NODELETE'
	readelf -dW "$lib" | grep -qE 'BIND_NOW|Flags:.*NOW' || echo 'libfxtrace.so: binds lazily'
	readelf -dW "$lib" | grep -q TEXTREL && echo 'libfxtrace.so: has text relocations'
	readelf -lW "$lib" | grep 'GNU_STACK' | grep -q 'RWE' &&
		echo 'libfxtrace.so: wants an executable stack'
	# In the middle of others' functions, whose vectors are in use: what is called by these might use some.
	objdump -d --no-show-raw-insn "$lib" | awk '
		/^[0-9a-f]+ </ { name = $2; inside = name ~ /^<fx_(sled_enter|sled_leave|entry_record)(\.cold|\.part\.[0-9]+)?>:$/ }
		inside && /[\t ]call / { print "libfxtrace.so: " name " calls " $NF }
		inside && /[\t ]jmp .*</ && $NF !~ /^<fx_(sled_enter|sled_leave|entry_record)(\.cold|[+>])/ { print "libfxtrace.so: " name " goes on to " $NF }'
	nm -D --undefined-only "$lib" | sed 's/^ *[A-Za-z] //; s/@.*//' | sort -u >"$lint_tmp/imports"
	grep -xE "$(printf '%s' "$never" | tr '\n' '|')" "$lint_tmp/imports" | sed 's/^/libfxtrace.so: uses /'
	grep -vE '^(#|$)' "$table" | grep -vE '^[A-Za-z_0-9]+( maybe)? \| .' | sed "s|^|$table: not SYMBOL [maybe] \| REASON: |"
	sed -n 's/^\([A-Za-z_0-9]*\) .*/\1/p' "$table" | sort >"$lint_tmp/known"
	sed -n 's/^\([A-Za-z_0-9]*\) | .*/\1/p' "$table" | sort >"$lint_tmp/always"
	uniq -d "$lint_tmp/known" | sed "s|^|$table: stands twice: |"
	comm -23 "$lint_tmp/imports" "$lint_tmp/known" | sed "s|^|libfxtrace.so: $table does not list |"
	comm -13 "$lint_tmp/imports" "$lint_tmp/always" | sed "s|^|$table: is not imported: |"
} >"$lint_tmp/bad"
lint_end "$lint_tmp/bad"
