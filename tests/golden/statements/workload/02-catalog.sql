-- Look for: all draws are md5 of seed, purpose, query and number, which no thread or setting changes; two
-- quasi-identifiers and the sensitive column a query; values in value order within IN; ORDER BY the query's number.

INSERT INTO "anon"."workload" ("workload", "query_id", "sql")
SELECT *
FROM (
  WITH "query" AS (SELECT UNNEST(RANGE(1, 5 + 1)) AS "query_id"), "choice" AS (
    SELECT *
    FROM (
      WITH "numbered" AS (
        SELECT
          "query_id", "attribute",
          ROW_NUMBER() OVER (
            PARTITION BY "query_id"
            ORDER BY md5_number_lower(
              CONCAT_WS('/', '1' || ' attribute', CAST("query_id" AS TEXT), CAST("attribute" AS TEXT))
            ) ASC NULLS LAST
          ) AS "number"
        FROM (SELECT "query_id", UNNEST([0, 1, 2]) AS "attribute" FROM "query") AS "each"
      )
      SELECT "query_id", CAST("attribute" AS INT) AS "attribute"
      FROM "numbered"
      WHERE "number" <= 2
      UNION ALL
      SELECT *
      FROM (
        WITH "numbered" AS (
          SELECT
            "query_id", "attribute",
            ROW_NUMBER() OVER (
              PARTITION BY "query_id"
              ORDER BY md5_number_lower(
                CONCAT_WS('/', '1' || ' attribute', CAST("query_id" AS TEXT), CAST("attribute" AS TEXT))
              ) ASC NULLS LAST
            ) AS "number"
          FROM (SELECT "query_id", UNNEST([3]) AS "attribute" FROM "query") AS "each"
        )
        SELECT "query_id", CAST("attribute" AS INT) AS "attribute"
        FROM "numbered"
        WHERE "number" <= 1
      ) AS "part"
    ) AS "choices"
  ), "predicate" AS (
    SELECT *
    FROM (
      WITH "each" AS ({each('1 value 0', "__sqlanon_values_1", 0)})
      SELECT
        "query_id", CAST(0 AS INT) AS "attribute", '"dob"' || ' IN (' || LISTAGG("text", ', '
        ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
      FROM "each"
      WHERE "number" <= 8
      GROUP BY "query_id"
      UNION ALL
      SELECT *
      FROM (
        WITH "each" AS ({each('1 value 1', "__sqlanon_values_2", 1)})
        SELECT
          "query_id", CAST(1 AS INT) AS "attribute", '"sex"' || ' IN (' || LISTAGG("text", ', '
          ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
        FROM "each"
        WHERE "number" <= 1
        GROUP BY "query_id"
      ) AS "part"
      UNION ALL
      SELECT *
      FROM (
        WITH "each" AS ({each('1 value 2', "__sqlanon_values_3", 2)})
        SELECT
          "query_id", CAST(2 AS INT) AS "attribute", '"zip"' || ' IN (' || LISTAGG("text", ', '
          ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
        FROM "each"
        WHERE "number" <= 7
        GROUP BY "query_id"
      ) AS "part"
      UNION ALL
      SELECT *
      FROM (
        WITH "each" AS ({each('1 value 3', "__sqlanon_values_4", 3)})
        SELECT
          "query_id", CAST(3 AS INT) AS "attribute", '"disease"' || ' IN (' || LISTAGG("text", ', '
          ORDER BY "rank" ASC NULLS LAST) || ')' AS "predicate"
        FROM "each"
        WHERE "number" <= 5
        GROUP BY "query_id"
      ) AS "part"
    ) AS "predicates"
  )
  SELECT
    'counts' AS "workload", "query_id", 'SELECT count(*) AS n FROM "patients" WHERE ' || LISTAGG("predicate", ' AND '
    ORDER BY "attribute" ASC NULLS LAST) AS "sql"
  FROM "predicate"
  GROUP BY "query_id"
) AS "query"
ORDER BY "query_id" ASC NULLS LAST;
