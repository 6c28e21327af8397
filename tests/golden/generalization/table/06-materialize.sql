-- Look for: the cells turned back into rows, with their numbers; labels only of values that occur; a class_id of two
-- words, since three codes of 31 bits do not fit one; the classes that the model's own violations leave; then the rows,
-- joined with both: no column but those of the policy, and sorted by a drawn number.

CREATE TEMPORARY TABLE "__sqlanon_decoded_1" AS
SELECT "code_0"."value" AS "dob", "code_1"."value" AS "sex", "code_2"."value" AS "zip", "cell"."n" AS "__sqlanon_rows"
FROM "__sqlanon_cells_1" AS "cell"
JOIN (SELECT * FROM "__sqlanon_code_1") AS "code_0" ON ("cell"."key_0" & 31) = "code_0"."key_0"
JOIN (SELECT * FROM "__sqlanon_code_2") AS "code_1" ON ("cell"."key_0" & 32) = "code_1"."key_0"
JOIN (SELECT * FROM "__sqlanon_code_3") AS "code_2" ON ("cell"."key_0" & 960) = "code_2"."key_0";

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
WITH "source" AS NOT MATERIALIZED (SELECT * FROM "__sqlanon_decoded_1"), "recode_0" AS ({recode_0-2})
SELECT *
FROM "recode_0";

CREATE TEMPORARY TABLE "__sqlanon_labels_2" AS
WITH "source" AS NOT MATERIALIZED (SELECT * FROM "__sqlanon_decoded_1"), "recode_1" AS ({recode_0})
SELECT *
FROM "recode_1";

CREATE TEMPORARY TABLE "__sqlanon_labels_3" AS
WITH "source" AS NOT MATERIALIZED (SELECT * FROM "__sqlanon_decoded_1"), "recode_2" AS ({recode_2})
SELECT *
FROM "recode_2";

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "source" AS NOT MATERIALIZED (SELECT * FROM "__sqlanon_decoded_1"), "recode_0" AS (
  SELECT "value", "label", "code"
  FROM "__sqlanon_labels_1"
), "recode_1" AS (SELECT "value", "label", "code" FROM "__sqlanon_labels_2"), "recode_2" AS (
  SELECT "value", "label", "code"
  FROM "__sqlanon_labels_3"
), "recoded" AS NOT MATERIALIZED ({recoded-2("__sqlanon_rows", "__sqlanon_rows")}), "equivalence_class" AS (
  {equivalence_class-4}
), "kept" AS ({kept-2(4)})
SELECT "class_id"."key_0" AS "key_0", "class_id"."key_1" AS "key_1"
FROM "kept";

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  WITH "source" AS NOT MATERIALIZED (
    SELECT "dob", "sex", "zip", "disease"
    FROM "memory"."main"."patients"
  ), "recode_0" AS (SELECT "value", "label", "code" FROM "__sqlanon_labels_1"), "recode_1" AS (
    SELECT "value", "label", "code"
    FROM "__sqlanon_labels_2"
  ), "recode_2" AS (SELECT "value", "label", "code" FROM "__sqlanon_labels_3"), "recoded" AS NOT MATERIALIZED (
    {recoded-2("disease", "column_3")}
  ), "kept" AS (SELECT {'key_0': "key_0", 'key_1': "key_1"} AS "class_id" FROM "__sqlanon_classes_1")
  SELECT
    "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
    "recoded"."column_3" AS "disease"
  FROM "recoded"
  JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
