-- A text that identifies the rows of a relation in any order: their number, and the sums of two parts of their digests,
-- of 60 bits each, because text is read as BIGINT in half the time of a DECIMAL. Spark's SQL; :rows is the name of the
-- relation. A row is digested as JSON, in which NULL is written, not left out, and timestamps have their microseconds,
-- in UTC.
SELECT concat_ws(':', 'sha256', CAST(count(*) AS STRING), CAST(coalesce(sum(CAST(part_0 AS DECIMAL(20, 0))), 0) AS STRING),
                 CAST(coalesce(sum(CAST(part_1 AS DECIMAL(20, 0))), 0) AS STRING))
FROM (
  SELECT CAST(conv(substr(digest, 1, 15), 16, 10) AS BIGINT) AS part_0,
         CAST(conv(substr(digest, 16, 15), 16, 10) AS BIGINT) AS part_1
  FROM (
    SELECT sha2(to_json(struct(*), map('ignoreNullFields', 'false', 'timeZone', 'UTC',
                                       'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS',
                                       'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')), 256) AS digest
    FROM IDENTIFIER(:rows)
  )
)
