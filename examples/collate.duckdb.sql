-- What `sgprobe collate` tells by model and firmware, of a file of JSON lines: duckdb < collate.duckdb.sql
WITH run AS (
    SELECT device.vendor AS vendor, device.product AS product, device.revision AS revision, device.transport AS transport,
           device.serial AS serial, verdict, cliffs[1].last_good * device.block_bytes AS last_good,
           cliffs[1].before_mb_s AS before_mb_s, cliffs[1].after_mb_s AS after_mb_s
    FROM read_json_auto('results.jsonl', format = 'newline_delimited', union_by_name = true)
    WHERE schema = 'sgprobe/1' AND probe = 'size'
)
SELECT vendor, product, revision, transport, count(*) AS reports, count(DISTINCT serial) AS drives,
       count(*) FILTER (verdict = 'cliff') AS cliff, count(*) FILTER (verdict = 'clean') AS clean,
       count(*) FILTER (verdict = 'inconclusive') AS inconclusive,
       mode(last_good) FILTER (verdict = 'cliff') AS last_good, median(before_mb_s) AS before_mb_s, median(after_mb_s) AS after_mb_s
FROM run GROUP BY ALL ORDER BY ALL;
