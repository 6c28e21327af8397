-- Look for: the published rows as they stand: each bucket's values in order and once each, both tables of one length
-- and bucket for bucket alike; then the models over (bucket, value, count) as classes.

SELECT COUNT(*)
FROM (
  SELECT
    "bucket", "value", "count" AS "n", LAG("bucket") OVER () AS "former_bucket", LAG("value") OVER () AS "former_value",
    ROW_NUMBER() OVER () AS "number"
  FROM "memory"."main"."__sqlanon_candidate_2" AS "sensitive"
) AS "read"
WHERE
  NOT COALESCE(
    (
      "number" = 1 OR "former_bucket" < "bucket"
      OR ("former_bucket" = "bucket" AND ("former_value" < "value" OR (NOT "former_value" IS NULL AND "value" IS NULL)))
    )
    AND "n" >= 1, FALSE
  );

SELECT COUNT(*)
FROM "memory"."main"."__sqlanon_candidate_1" AS "exact"
POSITIONAL JOIN "memory"."main"."__sqlanon_candidate_2" AS "sensitive"
WHERE NOT COALESCE("exact"."bucket" = "sensitive"."bucket" AND "sensitive"."count" = 1, FALSE);

SELECT COUNT(*)
FROM (
  SELECT "bucket", LAG("bucket") OVER () AS "former", ROW_NUMBER() OVER () AS "number"
  FROM "memory"."main"."__sqlanon_candidate_1" AS "exact"
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
