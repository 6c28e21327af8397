-- Look for: the people: combinations of the two columns' known parts that occur in the source, each once.

CREATE TEMPORARY TABLE "__sqlanon_tuples_1" AS
SELECT ROW_NUMBER() OVER () AS "tuple", "part_0", "part_1"
FROM (SELECT DISTINCT "part_0", "part_1" FROM "__sqlanon_state_1" AS "state") AS "occurring";
