-- Look for: values of a bucket in place of leaves of a label: those that satisfy, and those that do not, with their
-- weights times the copies.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
SELECT "label", "listed", "part_0", CASE WHEN COUNT(*) = COUNT("weight") THEN SUM("weight") END AS "weight"
FROM (
  SELECT "content"."label", "content"."listed", "content"."part_0", "content"."weight" * "alike"."copies" AS "weight"
  FROM "__sqlanon_value_1" AS "content"
  JOIN "__sqlanon_alike_1" AS "alike" ON "content"."label" = "alike"."bucket"
) AS "leaf"
GROUP BY "label", "listed", "part_0";
