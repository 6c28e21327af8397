-- Look for: all draws are md5 of seed, purpose, query and number, which no thread or setting changes; two
-- quasi-identifiers and the sensitive column a query; values in value order within IN; ORDER BY the query's number.

INSERT INTO "anon"."workload" ("workload", "query_id", "sql")
SELECT *
FROM (
  WITH "query" AS (SELECT UNNEST(range(1, 6)) AS "query_id"), "choice" AS (
    SELECT "query_id", CAST("attribute" AS INT) AS "attribute"
    FROM (
      SELECT
        *,
        ROW_NUMBER() OVER (
          PARTITION BY "query_id"
          ORDER BY md5_number_lower(
            concat_ws('/', '1 attribute', CAST("query_id" AS TEXT), CAST("attribute" AS TEXT))
          ) ASC NULLS LAST
        ) AS "number"
      FROM (SELECT "query_id", UNNEST([0, 1, 2]) AS "attribute" FROM "query") AS "each"
    ) AS "n"
    WHERE "number" <= 2
    UNION ALL
    SELECT "query_id", CAST("attribute" AS INT) AS "attribute"
    FROM (
      SELECT
        *,
        ROW_NUMBER() OVER (
          PARTITION BY "query_id"
          ORDER BY md5_number_lower(
            concat_ws('/', '1 attribute', CAST("query_id" AS TEXT), CAST("attribute" AS TEXT))
          ) ASC NULLS LAST
        ) AS "number"
      FROM (SELECT "query_id", UNNEST([3]) AS "attribute" FROM "query") AS "each"
    ) AS "n"
    WHERE "number" <= 1
  ), "predicate" AS (
    SELECT
      "query_id", CAST(0 AS INT) AS "attribute",
      '"dob" IN (' || string_agg("text", ', ' ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
    FROM ({each('1 value 0', "__sqlanon_values_1", 0)}) AS "each"
    WHERE "number" <= 8
    GROUP BY "query_id"
    UNION ALL
    SELECT
      "query_id", CAST(1 AS INT) AS "attribute",
      '"sex" IN (' || string_agg("text", ', ' ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
    FROM ({each('1 value 1', "__sqlanon_values_2", 1)}) AS "each"
    WHERE "number" <= 1
    GROUP BY "query_id"
    UNION ALL
    SELECT
      "query_id", CAST(2 AS INT) AS "attribute",
      '"zip" IN (' || string_agg("text", ', ' ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
    FROM ({each('1 value 2', "__sqlanon_values_3", 2)}) AS "each"
    WHERE "number" <= 7
    GROUP BY "query_id"
    UNION ALL
    SELECT
      "query_id", CAST(3 AS INT) AS "attribute",
      '"disease" IN (' || string_agg("text", ', ' ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
    FROM ({each('1 value 3', "__sqlanon_values_4", 3)}) AS "each"
    WHERE "number" <= 5
    GROUP BY "query_id"
  )
  SELECT
    'counts' AS "workload", "query_id",
    'SELECT count(*) AS n FROM "patients" WHERE ' || string_agg("predicate", ' AND ' ORDER BY "attribute" ASC NULLS LAST) AS "sql"
  FROM "predicate"
  GROUP BY "query_id"
) AS "query"
ORDER BY "query_id" ASC NULLS LAST;
