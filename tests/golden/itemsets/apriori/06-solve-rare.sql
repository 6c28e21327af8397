-- Look for: sets of one label, then of two, by one join more; codes ascend, so that a set is counted once. After a step only sets that have
-- the new label are counted, among the lists that have it. LIMIT 1 is the rare set of least support, the first in the order of labels.

CREATE TEMPORARY TABLE "__sqlanon_rare_1" AS
SELECT "class", "code_0" AS "code_0", "n"
FROM ({counted-2("__sqlanon_labelled_1")}) AS "counted"
WHERE "n" < 2;

INSERT INTO "__sqlanon_rare_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_rare_1";

SELECT "class", "code_0"
FROM "__sqlanon_rare_1"
ORDER BY "n" ASC NULLS LAST, "code_0" ASC NULLS LAST, "class" ASC NULLS LAST
LIMIT 1;

CREATE TEMPORARY TABLE "__sqlanon_rare_2" AS
SELECT "class", "code_0" AS "code_0", "code_1" AS "code_1", "n"
FROM ({counted("__sqlanon_labelled_1")}) AS "counted"
WHERE "n" < 2;

SELECT "class", "code_0", "code_1"
FROM "__sqlanon_rare_2"
ORDER BY "n" ASC NULLS LAST, "code_0" ASC NULLS LAST, "code_1" ASC NULLS LAST, "class" ASC NULLS LAST
LIMIT 1;

DELETE FROM "__sqlanon_rare_2"
WHERE "code_0" IN (SELECT "code" FROM "__sqlanon_raised_1") OR "code_1" IN (SELECT "code" FROM "__sqlanon_raised_1");

INSERT INTO "__sqlanon_rare_2"
SELECT
  "class", CASE WHEN 1 IS NULL OR "code_0" IS NULL THEN NULL ELSE LEAST(1, "code_0") END AS "code_0",
  CASE WHEN "code_0" IS NULL OR 1 IS NULL THEN NULL ELSE GREATEST("code_0", 1) END AS "code_1", "n"
FROM (
  SELECT "item_0"."class", "item_0"."code" AS "code_0", COUNT(*) AS "n"
  FROM (
    SELECT *
    FROM "__sqlanon_labelled_1" AS "labelled"
    WHERE "list_id" IN (SELECT "list_id" FROM "__sqlanon_labelled_1" AS "labelled" WHERE "code" = 1) AND "code" <> 1
  ) AS "item_0"
  GROUP BY "item_0"."class", "item_0"."code"
) AS "counted"
WHERE "n" < 2;
