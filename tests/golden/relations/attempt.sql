SELECT
  "turn"."number", "turn"."label", "turn"."dim", "turn"."median",
  list_extract([CAST(0 AS BIGINT), CAST(5 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(31 AS BIGINT), CAST(1 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM (
  SELECT "number", "label", "best"['dim'] AS "dim", "best"['median'] AS "median"
  FROM "__sqlanon_candidates_1" AS "candidate"
) AS "turn"
