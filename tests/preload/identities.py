#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""identities.py SAID DUMP: compares what tests/preload/targets/identities says of its calls with what the archive says.

SAID is its output, DUMP that of `fxtrace dump --json'. Of the archive the calls count that say what their descriptor
is.
"""
import json
import re
import sys
from collections import Counter


def said(path):
    with open(path, encoding="utf-8") as file:
        text = file.read().rstrip("\n")
    return Counter(re.split(r"\n(?=[0-9]+ (?:read|write|close) )", text))


def shown(path):
    calls = Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["kind"] != "event" or record.get("name") not in ("read", "write", "close"):
                continue
            args = {arg["name"]: arg["value"] for arg in record["args"]}
            if "file" in args:
                total = args.get("total_read", args.get("total_written", "-"))
                file_name = re.sub(r"(eventfd\]) \d+-\d+$", r"\1", args["file"])  # who made it, and when
                calls[f"{record['pid']} {record['name']} {args['fd']} {file_name} {total}"] += 1
    return calls


program, archive = said(sys.argv[1]), shown(sys.argv[2])
for text in sorted((program - archive) + (archive - program)):
    print("said, not shown:" if text in program - archive else "shown, not said:", ascii(text))
print(f"{sum((program & archive).values())} calls agree")
sys.exit(program != archive)
