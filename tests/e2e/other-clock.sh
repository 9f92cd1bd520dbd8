#!/bin/bash
# SPDX-License-Identifier: MIT
# What depends on the clock, once more with the other kind: as if the kernel's clock source were the processor's counter
# where it is not, and as if it were another where it is.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need unshare mount
[ "$(uname -m)" = x86_64 ] || skip "the counter is always used here"

other=tsc
[ "$(cat "$CLOCKSOURCE" 2>/dev/null)" != tsc ] || other=hpet
with_clocksource $other true
with_clocksource $other cat "$CLOCKSOURCE" >told
expect_equal $other "$(cat told)" "clock source that is told"

failed=
for name in \
	tests/base/test_clock tests/manager/settings/test_timebase tests/manager/session/test_session tests/manager/session/test_daemon \
	tests/e2e/doctor.sh tests/e2e/instrumented.sh tests/e2e/shapes.sh tests/faults/clocks.sh; do
	case $name in
	*.sh) command=$FX_SRCDIR/$name ;;
	*) command=$FX_BUILDDIR/$name ;;
	esac
	with_clocksource $other "$command" >log 2>&1
	case $? in
	0) ;;
	77) echo "$name: $(tail -n 1 log)" ;;
	*)
		failed="$failed $name"
		tail -n 20 log
		;;
	esac
done
[ -z "$failed" ] || fail "with the clock source $other:$failed"
