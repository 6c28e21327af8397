-- Look for: a set is a class of its own for the model's statement `violations`; sets of no item are the classes of the rows. At most
-- one same sensitive item is in `most` of the n lists.

CREATE TEMPORARY TABLE "__sqlanon_judged_1" AS
SELECT ROW_NUMBER() OVER () AS "class_id", "n" AS "size", "n" AS "entities", 0 AS "items", 1 AS "sets", *
FROM ({counted-8("__sqlanon_sensitive_1")}) AS "counted";

SELECT "judged"."n", "judged"."most"
FROM "__sqlanon_judged_1" AS "judged"
WHERE "judged"."class_id" IN ({judged("__sqlanon_judged_1")});

CREATE TEMPORARY TABLE "__sqlanon_judged_2" AS
SELECT ROW_NUMBER() OVER () AS "class_id", "n" AS "size", "n" AS "entities", 1 AS "items", 1 AS "sets", *
FROM ({counted-7("__sqlanon_labelled_1", "__sqlanon_sensitive_1")}) AS "counted";

CREATE TEMPORARY TABLE "__sqlanon_judged_3" AS
SELECT ROW_NUMBER() OVER () AS "class_id", "n" AS "size", "n" AS "entities", 2 AS "items", 1 AS "sets", *
FROM ({counted-6("__sqlanon_labelled_1", "__sqlanon_sensitive_1")}) AS "counted";
