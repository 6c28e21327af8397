-- Look for: only the published tables are read; group numbers without a gap; in each four rows that follow each other
-- no two alike (hash of the tuple, LAG 1 to 3); the association as grids of two by two.

SELECT COUNT(*), COUNT("group_1"), MIN("group_1"), MAX("group_1"), COUNT("group_2"), MIN("group_2"), MAX("group_2")
FROM "memory"."main"."__sqlanon_candidate_3" AS "association";

SELECT
  COUNT(*),
  COUNT(
    CASE
      WHEN NOT COALESCE(
        "group_0" = "number" // 2 + 1 AND ("number" % 4 < 1 OR "digest_0" <> "digest_0_1_before")
        AND ("number" % 4 < 2 OR "digest_0" <> "digest_0_2_before")
        AND ("number" % 4 < 3 OR "digest_0" <> "digest_0_3_before"), FALSE
      )
      THEN 1
    END
  )
FROM (
  SELECT
    *, ROW_NUMBER() OVER () - 1 AS "number", LAG("digest_0", 1) OVER () AS "digest_0_1_before",
    LAG("digest_0", 2) OVER () AS "digest_0_2_before", LAG("digest_0", 3) OVER () AS "digest_0_3_before"
  FROM (
    SELECT *
    FROM (
      SELECT "group_id" AS "group_0", hash("dob", "sex", "zip") AS "digest_0"
      FROM "memory"."main"."__sqlanon_candidate_1" AS "fragment"
    ) AS "published"
    ORDER BY "group_0" ASC NULLS LAST
  ) AS "ordered"
) AS "read";

SELECT
  COUNT(*),
  COUNT(
    CASE
      WHEN NOT COALESCE(
        "group_0" = "number" // 2 + 1 AND ("number" % 4 < 1 OR "digest_0" <> "digest_0_1_before")
        AND ("number" % 4 < 2 OR "digest_0" <> "digest_0_2_before")
        AND ("number" % 4 < 3 OR "digest_0" <> "digest_0_3_before"), FALSE
      )
      THEN 1
    END
  )
FROM (
  SELECT
    *, ROW_NUMBER() OVER () - 1 AS "number", LAG("digest_0", 1) OVER () AS "digest_0_1_before",
    LAG("digest_0", 2) OVER () AS "digest_0_2_before", LAG("digest_0", 3) OVER () AS "digest_0_3_before"
  FROM (
    SELECT *
    FROM (
      SELECT "group_id" AS "group_0", hash("disease") AS "digest_0"
      FROM "memory"."main"."__sqlanon_candidate_2" AS "fragment"
    ) AS "published"
    ORDER BY "group_0" ASC NULLS LAST
  ) AS "ordered"
) AS "read";

SELECT COUNT(CASE WHEN "wrong" THEN 1 END), COUNT(DISTINCT "block_1")
FROM (
  SELECT
    NOT COALESCE(
      "group_0" = "number" // 2 + 1 AND ("number" % 4 < 1 OR ("group_1" - 1) // 2 = ("group_1_1_before" - 1) // 2)
      AND ("number" % 4 < 1 OR "group_0" <> "group_0_1_before" OR "group_1" <> "group_1_1_before"), FALSE
    ) AS "wrong",
    ("group_1" - 1) // 2 AS "block_1"
  FROM (
    SELECT
      *, ROW_NUMBER() OVER () - 1 AS "number", LAG("group_0", 1) OVER () AS "group_0_1_before",
      LAG("group_1", 1) OVER () AS "group_1_1_before"
    FROM (
      SELECT *
      FROM (
        SELECT "group_1" AS "group_0", "group_2" AS "group_1"
        FROM "memory"."main"."__sqlanon_candidate_3" AS "association"
      ) AS "published"
      ORDER BY "group_0" ASC NULLS LAST, "group_1" ASC NULLS LAST
    ) AS "ordered"
  ) AS "read"
  WHERE
    "number" % 4 = 0
    OR NOT COALESCE(
      "group_0" = "number" // 2 + 1 AND ("number" % 4 < 1 OR ("group_1" - 1) // 2 = ("group_1_1_before" - 1) // 2)
      AND ("number" % 4 < 1 OR "group_0" <> "group_0_1_before" OR "group_1" <> "group_1_1_before"), FALSE
    )
) AS "checked";
