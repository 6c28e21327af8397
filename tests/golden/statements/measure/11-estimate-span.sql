-- Look for: the spans of postal codes: a prefix and the text behind all that begin with it; known only where digits
-- alone were masked, and few enough of them.

CREATE TEMPORARY TABLE "__sqlanon_span_2" AS
WITH "shown" AS (SELECT * FROM "__sqlanon_labels_2" AS "labels")
SELECT DISTINCT *
FROM (
  WITH "ended" AS (
    SELECT *, UNICODE(RIGHT("prefix", 1)) AS "last"
    FROM (
      SELECT
        "label", REGEXP_EXTRACT("shown", '^(.*?)(\**)$', 1, 's') AS "prefix",
        LENGTH(REGEXP_EXTRACT("shown", '^(.*?)(\**)$', 2, 's')) AS "stars", "shown" AS "mask"
      FROM "shown"
    ) AS "mask"
  ), "read" AS (
    SELECT
      *,
      CASE
        WHEN NOT ("prefix" = '' OR "last" = 1114111)
        THEN LEFT("prefix", CAST(LENGTH("prefix") - 1 AS INT)) || CHR(CAST(CASE WHEN "last" + 1 = 55296 THEN 57344 ELSE "last" + 1 END AS INT))
      END AS "behind"
    FROM "ended"
  )
  SELECT
    "label", "prefix" AS "low", 0 AS "low_side", "prefix" AS "high", 1 AS "high_side", TRUE AS "known",
    FALSE AS "open_low", FALSE AS "open_high", CAST(NULL AS TEXT) AS "mask"
  FROM "read"
  WHERE "stars" = 0
  UNION ALL
  SELECT
    "label", "prefix" AS "low", 0 AS "low_side",
    COALESCE(
      "behind",
      CAST('􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿' AS TEXT)
    ) AS "high",
    0 AS "high_side", REGEXP_MATCHES("mask", '^[0-9]+[*]{1,4}$') AS "known", FALSE AS "open_low", FALSE AS "open_high",
    "mask"
  FROM "read"
  WHERE NOT "stars" = 0
) AS "all_spans";
