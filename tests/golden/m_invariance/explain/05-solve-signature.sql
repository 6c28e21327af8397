-- Look for: a number for each set of values, and one bucket that has it.

CREATE TEMPORARY TABLE "__sqlanon_signature_1" AS
SELECT "key", ROW_NUMBER() OVER () AS "signature", MAX("n") AS "n"
FROM "__sqlanon_class_key_1" AS "class_key"
GROUP BY "key";
