-- What `sgprobe collate` tells by model and firmware, of a file of JSON lines:
--   clickhouse local --query "$(cat collate.clickhouse.sql)" --file results.jsonl --input-format LineAsString --structure 'line String'
SELECT JSONExtractString(line, 'device', 'vendor') AS vendor, JSONExtractString(line, 'device', 'product') AS product,
       JSONExtractString(line, 'device', 'revision') AS revision, JSONExtractString(line, 'device', 'transport') AS transport,
       count() AS reports, uniqExact(JSONExtractString(line, 'device', 'serial')) AS drives,
       countIf(JSONExtractString(line, 'verdict') = 'cliff') AS cliff, countIf(JSONExtractString(line, 'verdict') = 'clean') AS clean,
       countIf(JSONExtractString(line, 'verdict') = 'inconclusive') AS inconclusive,
       anyHeavyIf(JSONExtractUInt(line, 'cliffs', 1, 'last_good') * JSONExtractUInt(line, 'device', 'block_bytes'), JSONExtractString(line, 'verdict') = 'cliff') AS last_good,
       medianIf(JSONExtractFloat(line, 'cliffs', 1, 'before_mb_s'), JSONExtractString(line, 'verdict') = 'cliff') AS before_mb_s,
       medianIf(JSONExtractFloat(line, 'cliffs', 1, 'after_mb_s'), JSONExtractString(line, 'verdict') = 'cliff') AS after_mb_s
FROM table
WHERE JSONExtractString(line, 'schema') = 'sgprobe/1' AND JSONExtractString(line, 'probe') = 'size'
GROUP BY vendor, product, revision, transport ORDER BY vendor, product, revision, transport
