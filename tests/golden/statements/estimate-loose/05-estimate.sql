-- Look for: the same text as for buckets but for the five rows that were withheld, which are in the upper bound.

CREATE TEMPORARY TABLE "__sqlanon_estimate_1" AS
SELECT
  "key",
  "number",
  "possible",
  "count",
  "count_spread",
  "count_low",
  "count_high",
  "sum",
  "sum_spread",
  "avg",
  "avg_spread",
  "avg_low",
  "avg_high",
  "min",
  "min_spread",
  "max",
  "max_spread",
  "sum_low" AS "sum_low",
  "sum_high" AS "sum_high",
  "min_low" AS "min_low",
  "min_high" AS "min_high",
  "max_low" AS "max_low",
  "max_high" AS "max_high",
  CAST(NULL AS DOUBLE) AS "inexact_sum_low",
  CAST(NULL AS DOUBLE) AS "inexact_sum_high",
  CAST(NULL AS DOUBLE) AS "inexact_min_low",
  CAST(NULL AS DOUBLE) AS "inexact_min_high",
  CAST(NULL AS DOUBLE) AS "inexact_max_low",
  CAST(NULL AS DOUBLE) AS "inexact_max_high"
FROM (
  WITH "known" AS (
    SELECT
      "key",
      "number",
      "unit",
      "n",
      "certain",
      "possible",
      "p",
      "least",
      "greatest",
      CASE
        WHEN "certain" AND "least" = "greatest"
        THEN CAST("least" AS DOUBLE) / COALESCE("unit", 1)
        ELSE "first"
      END AS "first",
      CASE
        WHEN "certain" AND "least" = "greatest"
        THEN CAST(0.0 AS DOUBLE)
        ELSE "second" - "first" * "first"
      END AS "spread",
      CASE
        WHEN "unit" IS NULL
        OR "least" BETWEEN -1000000000000000000000000000 AND 1000000000000000000000000000
        THEN "least"
      END AS "low",
      CASE
        WHEN "unit" IS NULL
        OR "greatest" BETWEEN -1000000000000000000000000000 AND 1000000000000000000000000000
        THEN "greatest"
      END AS "high"
    FROM (
      WITH "counted" AS (
        SELECT
          *,
          COUNT(*) OVER (PARTITION BY "id", "number") AS "combinations",
          BOOL_OR(CAST("share" IS NULL AS BOOLEAN)) OVER (PARTITION BY "id", "number") AS "unknown"
        FROM "__sqlanon_combination_1" AS "combination"
      )
      SELECT
        "id",
        "key",
        "number",
        ANY_VALUE("unit") AS "unit",
        ANY_VALUE("n") AS "n",
        COUNT_IF("holds") = ANY_VALUE("combinations") AS "certain",
        COUNT_IF("holds") > 0 AS "possible",
        CASE
          WHEN COUNT_IF("holds") = ANY_VALUE("combinations")
          THEN 1.0
          WHEN COUNT_IF("holds") = 0
          THEN 0.0
          WHEN ANY_VALUE("unknown")
          THEN NULL
          ELSE LEAST(1.0, SUM("share") FILTER(WHERE
            "holds"))
        END AS "p",
        CASE
          WHEN COUNT_IF("holds") = 0
          THEN 0.0
          WHEN ANY_VALUE("unknown") OR COUNT_IF("holds" AND "share" > 0 AND "mean" IS NULL) > 0
          THEN NULL
          ELSE COALESCE(SUM("share" * "mean") FILTER(WHERE
            "holds" AND "share" > 0), 0.0)
        END AS "first",
        CASE
          WHEN COUNT_IF("holds") = 0
          THEN 0.0
          WHEN ANY_VALUE("unknown") OR COUNT_IF("holds" AND "share" > 0 AND "mean" IS NULL) > 0
          THEN NULL
          ELSE COALESCE(SUM("share" * "square") FILTER(WHERE
            "holds" AND "share" > 0), 0.0)
        END AS "second",
        CASE
          WHEN COUNT_IF("holds" AND "least" IS NULL) = 0
          THEN MIN("least") FILTER(WHERE
            "holds")
        END AS "least",
        CASE
          WHEN COUNT_IF("holds" AND "greatest" IS NULL) = 0
          THEN MAX("greatest") FILTER(WHERE
            "holds")
        END AS "greatest"
      FROM "counted"
      GROUP BY
        "id",
        "key",
        "number"
    ) AS "class"
  ), "total" AS (
    SELECT
      "key",
      "number",
      ANY_VALUE("unit") AS "unit",
      CASE WHEN BOOL_OR(CAST("p" IS NULL AS BOOLEAN)) THEN NULL ELSE SUM("n" * "p") END AS "hits",
      CASE
        WHEN BOOL_OR(CAST("p" IS NULL AS BOOLEAN))
        THEN NULL
        ELSE SUM("n" * "p" * (
          1 - "p"
        ))
      END AS "hits_variance",
      COALESCE(SUM("n") FILTER(WHERE
        "certain"), 0) AS "certain_rows",
      COALESCE(SUM("n") FILTER(WHERE
        "possible"), 0) AS "possible_rows",
      CASE
        WHEN BOOL_OR(CAST("first" IS NULL AS BOOLEAN))
        THEN NULL
        ELSE SUM("n" * "first")
      END AS "value",
      CASE
        WHEN BOOL_OR(CAST("first" IS NULL AS BOOLEAN))
        THEN NULL
        ELSE SUM("n" * "spread")
      END AS "value_variance",
      CASE
        WHEN BOOL_OR(CAST("p" IS NULL OR "first" IS NULL AS BOOLEAN))
        THEN NULL
        ELSE SUM("n" * "first" * (
          1 - "p"
        ))
      END AS "covariance",
      COUNT_IF("possible" AND "low" IS NULL) = 0 AS "has_low",
      COUNT_IF("possible" AND "high" IS NULL) = 0 AS "has_high",
      SUM("n" * CASE WHEN "certain" THEN "low" WHEN "possible" THEN LEAST("low", 0) END) AS "value_low",
      SUM(
        "n" * CASE WHEN "certain" THEN "high" WHEN "possible" THEN GREATEST("high", 0) END
      ) AS "value_high",
      SUM("n" * "low") FILTER(WHERE
        "certain") AS "certain_low",
      SUM("n" * "high") FILTER(WHERE
        "certain") AS "certain_high",
      CASE
        WHEN COUNT_IF("possible" AND "least" IS NULL) = 0
        THEN MIN("least") FILTER(WHERE
          "possible")
      END AS "possible_least",
      CASE
        WHEN COUNT_IF("possible" AND "greatest" IS NULL) = 0
        THEN MAX("greatest") FILTER(WHERE
          "possible")
      END AS "possible_most",
      MIN("greatest") FILTER(WHERE
        "certain") AS "least_certain",
      MAX("least") FILTER(WHERE
        "certain") AS "most_certain",
      CASE
        WHEN BOOL_OR(CAST("p" IS NULL OR "first" IS NULL AS BOOLEAN))
        THEN NULL
        ELSE COALESCE(
          MIN("first" / "p") FILTER(WHERE
            "p" > 0.499999999999),
          MIN("first" / "p") FILTER(WHERE
            "p" > 0)
        )
      END AS "expected_min",
      CASE
        WHEN BOOL_OR(CAST("p" IS NULL OR "first" IS NULL AS BOOLEAN))
        THEN NULL
        ELSE COALESCE(
          MAX("first" / "p") FILTER(WHERE
            "p" > 0.499999999999),
          MAX("first" / "p") FILTER(WHERE
            "p" > 0)
        )
      END AS "expected_max",
      COUNT(*) AS "classes",
      MAX(
        CASE WHEN "unit" IS NULL AND "possible" THEN GREATEST(ABS("low"), ABS("high")) END
      ) AS "most",
      SUM(
        CASE
          WHEN "unit" IS NULL AND "possible"
          THEN "n" * GREATEST(ABS("low"), ABS("high"))
        END
      ) AS "magnitude",
      BOOL_AND(
        CAST(CASE
          WHEN "unit" IS NULL AND "possible"
          THEN "low" * 1024 = TRUNC("low" * 1024) AND "high" * 1024 = TRUNC("high" * 1024)
        END AS BOOLEAN)
      ) AS "on_grid"
    FROM "known"
    GROUP BY
      "key",
      "number"
  ), "rounding" AS (
    SELECT
      *,
      CASE
        WHEN "unit" IS NULL AND NOT (
          "on_grid" AND "magnitude" < 8e12
        )
        THEN (
          4.0 * "possible_rows" + 4.0 * "classes" + 16
        ) * 1.2e-16
        ELSE 0.0
      END AS "slack"
    FROM "total"
  ), "lowest" AS (
    SELECT
      "key",
      "number",
      SUM("n" * "low") OVER "least_first" AS "added",
      SUM("n") OVER "least_first" AS "added_rows"
    FROM (
      SELECT
        "key",
        "number",
        "low",
        SUM("n") AS "n"
      FROM "known"
      WHERE
        "possible" AND NOT "certain" AND NOT "low" IS NULL
      GROUP BY
        "key",
        "number",
        "low"
    ) AS "open"
    WINDOW "least_first" AS (
      PARTITION BY "key", "number"
      ORDER BY "low" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  ), "highest" AS (
    SELECT
      "key",
      "number",
      SUM("n" * "high") OVER "greatest_first" AS "added",
      SUM("n") OVER "greatest_first" AS "added_rows"
    FROM (
      SELECT
        "key",
        "number",
        "high",
        SUM("n") AS "n"
      FROM "known"
      WHERE
        "possible" AND NOT "certain" AND NOT "high" IS NULL
      GROUP BY
        "key",
        "number",
        "high"
    ) AS "open"
    WINDOW "greatest_first" AS (
      PARTITION BY "key", "number"
      ORDER BY "high" DESC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  ), "choice" AS (
    SELECT
      "key",
      "number",
      "unit",
      -1 AS "side",
      "certain_low" AS "added",
      "certain_rows" AS "added_rows"
    FROM "total"
    WHERE
      "certain_rows" > 0
    UNION ALL
    SELECT
      "key",
      "number",
      "unit",
      1 AS "side",
      "certain_high" AS "added",
      "certain_rows" AS "added_rows"
    FROM "total"
    WHERE
      "certain_rows" > 0
    UNION ALL
    SELECT
      "total"."key",
      "total"."number",
      "unit",
      -1 AS "side",
      COALESCE("certain_low", 0) + "added" AS "added",
      "certain_rows" + "added_rows" AS "added_rows"
    FROM "total"
    JOIN "lowest"
      ON "total"."key" IS NOT DISTINCT FROM "lowest"."key"
      AND "total"."number" = "lowest"."number"
    UNION ALL
    SELECT
      "total"."key",
      "total"."number",
      "unit",
      1 AS "side",
      COALESCE("certain_high", 0) + "added" AS "added",
      "certain_rows" + "added_rows" AS "added_rows"
    FROM "total"
    JOIN "highest"
      ON "total"."key" IS NOT DISTINCT FROM "highest"."key"
      AND "total"."number" = "highest"."number"
  ), "divided" AS (
    SELECT
      "key",
      "number",
      "side",
      CAST("added" AS DOUBLE) / (
        CAST("added_rows" AS DOUBLE) * COALESCE("unit", 1)
      ) AS "mean",
      CASE
        WHEN "unit" IS NULL
        THEN TRUE
        WHEN ABS(CAST("added" AS DOUBLE)) < 1e15
        AND CAST("added_rows" AS DOUBLE) * "unit" < 1e15
        THEN "added" * 1024 % (
          "added_rows" * "unit"
        ) = 0
        ELSE FALSE
      END AS "exact"
    FROM "choice"
  ), "mean" AS (
    SELECT
      "key",
      "number",
      MIN(CASE WHEN "exact" THEN "mean" ELSE "mean" - ABS("mean") * 1e-15 - 1e-307 END) FILTER(WHERE
        "side" = -1) AS "low",
      MAX(CASE WHEN "exact" THEN "mean" ELSE "mean" + ABS("mean") * 1e-15 + 1e-307 END) FILTER(WHERE
        "side" = 1) AS "high"
    FROM "divided"
    GROUP BY
      "key",
      "number"
  ), "figure" AS (
    SELECT
      "rounding".*
      EXCLUDE ("value"),
      "withheld"."rows" AS "withheld_rows",
      "withheld"."rows" = 0 AND "possible_rows" > 0 AND "has_low" AS "whole_low",
      "withheld"."rows" = 0 AND "possible_rows" > 0 AND "has_high" AS "whole_high",
      CASE
        WHEN "has_low" AND "has_high" AND "value_low" = "value_high"
        THEN CAST("value_low" AS DOUBLE) / COALESCE("unit", 1)
        ELSE "value"
      END AS "value",
      CASE WHEN "slack" > 0 THEN "slack" * "magnitude" + 1e-307 ELSE 0 END AS "sum_slack",
      CASE WHEN "slack" > 0 THEN "slack" * "most" + 1e-307 ELSE 0 END AS "mean_slack",
      "mean"."low" AS "mean_low",
      "mean"."high" AS "mean_high",
      "bound"."low" AS "bound_low",
      "bound"."high" AS "bound_high"
    FROM "rounding"
    LEFT JOIN "mean"
      ON "rounding"."key" IS NOT DISTINCT FROM "mean"."key"
      AND "rounding"."number" = "mean"."number"
    LEFT JOIN (
      WITH "counted" AS (
        SELECT
          *,
          COUNT(*) OVER (PARTITION BY "id", "key", "number") AS "holding"
        FROM (
          SELECT
            *
          FROM "__sqlanon_combination_1"
          WHERE
            "number" IN (1)
        ) AS "combination"
        WHERE
          "holds"
      ), "class" AS (
        SELECT
          "component",
          "id",
          "key",
          "number",
          ANY_VALUE("drawn") AS "drawn",
          ANY_VALUE("n") AS "n",
          ANY_VALUE("holding") AS "holding",
          ANY_VALUE("holding" = "ways") AS "certain"
        FROM "counted"
        GROUP BY
          "component",
          "id",
          "key",
          "number"
      ), "asked" AS (
        SELECT
          "component",
          "place",
          "bucket",
          "key",
          "number",
          ANY_VALUE("total") AS "total",
          SUM("n") AS "possible",
          SUM(CASE WHEN "certain" THEN 0 ELSE "n" END) AS "open"
        FROM (
          SELECT
            "component",
            "key",
            "number",
            "n",
            "certain",
            UNNEST("drawn", "recursive" := TRUE)
          FROM "class"
        ) AS "taken"
        GROUP BY
          "component",
          "place",
          "bucket",
          "key",
          "number"
      ), "taken" AS (
        SELECT
          "id",
          "key",
          "number",
          "n",
          "ways",
          "holding",
          "holding" = "ways" AS "certain",
          UNNEST("drawn", "recursive" := TRUE)
        FROM "counted"
      ), "held" AS (
        SELECT
          "id",
          "key",
          "number",
          "place",
          "bucket",
          "signature",
          ANY_VALUE("n") AS "n",
          ANY_VALUE("weight") AS "weight",
          ANY_VALUE("holding") AS "holding",
          ANY_VALUE("certain") AS "certain",
          COUNT(*) * ANY_VALUE("signatures") = ANY_VALUE("ways") AS "always"
        FROM "taken"
        GROUP BY
          "id",
          "key",
          "number",
          "place",
          "bucket",
          "signature"
      ), "box" AS (
        SELECT
          "key",
          "number",
          "id",
          ABS(product("signatures") - ANY_VALUE("holding")) < 0.5 AS "whole"
        FROM (
          SELECT
            "key",
            "number",
            "id",
            "place",
            COUNT(*) AS "signatures",
            ANY_VALUE("holding") AS "holding"
          FROM "held"
          GROUP BY
            "key",
            "number",
            "id",
            "place"
        ) AS "side"
        GROUP BY
          "key",
          "number",
          "id"
      ), "whole" AS (
        SELECT
          "class"."component",
          "class"."key",
          "class"."number",
          BOOL_AND(CAST("class"."certain" OR "box"."whole" AS BOOLEAN)) AS "whole"
        FROM "class"
        JOIN "box"
          ON "class"."id" = "box"."id"
          AND "class"."key" IS NOT DISTINCT FROM "box"."key"
          AND "class"."number" = "box"."number"
        GROUP BY
          "class"."component",
          "class"."key",
          "class"."number"
      ), "value" AS (
        SELECT
          "place",
          "bucket",
          "key",
          "number",
          "signature",
          ANY_VALUE("weight") AS "weight",
          SUM(CASE WHEN "certain" THEN 0 ELSE "n" END) AS "open",
          SUM(CASE WHEN "always" THEN "n" ELSE 0 END) AS "always"
        FROM "held"
        GROUP BY
          "place",
          "bucket",
          "key",
          "number",
          "signature"
      ), "bounded" AS (
        SELECT
          "asked"."component",
          "asked"."place",
          "asked"."key",
          "asked"."number",
          ANY_VALUE("asked"."possible") AS "possible",
          ANY_VALUE("asked"."open") AS "open",
          SUM(LEAST("value"."weight", "value"."open")) AS "satisfying",
          ANY_VALUE("asked"."total") - SUM("value"."weight") + SUM(LEAST("value"."weight", "asked"."possible" - "value"."always")) AS "failing",
          ANY_VALUE("asked"."total") - SUM("value"."weight") + SUM(LEAST("value"."weight", "asked"."open" - "value"."open")) AS "apart"
        FROM "asked"
        JOIN "value"
          ON "asked"."place" = "value"."place"
          AND "asked"."bucket" IS NOT DISTINCT FROM "value"."bucket"
          AND "asked"."key" IS NOT DISTINCT FROM "value"."key"
          AND "asked"."number" = "value"."number"
        GROUP BY
          "asked"."component",
          "asked"."place",
          "asked"."bucket",
          "asked"."key",
          "asked"."number"
      ), "placed" AS (
        SELECT
          "component",
          "place",
          "key",
          "number",
          SUM("possible") AS "possible",
          SUM("open") AS "open",
          SUM(LEAST("open", "satisfying")) AS "satisfying",
          SUM(LEAST("open", "failing")) AS "failing",
          SUM(LEAST("open", "apart")) AS "apart"
        FROM "bounded"
        GROUP BY
          "component",
          "place",
          "key",
          "number"
      ), "narrowest" AS (
        SELECT
          "placed"."component",
          "placed"."key",
          "placed"."number",
          ANY_VALUE("possible") - LEAST(
            ANY_VALUE("open"),
            MIN("failing"),
            CASE WHEN ANY_VALUE("whole"."whole") THEN SUM("apart") ELSE ANY_VALUE("open") END
          ) AS "low",
          ANY_VALUE("possible") - ANY_VALUE("open") + MIN("satisfying") AS "high"
        FROM "placed"
        JOIN "whole"
          ON "placed"."component" IS NOT DISTINCT FROM "whole"."component"
          AND "placed"."key" IS NOT DISTINCT FROM "whole"."key"
          AND "placed"."number" = "whole"."number"
        GROUP BY
          "placed"."component",
          "placed"."key",
          "placed"."number"
      )
      SELECT
        "key",
        "number",
        SUM("low") AS "low",
        SUM("high") AS "high"
      FROM "narrowest"
      GROUP BY
        "key",
        "number"
    ) AS "bound"
      ON "rounding"."key" IS NOT DISTINCT FROM "bound"."key"
      AND "rounding"."number" = "bound"."number"
    CROSS JOIN (
      SELECT
        CAST(5 AS BIGINT) AS "rows"
    ) AS "withheld"
  ), "figures" AS (
    SELECT
      "key",
      "number",
      "possible_rows" > 0 AS "possible",
      CAST("hits" AS DOUBLE) AS "count",
      CASE
        WHEN NOT "hits" IS NULL
        THEN SQRT(GREATEST(CAST("hits_variance" AS DOUBLE), 0))
      END AS "count_spread",
      CAST(COALESCE("bound_low", "certain_rows") AS BIGINT) AS "count_low",
      CAST(COALESCE("bound_high", "possible_rows") + "withheld_rows" AS BIGINT) AS "count_high",
      CASE WHEN "possible_rows" > 0 THEN "value" END AS "sum",
      CASE
        WHEN "possible_rows" > 0 AND NOT "value" IS NULL
        THEN SQRT(GREATEST("value_variance", 0))
      END AS "sum_spread",
      CASE WHEN "whole_low" THEN "value_low" - cast_to_type("sum_slack", "value_low") END AS "sum_low",
      CASE
        WHEN "whole_high"
        THEN "value_high" + cast_to_type("sum_slack", "value_high")
      END AS "sum_high",
      "value" / NULLIF("hits", 0) AS "avg",
      CASE
        WHEN NOT "value" IS NULL
        THEN SQRT(
          GREATEST(
            "value_variance" - 2 * (
              "value" / NULLIF("hits", 0)
            ) * "covariance" + (
              "value" / NULLIF("hits", 0)
            ) * (
              "value" / NULLIF("hits", 0)
            ) * "hits_variance",
            0
          )
        ) / NULLIF("hits", 0)
      END AS "avg_spread",
      CASE WHEN "whole_low" THEN "mean_low" - "mean_slack" END AS "avg_low",
      CASE WHEN "whole_high" THEN "mean_high" + "mean_slack" END AS "avg_high",
      "expected_min" AS "min",
      CASE WHEN "withheld_rows" = 0 THEN "possible_least" END AS "min_low",
      CASE
        WHEN "certain_rows" > 0
        THEN "least_certain"
        WHEN "withheld_rows" = 0
        THEN "possible_most"
      END AS "min_high",
      "expected_max" AS "max",
      CASE
        WHEN "certain_rows" > 0
        THEN "most_certain"
        WHEN "withheld_rows" = 0
        THEN "possible_least"
      END AS "max_low",
      CASE WHEN "withheld_rows" = 0 THEN "possible_most" END AS "max_high"
    FROM "figure"
  )
  SELECT
    "key",
    "number",
    "possible",
    CASE
      WHEN NOT "count" IS NULL
      THEN LEAST(GREATEST("count", "count_low"), COALESCE(CAST("count_high" AS DOUBLE), "count"))
    END AS "count",
    "count_spread",
    "count_low",
    "count_high",
    CASE WHEN isfinite("sum") THEN "sum" END AS "sum",
    CASE WHEN isfinite("sum_spread") THEN "sum_spread" END AS "sum_spread",
    CASE WHEN isfinite(CAST("sum_low" AS DOUBLE)) THEN "sum_low" END AS "sum_low",
    CASE WHEN isfinite(CAST("sum_high" AS DOUBLE)) THEN "sum_high" END AS "sum_high",
    CASE WHEN isfinite("avg") THEN "avg" END AS "avg",
    CASE WHEN isfinite("avg_spread") THEN "avg_spread" END AS "avg_spread",
    CASE WHEN isfinite("avg_low") THEN "avg_low" END AS "avg_low",
    CASE WHEN isfinite("avg_high") THEN "avg_high" END AS "avg_high",
    CASE WHEN NOT ISNAN("min") THEN "min" END AS "min",
    CAST(NULL AS DOUBLE) AS "min_spread",
    CASE WHEN NOT ISNAN(CAST("min_low" AS DOUBLE)) THEN "min_low" END AS "min_low",
    CASE WHEN NOT ISNAN(CAST("min_high" AS DOUBLE)) THEN "min_high" END AS "min_high",
    CASE WHEN NOT ISNAN("max") THEN "max" END AS "max",
    CAST(NULL AS DOUBLE) AS "max_spread",
    CASE WHEN NOT ISNAN(CAST("max_low" AS DOUBLE)) THEN "max_low" END AS "max_low",
    CASE WHEN NOT ISNAN(CAST("max_high" AS DOUBLE)) THEN "max_high" END AS "max_high"
  FROM "figures"
) AS "figures";
