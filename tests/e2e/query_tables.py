#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""query_tables.py DATABASE FXTRACE ARCHIVE: whether each table of the database has the rows that `fxtrace query' prints
of the archive."""

import json
import sqlite3
import subprocess
import sys


def key(row):
    return json.dumps(row, sort_keys=True)


database = sqlite3.connect(sys.argv[1])
database.row_factory = sqlite3.Row
names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
wrong = False
for name in names:
    query = [sys.argv[2], "query", "--json", sys.argv[3], f"SELECT * FROM {name}"]
    said = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    rows = [dict(row) for row in database.execute(f"SELECT * FROM {name}")]
    asked = json.loads(said)
    rows.sort(key=key)
    asked.sort(key=key)
    if rows != asked:
        print(f"{name}: {len(rows)} rows, asked {len(asked)}")
        print([(row, other) for row, other in zip(rows, asked) if row != other][:1])
        wrong = True
sys.exit(1 if wrong or len(names) < 20 else 0)
