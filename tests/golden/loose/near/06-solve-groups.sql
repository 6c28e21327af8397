-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_groups_1" AS
SELECT
  "cell"."row",
  "numbered"."number_0" * 2 + (
    (
      "cell"."number" % 4
    ) // 2
  ) + 1 AS "group_0",
  "numbered"."number" * 2 + (
    (
      (
        (
          "cell"."number" % 4
        ) % 2
      ) + 0 * (
        (
          "cell"."number" % 4
        ) // 2
      )
    ) % 2
  ) + 1 AS "group_1"
FROM (
  SELECT
    *,
    "rowid" - (
      SELECT
        MIN("rowid")
      FROM "__sqlanon_cells_2"
    ) AS "number"
  FROM "__sqlanon_cells_2"
) AS "cell"
JOIN (
  SELECT
    *,
    "rowid" - (
      SELECT
        MIN("rowid")
      FROM "__sqlanon_numbers_2"
    ) AS "number"
  FROM "__sqlanon_numbers_2"
) AS "numbered"
  ON "cell"."block" = "numbered"."block";
