-- Look for: the ways in which rows, and values, can satisfy, numbered; the other queries say whether counts are whole
-- and no bucket is NULL: else buckets are not put together.

CREATE TEMPORARY TABLE "__sqlanon_kind_1" AS
SELECT ROW_NUMBER() OVER () - 1 AS "kind", *
FROM (SELECT DISTINCT "part_0" FROM "__sqlanon_labelled_1" AS "content") AS "different";

CREATE TEMPORARY TABLE "__sqlanon_kind_2" AS
SELECT ROW_NUMBER() OVER () - 1 AS "kind", *
FROM (SELECT DISTINCT "listed", "part_0" FROM "__sqlanon_value_1" AS "content") AS "different";

SELECT
  (SELECT COUNT(*) FROM "__sqlanon_kind_1" AS "kind"),
  BOOL_AND(CAST(COALESCE(1 >= 0 AND 1 = TRUNC(1) AND NOT "content"."bucket" IS NULL, FALSE) AS BOOLEAN)),
  CAST(SUM(1) AS BIGINT)
FROM "__sqlanon_labelled_1" AS "content";

SELECT
  (SELECT COUNT(*) FROM "__sqlanon_kind_2" AS "kind"),
  BOOL_AND(
    CAST(COALESCE(
      "content"."weight" >= 0 AND "content"."weight" = TRUNC("content"."weight") AND NOT "content"."label" IS NULL,
      FALSE
    ) AS BOOLEAN)
  ),
  CAST(SUM("content"."weight") AS BIGINT)
FROM "__sqlanon_value_1" AS "content";
