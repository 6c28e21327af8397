-- Look for: certain rows count whole; the others (xor of the two masks) with the product of their shares; one sum for
-- each query; high has the rows withheld.

INSERT INTO "__sqlanon_estimated_1" ("query_id", "groups", "result", "estimate", "spread", "low", "high", "kept")
SELECT "query_id", "groups", "result", "estimate", "spread", "low", "high", TRUE AS "kept"
FROM (
  WITH "bucketed" AS (
    SELECT
      "query", SUM(CASE WHEN "certain" THEN "n" * 1.0 ELSE "n" * "p" END) AS "hits",
      SUM(CASE WHEN "certain" THEN 0.0 ELSE "n" * "p" * (1 - "p") END) AS "variance",
      BOOL_OR(CAST("p" IS NULL AND NOT "certain" AS BOOLEAN)) AS "unknown",
      SUM(CASE WHEN "certain" THEN "n" ELSE 0 END) AS "certain_rows", SUM("n") AS "possible_rows",
      ANY_VALUE("satisfying") AS "satisfying", ANY_VALUE("total") AS "total"
    FROM (
      SELECT
        "query", "n", "p", "certain", 0 AS "bucket", CAST(NULL AS DOUBLE) AS "satisfying",
        CAST(NULL AS DOUBLE) AS "total"
      FROM (
        SELECT "query", CAST(SUM("n") AS BIGINT) AS "n", CAST(1.0 AS DOUBLE) AS "p", TRUE AS "certain"
        FROM (
          SELECT CAST("masked"."word" * 64 + "bit"."bit" AS INT) AS "query", "masked"."n"
          FROM "__sqlanon_masked_1" AS "masked"
          CROSS JOIN "__sqlanon_bit_1" AS "bit"
          WHERE ("masked"."certain" & "bit"."value") <> 0
        ) AS "each"
        GROUP BY "query"
        UNION ALL
        SELECT
          "each"."query", "each"."n",
          (
            CAST(1 AS DOUBLE) * CASE WHEN "share_0"."query" IS NULL THEN CAST(1.0 AS DOUBLE) ELSE "share_0"."p" END
          ) * CASE WHEN "share_1"."query" IS NULL THEN CAST(1.0 AS DOUBLE) ELSE "share_1"."p" END AS "p",
          FALSE AS "certain"
        FROM (
          SELECT
            CAST("masked"."word" * 64 + "bit"."bit" AS INT) AS "query", "masked"."n", "masked"."number_0",
            "masked"."number_1"
          FROM "__sqlanon_masked_1" AS "masked"
          CROSS JOIN "__sqlanon_bit_1" AS "bit"
          WHERE ((XOR("masked"."possible", "masked"."certain")) & "bit"."value") <> 0
        ) AS "each"
        LEFT JOIN "__sqlanon_share_1" AS "share_0"
          ON "each"."query" = "share_0"."query" AND "each"."number_0" = "share_0"."number"
        LEFT JOIN "__sqlanon_share_2" AS "share_1"
          ON "each"."query" = "share_1"."query" AND "each"."number_1" = "share_1"."number"
      ) AS "candidate"
    ) AS "matched"
    GROUP BY "query", "bucket"
  ), "counted" AS (
    SELECT
      "query", SUM("hits") AS "hits", SUM("variance") AS "variance", BOOL_OR(CAST("unknown" AS BOOLEAN)) AS "unknown",
      SUM(GREATEST("certain_rows", COALESCE("possible_rows" + "satisfying" - "total", 0))) AS "low",
      SUM(LEAST("possible_rows", COALESCE("satisfying", "possible_rows"))) AS "high"
    FROM "bucketed"
    GROUP BY "query"
  )
  SELECT
    "asked"."query_id", '[]' AS "groups", "asked"."result",
    CASE WHEN NOT COALESCE("unknown", FALSE) THEN COALESCE(CAST("hits" AS DOUBLE), 0.0) END AS "estimate",
    CASE WHEN NOT COALESCE("unknown", FALSE) THEN COALESCE(SQRT(GREATEST(CAST("variance" AS DOUBLE), 0)), 0.0)
    END AS "spread",
    CAST(COALESCE("low", 0) AS BIGINT) AS "low", CAST(COALESCE("high", 0) + "withheld"."rows" AS BIGINT) AS "high"
  FROM "__sqlanon_asked_1" AS "asked"
  LEFT JOIN "counted" USING ("query")
  CROSS JOIN (SELECT CAST(1 AS BIGINT) AS "rows") AS "withheld"
) AS "results";
