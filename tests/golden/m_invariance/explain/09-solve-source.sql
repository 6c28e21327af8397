-- Look for: rows of nobody and second rows of a respondent, counted before anything is dealt out.

SELECT COUNT(*) AS "n", COUNT(DISTINCT "entity") AS "respondents", COUNT(*) - COUNT("entity") AS "without"
FROM (SELECT "number" AS "entity" FROM "temp"."main"."__sqlanon_source_2") AS "person";
