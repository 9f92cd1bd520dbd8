-- What a trace processor shows of an archive, as counts.py says it.
SELECT 'thread' AS kind, process.pid AS a, thread.tid AS b, COUNT(*) AS c, SUM(MAX(slice.dur, 0)) AS d
FROM slice
JOIN thread_track ON slice.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
GROUP BY process.pid, thread.tid
UNION ALL
SELECT 'asyncs', COUNT(*), '', '', ''
FROM slice
WHERE track_id NOT IN (SELECT id FROM thread_track)
UNION ALL
SELECT 'counters', COUNT(*), '', '', ''
FROM counter
UNION ALL
SELECT 'flows', COUNT(*), '', '', ''
FROM flow
UNION ALL
SELECT 'fault', name, severity, SUM(value), ''
FROM stats
WHERE value > 0 AND severity IN ('error', 'data_loss')
GROUP BY name, severity;
