-- Look for: the spans of postal codes: a prefix and the text behind all that begin with it; known only where digits
-- alone were masked, and few enough of them.

CREATE TEMPORARY TABLE "__sqlanon_span_2" AS
WITH "shown" AS (SELECT * FROM "__sqlanon_labels_2")
SELECT DISTINCT *
FROM (
  SELECT
    "label", "prefix" AS "low", 0 AS "low_side", "prefix" AS "high", 1 AS "high_side", TRUE AS "known",
    FALSE AS "open_low", FALSE AS "open_high", CAST(NULL AS TEXT) AS "mask"
  FROM ({whole-2}) AS "whole"
  WHERE "stars" = 0
  UNION ALL
  SELECT
    "label", "prefix" AS "low", 0 AS "low_side",
    COALESCE(
      "behind",
      CAST('􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿􏿿' AS TEXT)
    ) AS "high",
    0 AS "high_side", REGEXP_MATCHES("mask", '^[0-9]+[*]{1,4}$') AS "known", FALSE AS "open_low", FALSE AS "open_high",
    "mask" AS "mask"
  FROM ({whole-2}) AS "masked"
  WHERE NOT "stars" = 0
) AS "all_spans";
