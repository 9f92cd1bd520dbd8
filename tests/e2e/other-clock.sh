#!/bin/bash
# SPDX-License-Identifier: MIT
# What depends on the clock, once more with the kernel's: most machines have the processor's counter for the rest of the suite.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

failed=
for name in \
	tests/base/test_clock tests/manager/settings/test_timebase tests/manager/session/test_single \
	tests/manager/session/test_daemon{,_alerts,_categories,_cycles,_errors,_flush,_random} \
	tests/e2e/instrumented.sh tests/e2e/shapes.sh tests/faults/clocks.sh; do
	case $name in
	*.sh) command=$FX_SRCDIR/$name ;;
	*) command=$FX_BUILDDIR/$name ;;
	esac
	FX_CLOCK=boottime "$command" >log 2>&1
	case $? in
	0) ;;
	77) echo "$name: $(tail -n 1 log)" ;;
	*)
		failed="$failed $name"
		tail -n 20 log
		;;
	esac
done
[ -z "$failed" ] || fail "with CLOCK_BOOTTIME:$failed"
