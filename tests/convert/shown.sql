-- What a trace processor shows of an archive, in the rows that shown.py makes of the archive itself: what is counted,
-- whose it is, its name in hexadecimal, how many there are, and what they come to. Thread 0 has a name from Perfetto
-- itself, `swapper', where a trace is in protobuf. An instant of its own that a flow gets, converted, where two of its
-- ends lie in slices whose order is not the arrow's, is none of the archive's, if it has an arrow.
WITH place AS (
	SELECT slice.id, process.pid || ' ' || thread.tid AS thread
	FROM slice
	JOIN thread_track ON slice.track_id = thread_track.id
	JOIN thread USING (utid)
	LEFT JOIN process USING (upid)
), anchor AS (
	SELECT id
	FROM slice
	WHERE name GLOB 'flow: *' AND dur = 0
		AND (id IN (SELECT slice_in FROM flow) OR id IN (SELECT slice_out FROM flow))
), own AS (
	SELECT id, track_id, arg_set_id, category, name, dur
	FROM slice
	WHERE id NOT IN (SELECT id FROM anchor)
)
SELECT 'slices' AS kind, place.thread AS owner, hex(own.name) AS name, COUNT(*) AS n, SUM(MAX(own.dur, 0)) AS total
FROM own
JOIN place USING (id)
GROUP BY place.thread, own.name
UNION ALL
SELECT 'asyncs', '-', hex(name), COUNT(*), 0
FROM own
WHERE id NOT IN (SELECT id FROM place)
GROUP BY name
UNION ALL
SELECT 'categories', '-', hex(category), COUNT(*), 0
FROM own
WHERE category IS NOT NULL
GROUP BY category
UNION ALL
SELECT 'scoped', 'process ' || process.pid, hex(own.name), COUNT(*), 0
FROM own
JOIN process_track AS track ON own.track_id = track.id
JOIN process USING (upid)
WHERE track.name IS NULL
GROUP BY process.pid, own.name
UNION ALL
SELECT 'scoped', 'trace', hex(own.name), COUNT(*), 0
FROM own
JOIN track ON own.track_id = track.id
WHERE track.name = 'Instants of the whole trace' OR track.type = 'legacy_chrome_global_instants'
GROUP BY own.name
UNION ALL
SELECT 'args', '-', hex(args.key), COUNT(*),
	SUM(CASE
		WHEN int_value IS NOT NULL THEN int_value & 1048575
		WHEN abs(real_value) < 1e15 THEN CAST(real_value AS INTEGER) & 1048575
		ELSE IFNULL(length(string_value), 0)
	END)
FROM own
JOIN args USING (arg_set_id)
WHERE args.key IS NOT NULL
GROUP BY args.key
UNION ALL
SELECT 'samples', process.pid, hex(track.name), COUNT(*), printf('%.9g', SUM(counter.value))
FROM counter
JOIN process_counter_track AS track ON counter.track_id = track.id
JOIN process USING (upid)
GROUP BY process.pid, track.name
UNION ALL
SELECT 'arrows', begins.thread || ' ' || ends.thread, '-', COUNT(*), 0
FROM flow
LEFT JOIN place AS begins ON begins.id = flow.slice_out
LEFT JOIN place AS ends ON ends.id = flow.slice_in
GROUP BY begins.thread, ends.thread
UNION ALL
SELECT 'thread', process.pid || ' ' || thread.tid, hex(thread.name), 1, 0
FROM thread
JOIN process USING (upid)
WHERE thread.name IS NOT NULL AND thread.tid <> 0
GROUP BY process.pid, thread.tid, thread.name
UNION ALL
SELECT 'fault', name, severity, SUM(value), 0
FROM stats
WHERE value > 0 AND severity IN ('error', 'data_loss')
GROUP BY name, severity;
