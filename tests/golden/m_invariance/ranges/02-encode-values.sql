-- Look for: the values of the sensitive attribute, which requirements ask about.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT
  "value",
  "n",
  "leaf",
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM (
  SELECT
    "value",
    "n",
    CASE WHEN "n" > 0 THEN 1 ELSE 0 END AS "leaf"
  FROM (
    SELECT
      "value",
      "n"
    FROM (
      SELECT
        "disease" AS "value",
        COUNT(*) AS "n"
      FROM "temp"."main"."__sqlanon_source_2"
      GROUP BY
        "disease"
    ) AS "occurring"
  ) AS "generalized"
) AS "spans";
