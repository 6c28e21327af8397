-- Look for: the rarest combination of each table is counted in what is published.

SELECT MIN("n")
FROM (SELECT COUNT(*) AS "n" FROM "memory"."main"."__sqlanon_candidate_1" GROUP BY "dob", "zip") AS "combination";

SELECT MIN("n")
FROM (SELECT COUNT(*) AS "n" FROM "memory"."main"."__sqlanon_candidate_2" GROUP BY "sex") AS "combination";
