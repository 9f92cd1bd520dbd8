-- What a trace processor shows of an archive, in the rows that shown.py makes of the archive itself: what is counted,
-- whose it is, its name in hexadecimal, how many there are, and what they come to. Thread 0 has a name from Perfetto
-- itself, `swapper', where a trace is in protobuf.
WITH place AS (
	SELECT slice.id, process.pid || ' ' || thread.tid AS thread
	FROM slice
	JOIN thread_track ON slice.track_id = thread_track.id
	JOIN thread USING (utid)
	LEFT JOIN process USING (upid)
)
SELECT 'slices' AS kind, place.thread AS owner, hex(slice.name) AS name, COUNT(*) AS n,
	SUM(MAX(slice.dur, 0)) AS total
FROM slice
JOIN place USING (id)
GROUP BY place.thread, slice.name
UNION ALL
SELECT 'asyncs', '-', hex(name), COUNT(*), 0
FROM slice
WHERE id NOT IN (SELECT id FROM place)
GROUP BY name
UNION ALL
SELECT 'samples', process.pid, '-', COUNT(*), printf('%.9g', SUM(counter.value))
FROM counter
JOIN process_counter_track AS track ON counter.track_id = track.id
JOIN process USING (upid)
GROUP BY process.pid
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
