SELECT "match"."tuple", "candidate"."value", SUM("match"."weight" * ("candidate"."n" / "match"."n_1")) AS "share"
FROM {#1} AS "match"
JOIN (
  SELECT "region", "part_1", "subject_0" AS "value", CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "n"
  FROM {#2} AS "state"
  GROUP BY "region", "part_1", "subject_0"
) AS "candidate" ON "match"."region" = "candidate"."region" AND "match"."part_1" = "candidate"."part_1"
GROUP BY "match"."tuple", "candidate"."value"
