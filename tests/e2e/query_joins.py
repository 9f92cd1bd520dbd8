#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""query_joins.py DATABASE FXTRACE ARCHIVE: whether `fxtrace query' finds the rows that the database has, by any column,
from any place, one by one and in joins. The database was converted from the archive."""

import json
import sqlite3
import subprocess
import sys

database = sqlite3.connect(sys.argv[1])
database.row_factory = sqlite3.Row


def one(statement):
    row = database.execute(statement).fetchone()
    return row[0] if row and row[0] is not None else 1


last = one("SELECT max(id) FROM slice")
middle = one("SELECT ts FROM slice ORDER BY ts LIMIT 1 OFFSET (SELECT count(*) / 2 FROM slice)")
name = str(one("SELECT name FROM slice WHERE name > '' GROUP BY 1 ORDER BY count(*) DESC")).replace("'", "''")
key = str(one("SELECT key FROM args GROUP BY 1 ORDER BY count(*) DESC")).replace("'", "''")
track = one("SELECT max(track_id) FROM slice")
count_track = one("SELECT max(track_id) FROM counter")
WHERE = {
    "slice": [
        f"id = {last}", f"id = {last // 2}", f"id = {last + 1}", "id = 0", "id = -1", "id = NULL", "id = 2.0", "id = 2.5",
        "id = '2'", "id = 'two'", f"rowid = {last // 3}", f"slice_id = {last // 4}", f"id IN (1, {last}, {last // 2}, 7)",
        f"id > {last // 2}", f"id >= {last // 2} AND id < {last // 2 + 9}", "id < 3", "id <= 2.5", "id > -3",
        f"ts = {middle}", f"ts > {middle}", f"ts < {middle}", f"ts BETWEEN {middle} AND {middle} + 100000", "ts < -1",
        f"ts >= {middle} + 0.5", "ts = NULL", f"track_id = {track}", "track_id = 1", "track_id = 99999", "track_id = 0",
        f"name = '{name}'", f"name = '{name}' COLLATE NOCASE", "name = NULL", "name IS NULL", "name = 5", "name = ''",
        f"name = '{name}' AND ts > {middle} AND track_id = 1", "parent_id IS NULL", "parent_id = 1", "parent_id = 2",
        f"parent_id = {last // 2}", f"parent_id = {last}", "parent_id = 0", "arg_set_id = 1", "arg_set_id = 2",
        "arg_set_id = (SELECT max(arg_set_id) FROM slice)", "arg_set_id = 0", "arg_set_id IS NULL", "dur < 0",
        f"name = '{name}' OR id = 3", "category = cat",
    ],
    "args": [
        "arg_set_id = 1", "arg_set_id = 0", "arg_set_id = (SELECT max(arg_set_id) FROM args)", f"key = '{key}'",
        f"flat_key = '{key}' AND arg_set_id < 5", "key = 7", "key = NULL", "arg_set_id IN (1, 3, 2)", "id = 2",
        "int_value > 3", "display_value > ''",
    ],
    "counter": [
        "id = 1", "id = 3", "id = (SELECT max(id) FROM counter)", "id > 2", f"track_id = {count_track}", "track_id = 1",
        f"ts > {middle}", f"ts <= {middle}", "value > 2",
    ],
}
JOINS = [
    "SELECT p.id, c.id FROM slice p JOIN slice c ON c.parent_id = p.id",
    "SELECT p.id, c.id FROM slice p LEFT JOIN slice c ON c.parent_id = p.id",
    "SELECT c.id, p.name FROM slice c LEFT JOIN slice p ON p.id = c.parent_id",
    "SELECT s.id, a.key, a.display_value FROM slice s JOIN args a USING (arg_set_id)",
    "SELECT s.id, a.id FROM slice s LEFT JOIN args a USING (arg_set_id)",
    "SELECT a.id, s.id FROM args a LEFT JOIN slice s USING (arg_set_id)",
    "SELECT s.id, t.name, h.tid FROM slice s JOIN thread_track t ON s.track_id = t.id JOIN thread h USING (utid)",
    "SELECT h.tid, s.id FROM thread h LEFT JOIN thread_track t USING (utid) LEFT JOIN slice s ON s.track_id = t.id",
    "SELECT f.id, i.id, o.id FROM flow f JOIN slice i ON i.id = f.slice_in JOIN slice o ON o.id = f.slice_out",
    # By name, from the first search on and when there were many.
    "SELECT a.id, b.id FROM (SELECT DISTINCT name FROM slice) n JOIN slice a ON a.name = n.name JOIN slice b"
    " ON b.name = a.name WHERE b.ts BETWEEN a.ts AND a.ts + 1000000 AND a.id % 7 < 2",
    f"SELECT a.id, b.id FROM slice a LEFT JOIN slice b ON b.name = '{name}' AND b.ts < a.ts AND b.ts > a.ts - 100000",
    "SELECT a.id, (SELECT count(*) FROM slice b WHERE b.name = a.name AND b.track_id = a.track_id) FROM slice a"
    " WHERE a.id % 5 = 0",
    "SELECT n.name, (SELECT max(id) FROM slice s WHERE s.name = n.name AND s.dur >= 0) FROM"
    " (SELECT DISTINCT name FROM slice UNION SELECT 'none such') n",
    "SELECT s.id, f.slice_in FROM slice s JOIN flow f ON f.slice_out = s.id",
    "SELECT c.value, t.name FROM counter c JOIN counter_track t ON t.id = c.track_id",
    "SELECT count(*) FROM slice a, slice b WHERE a.id < 20 AND b.id BETWEEN a.id - 3 AND a.id + 3",
    "SELECT id FROM slice ORDER BY id LIMIT 7 OFFSET 3",
    "SELECT id FROM slice ORDER BY id DESC LIMIT 7",
    "SELECT name, count(*), sum(dur), min(ts), max(depth) FROM slice GROUP BY name",
    "SELECT id, parent_id FROM slice WHERE id IN (SELECT parent_id FROM slice)",
]
QUERIES = JOINS + [f"SELECT * FROM {table} WHERE {term}" for table, terms in WHERE.items() for term in terms]


def asked(statement):
    query = [sys.argv[2], "query", "--json", sys.argv[3], statement]
    said = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return json.loads(said.stdout) if said.stdout else [{"stderr": said.stderr.decode()}]


wrong = 0
for query in QUERIES:
    rows = [list(row) for row in database.execute(query)]
    ours = [list(row.values()) for row in asked(query)]
    ordered = "ORDER BY" in query
    if sorted(map(str, rows)) != sorted(map(str, ours)) or (ordered and rows != ours):
        wrong += 1
        print(f"{query}: {len(rows)} rows, asked {len(ours)}: {rows[:1]} {ours[:1]}")
sys.exit(1 if wrong else 0)
