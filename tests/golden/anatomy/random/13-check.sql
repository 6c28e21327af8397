-- Look for: the published rows as they stand: each bucket's values in order and once each, both tables of one length
-- and bucket for bucket alike; then the models over (bucket, value, count) as classes.

SELECT COUNT(*)
FROM (
  SELECT
    "bucket" AS "current_bucket", "value" AS "current_value", lag("bucket") OVER () AS "former_bucket",
    lag("value") OVER () AS "former_value", "count", ROW_NUMBER() OVER () AS "number"
  FROM "memory"."main"."__sqlanon_candidate_2"
) AS "read"
WHERE
  NOT COALESCE(
    (
      "number" = 1
      OR (
        "former_bucket" < "current_bucket"
        OR (
          "former_bucket" = "current_bucket"
          AND ("former_value" < "current_value" OR (NOT "former_value" IS NULL AND "current_value" IS NULL))
        )
      )
    )
    AND "count" >= 1, FALSE
  );

SELECT COUNT(*)
FROM "memory"."main"."__sqlanon_candidate_1" AS "exact"
POSITIONAL JOIN "memory"."main"."__sqlanon_candidate_2" AS "sensitive"
WHERE NOT COALESCE("exact"."bucket" = "sensitive"."bucket" AND "sensitive"."count" = 1, FALSE);

SELECT COUNT(*)
FROM (
  SELECT "bucket", lag("bucket") OVER () AS "former", ROW_NUMBER() OVER () AS "number"
  FROM "memory"."main"."__sqlanon_candidate_1"
) AS "read"
WHERE NOT COALESCE(("number" = 1 OR "bucket" >= "former") AND NOT "bucket" IS NULL, FALSE);

SELECT "place", "achieved", "violating"
FROM (
  WITH "equivalence_class" AS ({equivalence_class-5}), "sensitive_code_0" AS (
    {sensitive_code_0-2}
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-4})
  SELECT *
  FROM ({report-2(3, '3')}) AS "report"
) AS "reported";
