-- Look for: a bit a query and a word for 64: OR over the labels' queries and those that do not ask the column, AND
-- over the columns; rows no query may have are gone (possible <> 0).

CREATE TEMPORARY TABLE "__sqlanon_masks_1" AS
SELECT
  "column_index", "number", ANY_VALUE("possible") FILTER(WHERE "word" = 0) AS "possible_0",
  ANY_VALUE("certain") FILTER(WHERE "word" = 0) AS "certain_0"
FROM (
  WITH "satisfied" AS (
    SELECT
      "column_index", "number", "query" // 64 AS "word",
      BIT_OR(CAST(1 AS UBIGINT) << CAST("query" % 64 AS INT)) AS "possible",
      BIT_OR(CASE WHEN "certain" THEN CAST(1 AS UBIGINT) << CAST("query" % 64 AS INT) END) AS "certain"
    FROM (
      SELECT 0 AS "column_index", "number", "query", "certain"
      FROM "__sqlanon_share_1" AS "share"
      UNION ALL
      SELECT 1 AS "column_index", "number", "query", "certain"
      FROM "__sqlanon_share_2" AS "share"
      UNION ALL
      SELECT 2 AS "column_index", "number", "query", TRUE AS "certain"
      FROM ({share("__sqlanon_label_3", 2)}) AS "share"
      UNION ALL
      SELECT 3 AS "column_index", "number", "query", TRUE AS "certain"
      FROM ({share("__sqlanon_label_4", 3)}) AS "share"
    ) AS "share"
    GROUP BY "column_index", "number", "query" // 64
  )
  SELECT
    "label"."column_index", "label"."number", "word"."word",
    COALESCE("satisfied"."possible", CAST(0 AS UBIGINT)) | "word"."others" AS "possible",
    COALESCE("satisfied"."certain", CAST(0 AS UBIGINT)) | "word"."others" AS "certain"
  FROM (
    SELECT DISTINCT 0 AS "column_index", "number"
    FROM "__sqlanon_label_1" AS "labels"
    UNION ALL
    SELECT DISTINCT 1 AS "column_index", "number"
    FROM "__sqlanon_label_2" AS "labels"
    UNION ALL
    SELECT DISTINCT 2 AS "column_index", "number"
    FROM "__sqlanon_label_3" AS "labels"
    UNION ALL
    SELECT DISTINCT 3 AS "column_index", "number"
    FROM "__sqlanon_label_4" AS "labels"
  ) AS "label"
  JOIN "__sqlanon_others_1" AS "word" ON "label"."column_index" = "word"."column_index"
  LEFT JOIN "satisfied"
    ON "label"."column_index" = "satisfied"."column_index" AND "label"."number" = "satisfied"."number"
    AND "word"."word" = "satisfied"."word"
) AS "label_words"
GROUP BY "column_index", "number";

CREATE TEMPORARY TABLE "__sqlanon_mask_1" AS SELECT * FROM "__sqlanon_masks_1" AS "masks" WHERE "column_index" = 0;
CREATE TEMPORARY TABLE "__sqlanon_mask_2" AS SELECT * FROM "__sqlanon_masks_1" AS "masks" WHERE "column_index" = 1;
CREATE TEMPORARY TABLE "__sqlanon_mask_3" AS SELECT * FROM "__sqlanon_masks_1" AS "masks" WHERE "column_index" = 2;
CREATE TEMPORARY TABLE "__sqlanon_mask_4" AS SELECT * FROM "__sqlanon_masks_1" AS "masks" WHERE "column_index" = 3;

CREATE TEMPORARY TABLE "__sqlanon_masked_1" AS
SELECT *
FROM (
  SELECT
    "n", "number_0", "number_1", unnest([CAST(0 AS INT)]) AS "word", unnest(["possible_0"]) AS "possible",
    unnest(["certain_0"]) AS "certain"
  FROM (
    SELECT
      "class"."n", "class"."number_0", "class"."number_1",
      "mask_0"."possible_0" & "mask_1"."possible_0" & "mask_2"."possible_0" & "mask_3"."possible_0" AS "possible_0",
      "mask_0"."certain_0" & "mask_1"."certain_0" & "mask_2"."certain_0" & "mask_3"."certain_0" AS "certain_0"
    FROM "__sqlanon_class_1" AS "class"
    JOIN "__sqlanon_mask_1" AS "mask_0" ON "class"."number_0" = "mask_0"."number"
    JOIN "__sqlanon_mask_2" AS "mask_1" ON "class"."number_1" = "mask_1"."number"
    JOIN "__sqlanon_mask_3" AS "mask_2" ON "class"."number_2" = "mask_2"."number"
    JOIN "__sqlanon_mask_4" AS "mask_3" ON "class"."number_3" = "mask_3"."number"
  ) AS "words"
) AS "long"
WHERE "possible" <> 0;

CREATE TEMPORARY TABLE "__sqlanon_bit_1" AS
SELECT CAST("bit" AS INT) AS "bit", CAST(1 AS UBIGINT) << CAST("bit" AS INT) AS "value"
FROM (SELECT UNNEST(RANGE(0, 5)) AS "bit") AS "number";
