SELECT
  UNNEST("turn"."labels") AS "label", "turn"."region",
  list_extract([CAST(0 AS BIGINT), CAST(5 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(31 AS BIGINT), CAST(1 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM "__sqlanon_regions_1" AS "turn"
WHERE NOT "turn"."dim" IS NULL
