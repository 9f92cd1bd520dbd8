#!/bin/bash
# SPDX-License-Identifier: MIT
# Every way to make a process: the child is traced, the parent's records are its own, a flow leads
# from one to the other. And names of functions in programs of every form.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target children children.c
target leaf leaf.c

for how in fork clone clone3 bare-fork instruction clone-vfork vfork-instruction fork-exec vfork vfork-empty execle-empty spawn spawn-empty threads daemon; do
	expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./children "$how" ./leaf
	read -r parent child <out
	expect_clean trace.fxt
	list_archive trace.fxt
	grep -q "^$parent	children\$" processes || fail "$how: no parent in $(cat processes)"
	grep -q "^$child	" processes || fail "$how: no child in $(cat processes)"
	expect_events 3 "name == \"in_parent\" && pid == $parent && tid == $parent"
	expect_events 3 'name == "in_parent"'
	expect_events 0 "name == \"in_child\" && pid != $child"
	expect_events 0 "name == \"in_thread\" && pid != $parent"
	case $how in
	fork | clone | clone3 | bare-fork | instruction | daemon)
		expect_events 1000 "name == \"in_child\" && tid == $child"
		;;
	threads)
		expect_events 1000 "name == \"in_child\" && tid == $child"
		expect_events 2+ 'name == "in_thread"'
		;;
	*)
		expect_events 1 "name == \"leaf_function\" && pid == $child && tid == $child"
		expect_events 1 'name == "leaf_function"'
		grep -q "^$child	leaf\$" processes || fail "$how: the child is not leaf: $(cat processes)"
		;;
	esac
	case $how in
	clone-vfork | vfork*)
		# What the child does in its parent's memory is no event of the parent's; where the tracer
		# cannot know of it, it is.
		expect_events "$([ "$how" = vfork-instruction ] && echo 1 || echo 0)" \
			"name ~ /^execv/ && pid == $parent"
		;;
	esac
	case $how in
	fork | fork-exec | execle-empty | threads)
		awk -F'\t' -v parent="$parent" -v child="$child" '
			$1 == "flow-begin" && $2 == parent { begun[$9] = 1 }
			($1 == "flow-end" || $1 == "flow-step") && $2 == child { ended[$9] = 1 }
			END { for (id in begun) found = found || id in ended; exit !found }' events ||
			fail "$how: no flow from parent to child: $(grep flow events)"
		;;
	esac
done

# A child beside its parent, on the parent's thread-local storage: the parent's calls are all there, and no others, which
# are counted.
expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./children clone-shared ./leaf
expect_loss thread-foreign 20000 err
read -r parent _ <out
expect_clean trace.fxt
list_archive trace.fxt
expect_events 30000 "name == \"in_thread\" && tid == $parent"
expect_events 0 'name == "in_child"'
expect_events 3 'name == "in_parent"'
expect_events 1 'name == "clone" && /CLONE_VM/'

# --no-follow: the children run as ever, and leave nothing.
for how in fork-exec vfork spawn vfork-empty; do
	expect_status 0 "$FXTRACE" run -q --no-follow -o trace.fxt -- ./children "$how" ./leaf
	read -r parent child <out
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 0 'name == "leaf_function"'
	expect_events 3 'name == "in_parent"'
	expect_no_line '	leaf$' processes
done

# --- Names -----------------------------------------------------------------------------------------

# A program that lives for a millisecond, in each form that the linker makes, stripped of nothing.
for form in -pie -no-pie '-pie -g' '-pie -Wl,-z,now' '-fno-plt -fPIC'; do
	# shellcheck disable=SC2086 # several options
	target leaf leaf.c $form -fPIE
	expect_status 5 "$FXTRACE" run -q -o trace.fxt -- ./leaf 5
	list_archive trace.fxt
	expect_events 1 'name == "leaf_function" && category == "function"'
	expect_events 1 'name == "main" && category == "function"'
done

# Gone from the disk before the manager could have looked.
cp leaf vanishing
expect_status 0 "$FXTRACE" run -q -o trace.fxt -- sh -c 'exec 3<vanishing; ./vanishing; rm vanishing'
list_archive trace.fxt
expect_events 2 'process == "vanishing" && category == "function"'

# Without symbols: the module and the offset.
cp leaf stripped
if strip stripped 2>/dev/null; then
	expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./stripped
	list_archive trace.fxt
	expect_events 2 'name ~ /^stripped\+0x[0-9a-f]+$/'
fi

# Before glibc 2.35 modules that come later are unnamed (doc/REQUIREMENTS.md).
by='linked opened' kinds='complete pairs'
glibc_since 35 || {
	by=linked kinds=
	echo "the names of modules that come later are not looked at"
}

# Shared objects, by the linker and by dlopen.
target libnamed.so named.c -shared -fPIC
target linked user.c -DLINKED -Wl,--no-as-needed -L. -lnamed -Wl,-rpath,"$PWD"
target opened user.c -ldl
for program in $by; do
	expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./$program ./libnamed.so
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'name == "named_function" && category == "function"'
	expect_events 1 'name == "local_function" && category == "function"'
	expect_events 1 'name == "main" && category == "function"'
done

# One after the other at the same addresses: each call has the name of its time.
target libfirst.so named.c -shared -fPIC -Dlocal_function=first_function
target libsecond.so named.c -shared -fPIC -Dlocal_function=second_function
target reload reload.c -ldl
for records in $kinds; do
	expect_status 0 "$FXTRACE" run -q --records $records -o trace.fxt -- ./reload ./libfirst.so ./libsecond.so \
		./libfirst.so ./libfirst.so ./libsecond.so ./libfirst.so
	expect_equal 6 "$(cat out)" "libraries at the same addresses"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal 'first second first first second first' \
		"$(grep -E '^(complete|begin)' events | sort -n -k8 | grep -oE '(first|second)_function' |
			sed 's/_.*//' | paste -sd' ')" "functions called, with $records"
done

# C++.
target throws throws.cc
expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./throws
list_archive trace.fxt
expect_events 1+ 'name == "shapes::deep(int)"'
expect_events 1+ 'name ~ /^shapes::Guard::~Guard\(\)/'
expect_events 1 'name ~ /^(int )?shapes::Box<int>::twice\(std::vector<int/'
