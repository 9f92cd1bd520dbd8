#!/bin/bash
# SPDX-License-Identifier: MIT
# What the manager reads of a program: no more than it bears, from where the program sees it, and only what its user may
# read.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target leaf leaf.c

# --- A file that says it has 1.6 GB of symbols ----------------------------------------------------

if command -v python3 >/dev/null; then
	cp leaf bomb
	python3 - bomb <<'END'
import struct, sys
size = (1600 << 20) // 24 * 24  # symbols of 24 bytes
with open(sys.argv[1], "r+b") as f:
    head = f.read(64)
    offset = struct.unpack_from("<Q", head, 40)[0]
    width, count = struct.unpack_from("<HH", head, 58)
    at = (f.seek(0, 2) + 4095) & ~4095
    for i in range(count):
        f.seek(offset + i * width)
        section = bytearray(f.read(width))
        if struct.unpack_from("<I", section, 4)[0] == 2:  # SHT_SYMTAB
            struct.pack_into("<QQ", section, 24, at, size)
            f.seek(offset + i * width)
            f.write(section)
    f.truncate(at + size)
END
	# Another program beside it: all of its calls and names are there, and the manager has not grown.
	compile calls -O1 -finstrument-functions -x c - <<'END'
static __attribute__((noinline)) void one_call(void) { __asm__ volatile(""); }
int main(void)
{
	for (int i = 0; i < 20000; i++)
		one_call();
	return 0;
}
END
	expect_ok python3 "$FX_SRCDIR/tests/e2e/most.py" most "$FXTRACE" \
		"$FXTRACE" run -o trace.fxt -b 16M -- sh -c './bomb & ./calls; wait'
	# Of 14 MB in all; with --max-symbols 4G it is 1,500. (A sanitizer has its own.)
	if ! grep -q '^S\["FX_SANITIZE"\]="..*"' "$FX_BUILDDIR/config.status"; then
		[ "$(cat most)" -lt 200000 ] || fail "$(cat most) KB in memory for the names of one program"
	fi
	expect_equal 1 "$(grep -c 'bomb: has more symbols than --max-symbols allows; its functions are shown by their addresses' err)" \
		"lines about the file: $(cat err)"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 20000 'process == "calls" && name == "one_call"'
	expect_events 2 'process == "bomb" && category == "function" && name ~ /^bomb[+]0x/'
fi

# --- A file system of its own ---------------------------------------------------------------------

need unshare
user=()
[ "$(id -u)" -eq 0 ] || user=(-r)
unshare "${user[@]}" -m true 2>/dev/null || skip "no namespaces can be made here"

# Nobody else sees anything at these paths.
mkdir hidden root
cat >hidden.sh <<'END'
mount -t tmpfs none hidden && cp leaf hidden/inside && exec hidden/inside
END
expect_ok traced -- unshare "${user[@]}" -m sh hidden.sh
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'process == "inside" && name == "leaf_function"'

cat >root.sh <<'END'
mount --rbind / root && mount -t tmpfs none root/mnt && cp leaf root/mnt/within && exec chroot root /mnt/within
END
expect_ok traced -- unshare "${user[@]}" -m sh root.sh
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'process == "within" && name == "leaf_function"'

# A root that is the manager's by another mount: the path of the program is what it sees itself.
expect_ok unshare "${user[@]}" -m "$FXTRACE" run -q -o trace.fxt -- sh root.sh
expect_clean trace.fxt
list_archive trace.fxt
expect_events 1 'process == "within" && name == "leaf_function"'
expect_ok "$FXTRACE" dump trace.fxt
expect_line ' name="/mnt/within"' out

# --- A file that its user may not read ------------------------------------------------------------

[ "$(id -u)" -eq 0 ] || skip "only root's manager may read more than those who are traced"
need setpriv
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 .
"${as_nobody[@]}" test -r "$LIBFXTRACE" || skip "others may not read the library here"
cp leaf closed
cp leaf open
chmod 711 closed
chmod 755 open
expect_ok traced -- "${as_nobody[@]}" ./open
list_archive trace.fxt
expect_events 1 'name == "leaf_function"'
expect_ok traced -- "${as_nobody[@]}" ./closed
list_archive trace.fxt
expect_events 0 'name == "leaf_function"'
expect_events 2 'process == "closed" && category == "function"'
