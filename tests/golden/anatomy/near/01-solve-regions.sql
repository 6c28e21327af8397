-- Look for: Mondrian's points with the sensitive value beside their ranks (subject_0).

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
WHERE FALSE;

INSERT INTO "__sqlanon_points_done_1"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  (("point"."key_0" & 15360) >> 10) AS "subject_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
WHERE NOT "point"."label" IN (SELECT "label" FROM "__sqlanon_cut_1" AS "attempts");
