-- What `sgprobe collate` tells by model and firmware, of a file of JSON lines:
--   sqlite3 -cmd 'CREATE TABLE report(line TEXT)' -cmd '.mode ascii' -cmd '.separator "\037" "\n"' \
--           -cmd '.import results.jsonl report' :memory: < collate.sqlite.sql
.mode csv
.headers on
WITH run AS (
    SELECT line ->> '$.device.vendor' AS vendor, line ->> '$.device.product' AS product, line ->> '$.device.revision' AS revision,
           line ->> '$.device.transport' AS transport, line ->> '$.device.serial' AS serial, line ->> '$.verdict' AS verdict,
           (line ->> '$.cliffs[0].last_good') * (line ->> '$.device.block_bytes') AS last_good,
           line ->> '$.cliffs[0].before_mb_s' AS before_mb_s, line ->> '$.cliffs[0].after_mb_s' AS after_mb_s
    FROM report
    WHERE line ->> '$.schema' = 'sgprobe/1' AND line ->> '$.probe' = 'size'
),
place AS (   -- the commonest limit of each model and firmware
    SELECT vendor, product, revision, transport, last_good, count(*) AS at_limit,
           row_number() OVER (PARTITION BY vendor, product, revision, transport ORDER BY count(*) DESC, last_good DESC) AS rank
    FROM run WHERE verdict = 'cliff' GROUP BY vendor, product, revision, transport, last_good
)
SELECT run.vendor, run.product, run.revision, count(*) AS reports, count(DISTINCT serial) AS drives,
       sum(verdict = 'cliff') AS cliff, sum(verdict = 'clean') AS clean, sum(verdict = 'inconclusive') AS inconclusive,
       coalesce(place.last_good, 0) AS last_good,
       round(avg(before_mb_s), 1) AS before_mb_s, round(avg(after_mb_s), 1) AS after_mb_s
FROM run LEFT JOIN place ON place.rank = 1 AND place.vendor = run.vendor AND place.product = run.product
                        AND place.revision = run.revision AND place.transport = run.transport
GROUP BY run.vendor, run.product, run.revision, run.transport
ORDER BY run.vendor, run.product, run.revision, run.transport;
