-- Look for: in each group of each fragment the part of the values that satisfies; neither fragment is known exactly.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
SELECT "label", "listed", "part_0", CASE WHEN COUNT(*) = COUNT("weight") THEN SUM("weight") END AS "weight"
FROM (
  SELECT
    "bucket_0"."label", "bucket_0"."weight", TRUE AS "listed",
    CAST(("bucket_0"."bucketed_1" = 'F') AS BOOLEAN) AS "part_0"
  FROM (
    SELECT "bucket" AS "label", "bucketed_0", "bucketed_1", "bucketed_2", "weight"
    FROM ({row-2("group_id")}) AS "bucket"
  ) AS "bucket_0"
) AS "leaf"
GROUP BY "label", "listed", "part_0";

CREATE TEMPORARY TABLE "__sqlanon_leaf_2" AS
SELECT "label", "listed", "part_0", CASE WHEN COUNT(*) = COUNT("weight") THEN SUM("weight") END AS "weight"
FROM ({leaf("group_id")}) AS "leaf"
GROUP BY "label", "listed", "part_0";
