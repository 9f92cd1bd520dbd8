#!/bin/bash
# SPDX-License-Identifier: MIT
# TRACE_CATEGORY: a program's categories are listed with their descriptions before any event of theirs: those of the program, of
# its header in two files, of C++ in a namespace, and of a library that is loaded and unloaded; in its children, too.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

include=-I$FX_SRCDIR/include
long=$(printf '%0450d' 0)

cat >net.h <<'END'
#include <fxtrace/event.h>
TRACE_CATEGORY("net", "what is sent and received");
END
cat >main.c <<END
#include "net.h"
TRACE_CATEGORY("render", "frames, and what makes them"); TRACE_CATEGORY("bare", NULL);
TRACE_CATEGORY("", "of nothing");
TRACE_CATEGORY("long", "$long");
TRACE_CATEGORY("render", "a second time");
/* An event of it comes before its library's description. */
__attribute__((constructor)) static void early(void)
{
	TRACE_INSTANT("late", "early", TRACE_SCOPE_THREAD);
}
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
int other(void);
int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen("./libplug.so", RTLD_NOW) : NULL;
	if (library)
		dlclose(library);
	if (argc > 2 && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	pause();
	return other() + argv[0][0];
}
END
cat >other.c <<'END'
#include "net.h"
int other(void) { return 0; }
END
cat >plug.cpp <<'END'
#include <fxtrace/event.h>
namespace plug
{
TRACE_CATEGORY("plug", "of a library");
TRACE_CATEGORY("late", "described later");
inline void twice()
{
	TRACE_INSTANT("plug", "twice", TRACE_SCOPE_THREAD);
}
} // namespace plug
extern "C" void use()
{
	plug::twice();
}
END
flags="$include -Wall -Wextra -Wshadow -Werror"
# shellcheck disable=SC2086 # several words
for f in main other; do
	$FX_CC $flags -std=c11 -D_GNU_SOURCE -c $f.c || fail "$f.c does not compile"
	$FX_CC $flags -std=c11 -D_GNU_SOURCE -DNTRACE -c -o $f-none.o $f.c || fail "$f.c does not compile with NTRACE"
done
# shellcheck disable=SC2086 # several words
${CXX:-g++} $flags -std=c++17 -shared -fPIC -o libplug.so plug.cpp || fail "plug.cpp does not compile"
$FX_CC -o described main.o other.o -ldl || fail "does not link"
! nm main-none.o | grep fxtrace || fail "NTRACE leaves something"

# The categories of the program alone, as they are listed, with what they are.
listed() {
	"$FXTRACE" list-categories --json | python3 -c '
import json, sys
for c in json.load(sys.stdin):
    if c["name"] in ("net", "render", "bare", "long", "plug", "late", ""):
        print(c["name"], c["providers"], c["help"])
'
}
nothing_else() {
	listed >list
	cmp -s list "$1"
}

manager_start
for arguments in "" "plug" "plug fork"; do
	case $arguments in
	*fork)
		providers=2 # a child registers at its first event, which is its prctl()
		expect_ok "$FXTRACE" start -o trace.fxt
		;;
	*) providers=1 ;;
	esac
	{
		echo "bare $providers "
		# While nothing is recorded, an event makes nothing known.
		[ -z "$arguments" ] || echo "late $providers described later"
		echo "long $providers $(printf '%0400d' 0)"
		echo "net $providers what is sent and received"
		[ -z "$arguments" ] || echo "plug $providers of a library"
		echo "render $providers frames, and what makes them"
	} >expected
	# shellcheck disable=SC2086 # none, one or two
	provider_start ./described $arguments
	wait_for 10 nothing_else expected || {
		diff expected list
		fail "with '$arguments' other categories are listed"
	}
	kill "$PROVIDER"
	wait "$PROVIDER"
	wait_for 10 providers_are 0 || fail "they do not go"
done
expect_ok "$FXTRACE" terminate
expect_clean trace.fxt
manager_stop
