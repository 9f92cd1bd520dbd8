#!/bin/bash
# SPDX-License-Identifier: MIT
# --sample beside perf record -g, which samples the same run at the same time: each function has the same share of it, within three points, and
# both have that which the program itself measures.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 perf
! is_emulated || skip "the emulator knows no performance events"
compile shares -O2 -fno-omit-frame-pointer "$FX_SRCDIR/tests/e2e/targets/shares.c" -ldl -pthread
perf record -q -F 4999 -e task-clock:u -g -o perf.data -- "$FXTRACE" run --sample 4999 -o trace.fxt -- ./shares threads >out 2>err ||
	skip "perf cannot record here: $(tail -n 1 err)"
! grep -qE 'no samples are taken' err || skip "$(grep 'no samples' err)"
! grep -qE 'lost|may be missing' err || skip "the machine is too busy"
cp out said
expect_clean trace.fxt
perf script --no-inline -i perf.data --comm sixty,thirty,ten -F comm,ip,sym >theirs 2>err || skip "perf cannot read it: $(tail -n 1 err)"
expect_ok "$FXTRACE" query --json trace.fxt "
	select string_value as stack from args join slice using (arg_set_id) where category = 'sample' and key = 'stack'"
python3 - <<'END' >checked 2>&1 || fail "$(tail -c 2000 checked)"
import json

parts = ("sixty", "thirty", "ten")
mine = [row["stack"].split("\n") for row in json.load(open("out"))]
other = [[line.split()[1] for line in stack.split("\n")[1:] if len(line.split()) > 1]
         for stack in open("theirs").read().strip().split("\n\n")]
said = {line.split()[0]: float(line.split()[1]) for line in open("said")}

def shares(stacks):
    stacks = [s for s in stacks if any(part in s for part in parts)]
    assert len(stacks) > 2000, len(stacks)
    # By whom it is in, and by what it is called: leaf functions, and those with callees.
    names = parts + ("spin", "part_main")
    return {name: sum(name in s for s in stacks) / len(stacks) for name in names}

ours, theirs = shares(mine), shares(other)
print(ours, theirs, said)
for name in ours:
    assert abs(ours[name] - theirs[name]) < 0.03, name
for part in parts:
    assert abs(ours[part] - said[part]) < 0.03, part
    assert abs(theirs[part] - said[part]) < 0.03, part
assert min(ours["part_main"], theirs["part_main"]) > 0.98 and ours["spin"] > 0.98, "stacks that are cut"
END
