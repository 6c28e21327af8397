-- Look for: an ENUM of a column's distinct texts in place of them while rows are sorted; NULL has a row and no word.
-- It is temporary, and no published column has its type.

CREATE TEMPORARY TABLE "__sqlanon_texts_1" AS SELECT DISTINCT "sex" AS "value" FROM "memory"."main"."patients";
CREATE TEMPORARY TYPE "__sqlanon_word_1" AS ENUM (SELECT "value" FROM "__sqlanon_texts_1" WHERE NOT "value" IS NULL);

CREATE TEMPORARY TABLE "__sqlanon_words_1" AS
SELECT "value", CAST("value" AS __sqlanon_word_1) AS "word"
FROM "__sqlanon_texts_1";

CREATE TEMPORARY TABLE "__sqlanon_texts_2" AS SELECT DISTINCT "zip" AS "value" FROM "memory"."main"."patients";
